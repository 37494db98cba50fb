"""What a catalogue says of a name in a requirement: known, retired, a slip of a known one, or unknown."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.catalogue.accelerators import Maker
from gpupool.karpenter import labels
from gpupool.karpenter.requirements import build_requirement
from gpupool.scheduling.naming.suggestions import CloseMatches, count_edits, find_nearest
from gpupool.scheduling.types.typemasks import positions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gpupool.scheduling.types.typemasks import TypeMasks

ACCELERATOR: Final = "accelerator"
"""The blueprint's word, whose values stand in one of four labels; no label itself."""

NOUNS: Final = {
    ACCELERATOR: "accelerator",
    labels.INSTANCE_TYPE: "instance type",
    labels.INSTANCE_FAMILY: "instance family",
    labels.INSTANCE_CATEGORY: "instance category",
    labels.INSTANCE_SIZE: "instance size",
    labels.INSTANCE_GPU_NAME: "GPU",
    labels.INSTANCE_GPU_MANUFACTURER: "GPU maker",
    labels.INSTANCE_ACCELERATOR_NAME: "accelerator",
    labels.INSTANCE_ACCELERATOR_MANUFACTURER: "accelerator maker",
}
"""What each label names; only these are looked up."""

_CHIPS: Final = (labels.INSTANCE_GPU_NAME, labels.INSTANCE_ACCELERATOR_NAME)
_MAKERS: Final = (labels.INSTANCE_GPU_MANUFACTURER, labels.INSTANCE_ACCELERATOR_MANUFACTURER)
_NONE: Final = "none"

_FAMILY: Final = re.compile(
    r"(?P<category>[a-z]+)(?P<middle>(-[0-9]+tb)?[0-9]+)(?P<suffix>[a-z]*)(-[a-z0-9]+)*"
)
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_CHIP: Final = re.compile(r"[a-z]+[0-9]+(?P<suffix>[a-z]*)")
_FORMS: Final = {labels.INSTANCE_CATEGORY: re.compile("[a-z]+")}
_LONG_WORD: Final = 4
"""Letters from which a part of a name is a word (trainium, xlarge) and not a designation (gb)."""

_SHORTEST: Final[Mapping[str, int | None]] = {
    labels.INSTANCE_CATEGORY: 3,
    labels.INSTANCE_FAMILY: None,
    labels.INSTANCE_TYPE: None,
}
"""From how many letters on a wrong one is a slip; of a family's each means something."""


class NameState(StrEnum):
    """What is to be said of a name."""

    SLIP = "slip"
    """Close to a known one in a way that no new name is."""

    ODD = "odd"
    """No such name can be."""

    UNKNOWN = "unknown"
    RETIRED = "retired"


class NameVerdict(NamedTuple):
    """What is to be said of a name that is not simply known."""

    state: NameState
    near: str = ""
    """A known name like it."""

    elsewhere: str = ""
    """The label under which it is known."""

    sizes: tuple[str, ...] = ()
    """Those that the family of an unknown type comes in."""

    since: str = ""
    """By which month EC2 had retired it, as in 2026-05."""


