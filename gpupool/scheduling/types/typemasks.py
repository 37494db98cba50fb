"""Sets of instance types as bit masks, by the values of their labels.

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
"""The possible values of a type's label; empty if it lacks the label."""

Fact: TypeAlias = Any
"""A value of a column; see `gpupool.catalogue.describe` for the shape of each."""

_YES, _NO = b"10"
_BYTE: Final = 256


def positions(mask: Mask) -> Iterator[int]:
    """Yield the positions of the types in a set, in order."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


class TypeMasks:
    """The types of one catalogue, and the sets of them that match requirements on labels."""

    def __init__(self, catalogue: Catalogue) -> None:
        """Store the catalogue; the values of each label are read once."""
        self.catalogue = catalogue
        self.all: Mask = (1 << len(catalogue.names)) - 1
        self._labels: dict[str, tuple[tuple[MaskValues, ...], Column]] = {}

    def has_label(self, key: str) -> bool:
        """Return whether the label is one of instance types, regardless of class and region."""
        return key == labels.INSTANCE_TYPE or key in _LABELS

    def find_types(self, requirement: Requirement) -> Mask:
        """Find the types that match a requirement on one of their labels."""
        if requirement.key == labels.INSTANCE_TYPE:
            return self._find_types_by_name(requirement)
        values, column = self._get_label(requirement.key)
        return build_mask(column, [requirement.matches(label_values) for label_values in values])

    def values(self, key: str, position: int) -> MaskValues:
        """Return the possible values of a type's label."""
        if key == labels.INSTANCE_TYPE:
            return (self.catalogue.names[position],)
        values, column = self._get_label(key)
        return values[column.index[position]]

    def list_values(self, key: str) -> frozenset[str]:
        """Return all values that types have for a label."""
        if key == labels.INSTANCE_TYPE:
            return frozenset(self.catalogue.names)
        return frozenset(value for label_values in self._get_label(key)[0] for value in label_values)

    def find_types_by_fact(self, column: str, predicate: Callable[[Fact], bool]) -> Mask:
        """Find the types whose fact in the catalogue satisfies a predicate."""
        facts = self.catalogue.columns[column]
        return build_mask(facts, [predicate(value) for value in facts.values])

    def _find_types_by_name(self, requirement: Requirement) -> Mask:
        if requirement.is_complement:
            all_names = Column(self.catalogue.names, tuple(range(len(self.catalogue.names))))
            return build_mask(all_names, [requirement.has(name) for name in self.catalogue.names])
        type_positions = map(self.catalogue.position, requirement.values)
        return sum(1 << position for position in type_positions if position is not None)

    def _get_label(self, key: str) -> tuple[tuple[MaskValues, ...], Column]:
        indexed = self._labels.get(key)
        if indexed is None:
            columns, read = _LABELS[key]
            column = _combine_columns([self.catalogue.columns[name] for name in columns])
            values = tuple(read(value) for value in column.values)
            indexed = self._labels[key] = values, column
        return indexed


def build_mask(column: Column, is_selected: Sequence[bool]) -> Mask:
    """Build the set of the types whose value is selected."""
    if isinstance(column.index, bytes):
        table = bytes(_YES if is_one else _NO for is_one in is_selected).ljust(_BYTE, b"0")
        return int(column.index[::-1].translate(table), 2)
    return sum(1 << position for position, value in enumerate(column.index) if is_selected[value])


def _combine_columns(columns: Sequence[Column]) -> Column:
    """Return one column with tuples of the values of several columns, or the only column itself."""
    if len(columns) == 1:
        return columns[0]
    rows = list(zip(*(column.index for column in columns), strict=True))
    positions_by_row = {row: number for number, row in enumerate(dict.fromkeys(rows))}
    values = [
        tuple(column.values[index_in_column] for column, index_in_column in zip(columns, row, strict=True))
        for row in positions_by_row
    ]
    index = [positions_by_row[row] for row in rows]
    return Column(tuple(values), bytes(index) if len(positions_by_row) <= _BYTE else tuple(index))


