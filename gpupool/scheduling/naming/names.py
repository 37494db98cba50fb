"""Lookup of names in the catalogue: known, retired, unknown, or a typo of a known name."""

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
"""The blueprint's field, whose values are in one of four labels; not a label itself."""

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
"""The noun for the values of each label that is looked up."""

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
"""The number of letters from which a part of a name is a word (trainium, xlarge), not a code (gb)."""

_SHORTEST: Final[Mapping[str, int | None]] = {
    labels.INSTANCE_CATEGORY: 3,
    labels.INSTANCE_FAMILY: None,
    labels.INSTANCE_TYPE: None,
}
"""The number of letters from which one wrong letter is a typo; each letter of a family has a meaning."""


class NameState(StrEnum):
    """The state of a name that is not simply known."""

    TYPO = "slip"
    """A typo: close to a known name in a way that no new name is."""

    IMPOSSIBLE = "odd"
    """Not a possible name."""

    UNKNOWN = "unknown"
    RETIRED = "retired"


class NameVerdict(NamedTuple):
    """The result of the lookup of a name that is not simply known."""

    state: NameState
    close_match: str = ""
    """A close match among the known names."""

    other_label: str = ""
    """Another label under which the name is known."""

    sizes: tuple[str, ...] = ()
    """The known sizes of an unknown type's family."""

    since: str = ""
    """The month by which EC2 had retired it, such as 2026-05."""


