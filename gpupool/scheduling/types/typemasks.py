"""The catalogue's types as sets: which of them have which values of a label.

A set of types is one whole number with a bit for each type, by its position in the catalogue's names:
a requirement is tested once for each distinct value of a label, and spread over the types by the column's
index. Labels as in pkg/providers/instancetype/types.go of Karpenter's AWS provider v1.14.1.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from gpupool.catalogue.model import Catalogue, Column
from gpupool.karpenter import labels
from gpupool.karpenter.requirements import Requirement

Mask: TypeAlias = int
MaskValues: TypeAlias = tuple[str, ...]
"""What a type may have as a label's value; none where it lacks the label."""

Fact: TypeAlias = Any
"""A value of a column; `gpupool.catalogue.describe` says what shape each has."""

_YES, _NO = b"10"
_BYTE: Final = 256


def positions(mask: Mask) -> Iterator[int]:
    """Yield the positions of the types in a set, in order."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


class TypeMasks:
    """The types of one catalogue, and the sets of them that requirements on labels take."""

    def __init__(self, catalogue: Catalogue) -> None:
        """Take a catalogue; what is asked of it is worked out once."""
        self.catalogue = catalogue
        self.all: Mask = (1 << len(catalogue.names)) - 1
        self._labels: dict[str, tuple[tuple[MaskValues, ...], Column]] = {}

    def knows(self, key: str) -> bool:
        """Return whether types have a label of this key at all, whatever the class and the region."""
        return key == labels.INSTANCE_TYPE or key in _LABELS

    def taken(self, requirement: Requirement) -> Mask:
        """Return the types that a requirement on a label of theirs takes."""
        if requirement.key == labels.INSTANCE_TYPE:
            return self._of_names(requirement)
        values, column = self._label(requirement.key)
        return build_mask(column, [requirement.matches(each) for each in values])

    def values(self, key: str, position: int) -> MaskValues:
        """Return the values of a label that a type may have."""
        if key == labels.INSTANCE_TYPE:
            return (self.catalogue.names[position],)
        values, column = self._label(key)
        return values[column.index[position]]

    def known(self, key: str) -> frozenset[str]:
        """Return every value that some type has for a label."""
        if key == labels.INSTANCE_TYPE:
            return frozenset(self.catalogue.names)
        return frozenset(value for each in self._label(key)[0] for value in each)

    def having(self, column: str, wanted: Callable[[Fact], bool]) -> Mask:
        """Return the types of which a fact in the catalogue is as wanted."""
        found = self.catalogue.columns[column]
        return build_mask(found, [wanted(value) for value in found.values])

    def _of_names(self, requirement: Requirement) -> Mask:
        if requirement.complement:
            found = Column(self.catalogue.names, tuple(range(len(self.catalogue.names))))
            return build_mask(found, [requirement.has(name) for name in self.catalogue.names])
        places = map(self.catalogue.position, requirement.values)
        return sum(1 << place for place in places if place is not None)

    def _label(self, key: str) -> tuple[tuple[MaskValues, ...], Column]:
        known = self._labels.get(key)
        if known is None:
            columns, read = _LABELS[key]
            column = _paired([self.catalogue.columns[name] for name in columns])
            values = tuple(read(value) for value in column.values)
            known = self._labels[key] = values, column
        return known


def build_mask(column: Column, taken: Sequence[bool]) -> Mask:
    """Return the types whose value is one of those taken."""
    if isinstance(column.index, bytes):
        table = bytes(_YES if each else _NO for each in taken).ljust(_BYTE, b"0")
        return int(column.index[::-1].translate(table), 2)
    return sum(1 << place for place, value in enumerate(column.index) if taken[value])


def _paired(columns: Sequence[Column]) -> Column:
    """Return one column whose values are those of several side by side; of one column that column itself."""
    if len(columns) == 1:
        return columns[0]
    rows = list(zip(*(column.index for column in columns), strict=True))
    place = {row: number for number, row in enumerate(dict.fromkeys(rows))}
    values = [tuple(column.values[each] for column, each in zip(columns, row, strict=True)) for row in place]
    index = [place[row] for row in rows]
    return Column(tuple(values), bytes(index) if len(place) <= _BYTE else tuple(index))


def _text(value: Fact) -> MaskValues:
    return () if value is None else (str(value),)


def _boolean(value: Fact) -> MaskValues:
    return ("true",) if value else ("false",)


def _of_gpu(field: int) -> Callable[[Fact], MaskValues]:
    """Read a field of the GPU; a type with several kinds of them has no GPU labels."""

    def read(gpus: Fact) -> MaskValues:
        return (format_label_value(gpus[0][field]),) if gpus is not None and len(gpus) == 1 else ()

    return read


def _of_accelerator(neuron_field: int | None, field: int) -> Callable[[Fact], MaskValues]:
    """Read a field of the Neuron device or else of the inference accelerator, where there is one kind."""

    def read(both: Fact) -> MaskValues:
        neuron, inference = both
        if neuron is not None:
            if len(neuron) != 1:
                return ()
            return ("aws",) if neuron_field is None else (str(neuron[0][neuron_field]),)
        return (str(inference[0][field]),) if inference is not None and len(inference) == 1 else ()

    return read


def format_label_value(value: Fact) -> str:
    """Write a fact as Karpenter writes it in a label."""
    return str(value).replace(" ", "-").lower()


_ACCELERATOR: Final = ("neuron", "inference")
_LABELS: Final[dict[str, tuple[tuple[str, ...], Callable[..., MaskValues]]]] = {
    labels.ARCH: (("arch",), _text),
    labels.CAPACITY_TYPE: (("capacity_types",), tuple),
    labels.INSTANCE_TENANCY: (("arch",), lambda _: ("default", "dedicated")),
    labels.INSTANCE_CATEGORY: (("category",), _text),
    labels.INSTANCE_FAMILY: (("family",), _text),
    labels.INSTANCE_GENERATION: (("generation",), _text),
    labels.INSTANCE_SIZE: (("size",), _text),
    labels.INSTANCE_CAPABILITY_FLEX: (("flex",), _boolean),
    labels.INSTANCE_CPU: (("vcpus",), _text),
    labels.INSTANCE_CPU_MANUFACTURER: (("cpu_manufacturer",), _text),
    labels.INSTANCE_CPU_CLOCK_SPEED: (("clock_mhz",), _text),
    labels.INSTANCE_MEMORY: (("memory",), _text),
    labels.INSTANCE_HYPERVISOR: (("hypervisor",), _text),
    labels.INSTANCE_ENCRYPTION_IN_TRANSIT_SUPPORTED: (("encryption_in_transit",), _boolean),
    labels.INSTANCE_EBS_BANDWIDTH: (("ebs_bandwidth",), _text),
    labels.INSTANCE_NETWORK_BANDWIDTH: (("network_bandwidth",), _text),
    labels.INSTANCE_LOCAL_NVME: (("local_nvme",), _text),
    labels.INSTANCE_GPU_NAME: (("gpus",), _of_gpu(0)),
    labels.INSTANCE_GPU_MANUFACTURER: (("gpus",), _of_gpu(1)),
    labels.INSTANCE_GPU_COUNT: (("gpus",), _of_gpu(2)),
    labels.INSTANCE_GPU_MEMORY: (("gpus",), _of_gpu(3)),
    labels.INSTANCE_ACCELERATOR_NAME: (_ACCELERATOR, _of_accelerator(0, 0)),
    labels.INSTANCE_ACCELERATOR_MANUFACTURER: (_ACCELERATOR, _of_accelerator(None, 1)),
    labels.INSTANCE_ACCELERATOR_COUNT: (_ACCELERATOR, _of_accelerator(1, 2)),
}
"""For each label the columns that it is made of, and how; those of the class and the region are not here."""