def _read_text(value: Fact) -> MaskValues:
    return () if value is None else (str(value),)


def _read_boolean(value: Fact) -> MaskValues:
    return ("true",) if value else ("false",)


def _build_gpu_reader(field: int) -> Callable[[Fact], MaskValues]:
    """Return a reader of a GPU's field; a type with several kinds of GPUs has no GPU labels."""

    def read(gpus: Fact) -> MaskValues:
        return (format_label_value(gpus[0][field]),) if gpus is not None and len(gpus) == 1 else ()

    return read


def _build_accelerator_reader(neuron_field: int | None, field: int) -> Callable[[Fact], MaskValues]:
    """Return a reader of a Neuron device's or inference accelerator's field, if there is one kind."""

    def read(both: Fact) -> MaskValues:
        neuron, inference = both
        if neuron is not None:
            if len(neuron) != 1:
                return ()
            return ("aws",) if neuron_field is None else (str(neuron[0][neuron_field]),)
        return (str(inference[0][field]),) if inference is not None and len(inference) == 1 else ()

    return read


def format_label_value(value: Fact) -> str:
    """Return a fact as Karpenter writes it in a label."""
    return str(value).replace(" ", "-").lower()


_ACCELERATOR: Final = ("neuron", "inference")
_LABELS: Final[dict[str, tuple[tuple[str, ...], Callable[..., MaskValues]]]] = {
    labels.ARCH: (("arch",), _read_text),
    labels.CAPACITY_TYPE: (("capacity_types",), tuple),
    labels.INSTANCE_TENANCY: (("arch",), lambda _: ("default", "dedicated")),
    labels.INSTANCE_CATEGORY: (("category",), _read_text),
    labels.INSTANCE_FAMILY: (("family",), _read_text),
    labels.INSTANCE_GENERATION: (("generation",), _read_text),
    labels.INSTANCE_SIZE: (("size",), _read_text),
    labels.INSTANCE_CAPABILITY_FLEX: (("flex",), _read_boolean),
    labels.INSTANCE_CPU: (("vcpus",), _read_text),
    labels.INSTANCE_CPU_MANUFACTURER: (("cpu_manufacturer",), _read_text),
    labels.INSTANCE_CPU_CLOCK_SPEED: (("clock_mhz",), _read_text),
    labels.INSTANCE_MEMORY: (("memory",), _read_text),
    labels.INSTANCE_HYPERVISOR: (("hypervisor",), _read_text),
    labels.INSTANCE_ENCRYPTION_IN_TRANSIT_SUPPORTED: (("encryption_in_transit",), _read_boolean),
    labels.INSTANCE_EBS_BANDWIDTH: (("ebs_bandwidth",), _read_text),
    labels.INSTANCE_NETWORK_BANDWIDTH: (("network_bandwidth",), _read_text),
    labels.INSTANCE_LOCAL_NVME: (("local_nvme",), _read_text),
    labels.INSTANCE_GPU_NAME: (("gpus",), _build_gpu_reader(0)),
    labels.INSTANCE_GPU_MANUFACTURER: (("gpus",), _build_gpu_reader(1)),
    labels.INSTANCE_GPU_COUNT: (("gpus",), _build_gpu_reader(2)),
    labels.INSTANCE_GPU_MEMORY: (("gpus",), _build_gpu_reader(3)),
    labels.INSTANCE_ACCELERATOR_NAME: (_ACCELERATOR, _build_accelerator_reader(0, 0)),
    labels.INSTANCE_ACCELERATOR_MANUFACTURER: (_ACCELERATOR, _build_accelerator_reader(None, 1)),
    labels.INSTANCE_ACCELERATOR_COUNT: (_ACCELERATOR, _build_accelerator_reader(1, 2)),
}
"""The columns of each label and their reader, without labels that depend on class or region."""
