"""Accelerators of EC2 instance types: names, makers, and the resource of each maker."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache, cached_property
from typing import Final

from gpupool.catalogue.model import Catalogue, Value


class Maker(StrEnum):
    """The maker of an accelerator, as a blueprint names it."""

    NVIDIA = "nvidia"
    AMD = "amd"
    HABANA = "habana"
    NEURON = "neuron"
    QUALCOMM = "qualcomm"


GPU_MAKERS: Final = (Maker.NVIDIA, Maker.AMD, Maker.HABANA)
"""Makers whose chips EC2 counts as GPUs; the others are in the `instance-accelerator-*` labels."""

RESOURCES: Final = {
    Maker.NVIDIA: "nvidia.com/gpu",
    Maker.AMD: "amd.com/gpu",
    Maker.HABANA: "habana.ai/gaudi",
    Maker.NEURON: "aws.amazon.com/neuron",
}
"""The resource of each maker's device plugin, which Karpenter models."""

_COLUMNS: Final = ("gpus", "neuron", "inference")
_DIGITS: Final = re.compile("[0-9]+")
_BEFORE_DIGITS: Final = re.compile("[^0-9]*")


class Accelerators:
    """The accelerators of a catalogue's instance types, by name, family and category."""

    def __init__(self, catalogue: Catalogue) -> None:
        """Store the catalogue; results are cached."""
        self._catalogue = catalogue

    @cached_property
    def gpus(self) -> Mapping[str, Maker | None]:
        """Return the maker of each name in `instance-gpu-name`; None for one without a blueprint value."""
        return dict(self._read_makers("gpus"))

    @cached_property
    def others(self) -> Mapping[str, Maker | None]:
        """Return the maker of each name in `instance-accelerator-name`."""
        return {**dict(self._read_makers("inference")), **dict(self._read_makers("neuron"))}

    @cached_property
    def names(self) -> Mapping[str, Maker | None]:
        """Return the maker of every accelerator by name."""
        return {**self.gpus, **self.others}

    def maker(self, name: str) -> Maker | None:
        """Return the maker of an accelerator; an unknown one has its siblings' (trainium, trainium2)."""
        return self.names.get(self._find_known_name(name) or "")

    def is_gpu(self, name: str) -> bool | None:
        """Return whether an accelerator's name is in the GPU label; None if that is unknown."""
        known_name = self._find_known_name(name)
        return None if known_name is None else known_name in self.gpus

    def maker_of_family(self, family: str) -> Maker | None:
        """Return the maker of a family's accelerators; for an unknown family, that of its category."""
        return self._by_family.get(family) or self.maker_of_category(_find_category(family))

    def maker_of_category(self, category: str) -> Maker | None:
        """Return the most common maker among a category's types that EC2 still offers."""
        return self._by_category.get(category)

    def families(self, name: str) -> frozenset[str]:
        """Return the families that have an accelerator of this name."""
        return frozenset(self._families.get(name, ()))

    @cached_property
    def _families(self) -> Mapping[str, set[str]]:
        families: dict[str, set[str]] = {}
        for position, rows in self._read_rows():
            for row in rows:
                families.setdefault(str(row[0]), set()).add(
                    str(self._catalogue.columns["family"].at(position))
                )
        return families

    @cached_property
    def _by_family(self) -> Mapping[str, Maker]:
        return self._count_makers("family")

    @cached_property
    def _by_category(self) -> Mapping[str, Maker]:
        return self._count_makers("category")

    def _count_makers(self, column: str) -> dict[str, Maker]:
        groups, retired = self._catalogue.columns[column], self._catalogue.columns["retired"]
        counts: dict[str, Counter[Maker]] = {}
        for position, rows in self._read_rows():
            for maker in filter(None, (self.names.get(str(row[0])) for row in rows)):
                group = counts.setdefault(str(groups.at(position)), Counter())
                # All retired types together count less than one type that is available.
                group[maker] += 1 if retired.at(position) else len(self._catalogue.names)
        return {name: count.most_common(1)[0][0] for name, count in counts.items()}

    def _read_rows(self) -> Iterator[tuple[int, list[tuple[Value, ...]]]]:
        """Yield the position of each type with accelerators, and a row for each kind of them."""
        for name in _COLUMNS:
            column = self._catalogue.columns[name]
            rows_by_value = [_list_rows(value) for value in column.values]
            for position, index in enumerate(column.index):
                if rows_by_value[index]:
                    yield position, rows_by_value[index]

    def _read_makers(self, column: str) -> Iterator[tuple[str, Maker | None]]:
        for value in self._catalogue.columns[column].values:
            for row in _list_rows(value):
                made_by = "aws" if column == "neuron" else str(row[1]).lower()
                yield str(row[0]), _MAKERS.get(made_by)

    def _find_known_name(self, name: str) -> str | None:
        """Return the name itself if it is known, or a known name that differs only in digits."""
        if name in self.names:
            return name
        return next(
            (known_name for known_name in self.names if _remove_digits(known_name) == _remove_digits(name)),
            None,
        )


@cache
def load_accelerators() -> Accelerators:
    """Load the accelerators of the shipped catalogue, which is enough to look up names."""
    from gpupool.catalogue.load import load_shipped

    return Accelerators(load_shipped())


_MAKERS: Final[Mapping[str, Maker]] = {maker.value: maker for maker in Maker} | {"aws": Maker.NEURON}
"""Makers by the text in Karpenter's labels."""


def _list_rows(value: Value) -> list[tuple[Value, ...]]:
    return [row for row in value if isinstance(row, tuple)] if isinstance(value, tuple) else []


def _remove_digits(name: str) -> str:
    return _DIGITS.sub("", name)


def _find_category(family: str) -> str:
    match = _BEFORE_DIGITS.match(family)
    return match[0] if match else ""