class Names:
    """The names of one catalogue, with cached results."""

    def __init__(self, masks: TypeMasks) -> None:
        """Store the catalogue's types."""
        self.masks = masks
        self.date = masks.catalogue.date
        self._verdicts: dict[tuple[str, str], NameVerdict | None] = {}
        self._names: dict[str, frozenset[str]] = {}
        self._close_matches: dict[str, CloseMatches] = {}

    def judge(self, label: str, name: str) -> NameVerdict | None:
        """Return what is wrong with a name under a label of `NOUNS`; None if nothing is."""
        key = label, name
        if key not in self._verdicts:
            self._verdicts[key] = (
                self._judge_known(label, name) if name in self.get_names(label) else self._judge_unknown(*key)
            )
        return self._verdicts[key]

    def get_names(self, label: str) -> frozenset[str]:
        """Return all names under a label."""
        if label not in self._names:
            self._names[label] = frozenset(self._list_names(label))
        return self._names[label]

    @cached_property
    def zones(self) -> Mapping[str, frozenset[str]]:
        """Return the names of each region's zones."""
        return {
            region: frozenset(zone.name for zone in zones)
            for region, zones in self.masks.catalogue.regions.items()
        }

    def _list_names(self, label: str) -> Iterable[str]:
        if label == labels.INSTANCE_TYPE:
            return self.masks.catalogue.names
        if label == ACCELERATOR:
            return {*self.get_names(_CHIPS[0]), *self.get_names(_CHIPS[1]), *map(str, Maker), _NONE}
        all_positions = range(len(self.masks.catalogue.names))
        return {value for position in all_positions for value in self.masks.values(label, position)}

    def _judge_known(self, label: str, name: str) -> NameVerdict | None:
        mask = 0
        for related_label in self._get_labels(label, name):
            mask |= self.masks.find_types(build_requirement(related_label, "In", (name,)))
        since = [self.masks.catalogue.columns["retired"].at(position) for position in positions(mask)]
        return NameVerdict(NameState.RETIRED, since=max(map(str, since))) if since and all(since) else None

    def _get_labels(self, label: str, name: str) -> tuple[str, ...]:
        if label != ACCELERATOR:
            return (label,)
        return _MAKERS if name in set(Maker) else _CHIPS

    def _judge_unknown(self, label: str, name: str) -> NameVerdict:
        if label == labels.INSTANCE_TYPE:
            return self._judge_type(name)
        if close_match := self._find_typo(label, name):
            return NameVerdict(NameState.TYPO, close_match)
        if label == labels.INSTANCE_FAMILY:
            return self._judge_family(name)
        if label in _FORMS:
            is_possible = bool(_FORMS[label].fullmatch(name))
        elif label == labels.INSTANCE_SIZE:
            is_possible = _mask_numbers(name) in self._shapes
        else:
            close_match = self._find_chip(label, name)
            if close_match:
                return NameVerdict(NameState.TYPO, close_match)
            is_possible = bool(_NAME.fullmatch(name))
        return self._judge_new(label, name) if is_possible else self._judge_impossible(label, name)

    def _judge_new(self, label: str, name: str) -> NameVerdict:
        """Return the verdict on a possible name; a name that is known under another label is not new."""
        impossible = self._judge_impossible(label, name)
        return (
            impossible if impossible.other_label else NameVerdict(NameState.UNKNOWN, impossible.close_match)
        )

    def _judge_impossible(self, label: str, name: str) -> NameVerdict:
        for other in NOUNS:
            if other not in (label, ACCELERATOR) and name in self.get_names(other):
                return NameVerdict(NameState.IMPOSSIBLE, other_label=other)
        return NameVerdict(NameState.IMPOSSIBLE, find_nearest(name, sorted(self.get_names(label))))

    def _find_typo(self, label: str, name: str) -> str:
        if label not in self._close_matches:
            self._close_matches[label] = CloseMatches(self.get_names(label), _SHORTEST.get(label, _LONG_WORD))
        return self._close_matches[label].find(name)

    def _judge_family(self, name: str) -> NameVerdict:
        """Return the verdict on a family: a new one has a known category and letters that others have."""
        parts, families = _FAMILY.fullmatch(name), self.get_names(labels.INSTANCE_FAMILY)
        if parts is None:
            return self._judge_impossible(labels.INSTANCE_FAMILY, name)
        category = parts["category"]
        if category not in self._categories and (
            close_category := self._find_typo(labels.INSTANCE_CATEGORY, category)
        ):
            corrected = close_category + name[len(category) :]
            return NameVerdict(
                NameState.TYPO,
                corrected if corrected in families else find_nearest(corrected, sorted(families)),
            )
        if set(parts["suffix"]) - self._suffixes and (close_match := _find_one_letter_off(name, families)):
            return NameVerdict(NameState.TYPO, close_match)
        return self._judge_new(labels.INSTANCE_FAMILY, name)

    def _judge_type(self, name: str) -> NameVerdict:
        if close_match := self._find_typo(labels.INSTANCE_TYPE, name):
            return NameVerdict(NameState.TYPO, close_match)
        family, _, size = name.partition(".")
        if not size:
            return self._judge_impossible(labels.INSTANCE_TYPE, name)
        halves = {labels.INSTANCE_FAMILY: family, labels.INSTANCE_SIZE: size}
        wrong = {
            label: self._judge_unknown(label, half)
            for label, half in halves.items()
            if half not in self.get_names(label)
        }
        corrected = ".".join(
            wrong[label].close_match if label in wrong else half for label, half in halves.items()
        )
        if all(verdict.state is NameState.UNKNOWN for verdict in wrong.values()):
            # For a known family, its sizes are more useful than a single close match.
            sizes = tuple(sorted(self._list_sizes(family), key=lambda size: (len(size), size)))
            return NameVerdict(
                NameState.UNKNOWN,
                corrected if corrected in self.get_names(labels.INSTANCE_TYPE) and not sizes else "",
                sizes=sizes,
            )
        if corrected not in self.get_names(labels.INSTANCE_TYPE):
            corrected = find_nearest(corrected, self.masks.catalogue.names)
        return NameVerdict(NameState.TYPO if corrected else NameState.IMPOSSIBLE, corrected)

    def _list_sizes(self, family: str) -> Iterator[str]:
        for name in self.masks.catalogue.names:
            if name.startswith(f"{family}."):
                yield name[len(family) + 1 :]

    def _find_chip(self, label: str, name: str) -> str:
        """Find the chip meant by extra words, a single word of its name, or an impossible last letter."""
        chips = self.get_names(label) - set(Maker)
        fields = name.lower().split("-")
        if exact_matches := [part for part in fields if part in chips]:
            return exact_matches[0]
        if len(name) >= _LONG_WORD and (
            word_matches := [chip for chip in sorted(chips) if name in chip.split("-")]
        ):
            return word_matches[0]
        parts = _CHIP.fullmatch(name)
        suffixes = {letter for match in map(_CHIP.fullmatch, chips) if match for letter in match["suffix"]}
        return _find_one_letter_off(name, chips) if parts and set(parts["suffix"]) - suffixes else ""

    @property
    def _categories(self) -> frozenset[str]:
        return self.get_names(labels.INSTANCE_CATEGORY)

    @cached_property
    def _suffixes(self) -> frozenset[str]:
        """Return the letters that follow a generation in family names."""
        matches = map(_FAMILY.fullmatch, self.get_names(labels.INSTANCE_FAMILY))
        return frozenset(letter for match in matches if match for letter in match["suffix"])

    @cached_property
    def _shapes(self) -> frozenset[str]:
        return frozenset(map(_mask_numbers, self.get_names(labels.INSTANCE_SIZE)))


def _mask_numbers(size: str) -> str:
    """Return a size with its numbers masked, which shows whether it is a possible size."""
    return re.sub("[0-9]+", "#", size)


def _find_one_letter_off(name: str, names: Iterable[str]) -> str:
    close = sorted(known_name for known_name in names if count_edits(known_name, name) == 1)
    return find_nearest(name, [known_name for known_name in close if len(known_name) == len(name)] or close)