class Names:
    """The names of one catalogue; what is asked of it is worked out once."""

    def __init__(self, masks: TypeMasks) -> None:
        """Take the catalogue's types as sets."""
        self.masks = masks
        self.date = masks.catalogue.date
        self._verdicts: dict[tuple[str, str], NameVerdict | None] = {}
        self._known: dict[str, frozenset[str]] = {}
        self._slips: dict[str, CloseMatches] = {}

    def verdict(self, label: str, name: str) -> NameVerdict | None:
        """Return what is wrong with a name under a label of `NOUNS`, or give None."""
        asked = label, name
        if asked not in self._verdicts:
            self._verdicts[asked] = (
                self._retired(label, name) if name in self.known(label) else self._unknown(*asked)
            )
        return self._verdicts[asked]

    def known(self, label: str) -> frozenset[str]:
        """Return all names that there are under a label."""
        if label not in self._known:
            self._known[label] = frozenset(self._all(label))
        return self._known[label]

    @cached_property
    def zones(self) -> Mapping[str, frozenset[str]]:
        """Return the zones' names of each region."""
        return {
            region: frozenset(zone.name for zone in zones)
            for region, zones in self.masks.catalogue.regions.items()
        }

    def _all(self, label: str) -> Iterable[str]:
        if label == labels.INSTANCE_TYPE:
            return self.masks.catalogue.names
        if label == ACCELERATOR:
            return {*self.known(_CHIPS[0]), *self.known(_CHIPS[1]), *map(str, Maker), _NONE}
        every = range(len(self.masks.catalogue.names))
        return {value for place in every for value in self.masks.values(label, place)}

    def _retired(self, label: str, name: str) -> NameVerdict | None:
        taken = 0
        for each in self._labels_of(label, name):
            taken |= self.masks.taken(build_requirement(each, "In", (name,)))
        since = [self.masks.catalogue.columns["retired"].at(place) for place in positions(taken)]
        return NameVerdict(NameState.RETIRED, since=max(map(str, since))) if since and all(since) else None

    def _labels_of(self, label: str, name: str) -> tuple[str, ...]:
        if label != ACCELERATOR:
            return (label,)
        return _MAKERS if name in set(Maker) else _CHIPS

    def _unknown(self, label: str, name: str) -> NameVerdict:
        if label == labels.INSTANCE_TYPE:
            return self._type(name)
        if near := self._slip(label, name):
            return NameVerdict(NameState.SLIP, near)
        if label == labels.INSTANCE_FAMILY:
            return self._family(name)
        if label in _FORMS:
            is_one = bool(_FORMS[label].fullmatch(name))
        elif label == labels.INSTANCE_SIZE:
            is_one = _shape(name) in self._shapes
        else:
            near = self._chip(label, name)
            if near:
                return NameVerdict(NameState.SLIP, near)
            is_one = bool(_NAME.fullmatch(name))
        return self._new(label, name) if is_one else self._odd(label, name)

    def _new(self, label: str, name: str) -> NameVerdict:
        """Judge a name that may be one; what is known under another label is not new."""
        odd = self._odd(label, name)
        return odd if odd.elsewhere else NameVerdict(NameState.UNKNOWN, odd.near)

    def _odd(self, label: str, name: str) -> NameVerdict:
        for other in NOUNS:
            if other not in (label, ACCELERATOR) and name in self.known(other):
                return NameVerdict(NameState.ODD, elsewhere=other)
        return NameVerdict(NameState.ODD, find_nearest(name, sorted(self.known(label))))

    def _slip(self, label: str, name: str) -> str:
        if label not in self._slips:
            self._slips[label] = CloseMatches(self.known(label), _SHORTEST.get(label, _LONG_WORD))
        return self._slips[label].of(name)

    def _family(self, name: str) -> NameVerdict:
        """Tell a new family from a slip: new ones have a known category, and letters that others have too."""
        parts, families = _FAMILY.fullmatch(name), self.known(labels.INSTANCE_FAMILY)
        if parts is None:
            return self._odd(labels.INSTANCE_FAMILY, name)
        category = parts["category"]
        if category not in self._categories and (meant := self._slip(labels.INSTANCE_CATEGORY, category)):
            mended = meant + name[len(category) :]
            return NameVerdict(
                NameState.SLIP, mended if mended in families else find_nearest(mended, sorted(families))
            )
        if set(parts["suffix"]) - self._suffixes and (near := _one_letter_off(name, families)):
            return NameVerdict(NameState.SLIP, near)
        return self._new(labels.INSTANCE_FAMILY, name)

    def _type(self, name: str) -> NameVerdict:
        if near := self._slip(labels.INSTANCE_TYPE, name):
            return NameVerdict(NameState.SLIP, near)
        family, _, size = name.partition(".")
        if not size:
            return self._odd(labels.INSTANCE_TYPE, name)
        halves = {labels.INSTANCE_FAMILY: family, labels.INSTANCE_SIZE: size}
        wrong = {
            label: self._unknown(label, half)
            for label, half in halves.items()
            if half not in self.known(label)
        }
        mended = ".".join(wrong[label].near if label in wrong else half for label, half in halves.items())
        if all(verdict.state is NameState.UNKNOWN for verdict in wrong.values()):
            # Of a known family the sizes it comes in tell more than any one type that looks alike.
            sizes = tuple(sorted(self._sizes(family), key=lambda size: (len(size), size)))
            return NameVerdict(
                NameState.UNKNOWN,
                mended if mended in self.known(labels.INSTANCE_TYPE) and not sizes else "",
                sizes=sizes,
            )
        if mended not in self.known(labels.INSTANCE_TYPE):
            mended = find_nearest(mended, self.masks.catalogue.names)
        return NameVerdict(NameState.SLIP if mended else NameState.ODD, mended)

    def _sizes(self, family: str) -> Iterator[str]:
        for name in self.masks.catalogue.names:
            if name.startswith(f"{family}."):
                yield name[len(family) + 1 :]

    def _chip(self, label: str, name: str) -> str:
        """Find a chip's name among other words, a word of one, and a letter at the end that no chip has."""
        chips = self.known(label) - set(Maker)
        said = name.lower().split("-")
        if inside := [part for part in said if part in chips]:
            return inside[0]
        if len(name) >= _LONG_WORD and (whole := [chip for chip in sorted(chips) if name in chip.split("-")]):
            return whole[0]
        parts = _CHIP.fullmatch(name)
        suffixes = {letter for each in map(_CHIP.fullmatch, chips) if each for letter in each["suffix"]}
        return _one_letter_off(name, chips) if parts and set(parts["suffix"]) - suffixes else ""

    @property
    def _categories(self) -> frozenset[str]:
        return self.known(labels.INSTANCE_CATEGORY)

    @cached_property
    def _suffixes(self) -> frozenset[str]:
        """Return the letters that stand behind a generation."""
        found = map(_FAMILY.fullmatch, self.known(labels.INSTANCE_FAMILY))
        return frozenset(letter for each in found if each for letter in each["suffix"])

    @cached_property
    def _shapes(self) -> frozenset[str]:
        return frozenset(map(_shape, self.known(labels.INSTANCE_SIZE)))


def _shape(size: str) -> str:
    """Return a size without its numbers: what is left tells whether it can be one."""
    return re.sub("[0-9]+", "#", size)


def _one_letter_off(name: str, known: Iterable[str]) -> str:
    close = sorted(each for each in known if count_edits(each, name) == 1)
    return find_nearest(name, [each for each in close if len(each) == len(name)] or close)
