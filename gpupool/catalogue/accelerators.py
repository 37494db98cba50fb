"""Whose accelerators EC2's machines have, as a catalogue says, and as what each maker's are counted."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache, cached_property
from typing import Final

from gpupool.catalogue.model import Catalogue, Value


class Maker(StrEnum):
    """Who makes an accelerator, in the words of the blueprint."""

    NVIDIA = "nvidia"
    AMD = "amd"
    HABANA = "habana"
    NEURON = "neuron"
    QUALCOMM = "qualcomm"


GPU_MAKERS: Final = (Maker.NVIDIA, Maker.AMD, Maker.HABANA)
"""Makers whose chips EC2 counts as GPUs; the others stand in the `instance-accelerator-*` labels."""

RESOURCES: Final = {
    Maker.NVIDIA: "nvidia.com/gpu",
    Maker.AMD: "amd.com/gpu",
    Maker.HABANA: "habana.ai/gaudi",
    Maker.NEURON: "aws.amazon.com/neuron",
}
"""The resource that each maker's device plugin advertises and Karpenter models."""

_COLUMNS: Final = ("gpus", "neuron", "inference")
_DIGITS: Final = re.compile("[0-9]+")
_BEFORE_DIGITS: Final = re.compile("[^0-9]*")


class Accelerators:
    """The accelerators of a catalogue's machines, by name, family and category."""

    def __init__(self, catalogue: Catalogue) -> None:
        """Take a catalogue; what is asked of it is worked out once."""
        self._catalogue = catalogue

    @cached_property
    def gpus(self) -> Mapping[str, Maker | None]:
        """Return each name in `instance-gpu-name`; None for a maker that the blueprint has no word for."""
        return dict(self._named("gpus"))

    @cached_property
    def others(self) -> Mapping[str, Maker | None]:
        """Return each name that stands in `instance-accelerator-name`."""
        return {**dict(self._named("inference")), **dict(self._named("neuron"))}

    @cached_property
    def names(self) -> Mapping[str, Maker | None]:
        """Return every name."""
        return {**self.gpus, **self.others}

    def maker(self, name: str) -> Maker | None:
        """Return the maker of an accelerator; an unknown one has its siblings' (trainium, trainium2)."""
        return self.names.get(self._known(name) or "")

    def is_gpu(self, name: str) -> bool | None:
        """Return whether an accelerator's name stands in the GPU label; None where nothing tells."""
        known = self._known(name)
        return None if known is None else known in self.gpus

    def maker_of_family(self, family: str) -> Maker | None:
        """Return whose accelerators a family's machines have; of an unknown one, its category's."""
        return self._by_family.get(family) or self.maker_of_category(_category(family))

    def maker_of_category(self, category: str) -> Maker | None:
        """Return whose accelerators most machines of a category have that EC2 still offers."""
        return self._by_category.get(category)

    def families(self, name: str) -> frozenset[str]:
        """Return the families whose machines have an accelerator of this name."""
        return frozenset(self._families.get(name, ()))

    @cached_property
    def _families(self) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = {}
        for place, rows in self._rows():
            for row in rows:
                found.setdefault(str(row[0]), set()).add(str(self._catalogue.columns["family"].at(place)))
        return found

    @cached_property
    def _by_family(self) -> Mapping[str, Maker]:
        return self._most_common("family")

    @cached_property
    def _by_category(self) -> Mapping[str, Maker]:
        return self._most_common("category")

    def _most_common(self, column: str) -> dict[str, Maker]:
        groups, retired = self._catalogue.columns[column], self._catalogue.columns["retired"]
        counts: dict[str, Counter[Maker]] = {}
        for place, rows in self._rows():
            for maker in filter(None, (self.names.get(str(row[0])) for row in rows)):
                group = counts.setdefault(str(groups.at(place)), Counter())
                # All that is retired together weighs less than one machine that can be had.
                group[maker] += 1 if retired.at(place) else len(self._catalogue.names)
        return {name: count.most_common(1)[0][0] for name, count in counts.items()}

    def _rows(self) -> Iterator[tuple[int, list[tuple[Value, ...]]]]:
        """Yield each machine that has accelerators, by position, and a row for each kind of them."""
        for name in _COLUMNS:
            column = self._catalogue.columns[name]
            of_value = [_rows_in(value) for value in column.values]
            for place, index in enumerate(column.index):
                if of_value[index]:
                    yield place, of_value[index]

    def _named(self, column: str) -> Iterator[tuple[str, Maker | None]]:
        for value in self._catalogue.columns[column].values:
            for row in _rows_in(value):
                made_by = "aws" if column == "neuron" else str(row[1]).lower()
                yield str(row[0]), _MAKERS.get(made_by)

    def _known(self, name: str) -> str | None:
        """Return the name itself where it is known, or one that differs in its digits only."""
        if name in self.names:
            return name
        return next((known for known in self.names if _stem(known) == _stem(name)), None)


@cache
def shipped_accelerators() -> Accelerators:
    """Return the accelerators of the catalogue that this release has: enough to tell what a name means."""
    from gpupool.catalogue.load import shipped

    return Accelerators(shipped())


_MAKERS: Final[Mapping[str, Maker]] = {maker.value: maker for maker in Maker} | {"aws": Maker.NEURON}
"""Makers by the text in Karpenter's labels."""


def _rows_in(value: Value) -> list[tuple[Value, ...]]:
    return [row for row in value if isinstance(row, tuple)] if isinstance(value, tuple) else []


def _stem(name: str) -> str:
    return _DIGITS.sub("", name)


def _category(family: str) -> str:
    found = _BEFORE_DIGITS.match(family)
    return found[0] if found else ""
