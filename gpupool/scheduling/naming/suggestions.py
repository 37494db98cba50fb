"""Close matches for unknown names, which tell typos from possible new names.

New names are mostly old ones with other digits or another letter (h100 and h200, p5 and p5e), so these
differences alone are not typos; differences that no new name has are.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

_LOOK_ALIKES: Final = str.maketrans({"o": "0", "l": "1", "i": "1", "-": "", "_": "", ".": "", " ": ""})
_DOUBLED, _TRIPLED = re.compile(r"([a-z])\1"), re.compile(r"([0-9])\1\1+")
_PARTS: Final = re.compile(r"[a-z]+|[^a-z]+")
_SHORTEST, _LONG = 3, 6
"""The number of letters in a row from which one wrong letter is a typo, and from which two are."""


def find_nearest(name: str, names: Iterable[str]) -> str:
    """Find the known name that is most similar to `name`, or an empty text."""
    return next(iter(get_close_matches(name.lower(), list(names), n=1, cutoff=0.6)), "")


class CloseMatches:
    """The known names of one kind, indexed to find typos of them."""

    def __init__(self, names: Collection[str], shortest: int | None = _SHORTEST) -> None:
        """Index the names; from `shortest` letters on a wrong letter is a typo, with None never."""
        self._names = sorted(names)
        self._shortest = shortest
        self._folded = _group_by(_folded, self._names)
        self._single = _group_by(_single, self._names)

    def find(self, name: str) -> str:
        """Find the known name of which `name` is a typo, or an empty text.

        A typo is another case, a look-alike (`h10O`), a lost or wrong separator, two swapped neighbours, a
        letter doubled or halved, or a digit three times in a row; with enough letters also one wrong
        letter, in long names two.
        """
        lower = name.lower()
        matches = {*self._folded.get(_folded(lower), ()), *self._single.get(_single(lower), ())}
        matches |= {
            known_name
            for swapped in _swapped(lower)
            for known_name in self._folded.get(_folded(swapped), ())
            if known_name == swapped
        }
        if self._shortest is not None:
            matches |= {
                known_name for known_name in self._names if _is_letter_typo(lower, known_name, self._shortest)
            }
        return find_nearest(lower, sorted(matches)) or next(iter(sorted(matches)), "")


def count_edits(one: str, other: str) -> int:
    """Count the letters to add, drop, replace or swap with a neighbour to make one text of the other."""
    rows = [list(range(len(other) + 1))]
    for row, letter in enumerate(one, 1):
        rows.append([row])
        for column, facing in enumerate(other, 1):
            best = min(rows[row - 1][column] + 1, rows[row][column - 1] + 1)
            best = min(best, rows[row - 1][column - 1] + (letter != facing))
            if row > 1 and column > 1 and (letter, one[row - 2]) == (other[column - 2], facing):
                best = min(best, rows[row - 2][column - 2] + 1)
            rows[row].append(best)
    return rows[-1][-1]


def _group_by(key: Callable[[str], str], names: Iterable[str]) -> Mapping[str, list[str]]:
    index: dict[str, list[str]] = {}
    for name in names:
        index.setdefault(key(name), []).append(name)
    return index


def _folded(name: str) -> str:
    return name.translate(_LOOK_ALIKES)


def _swapped(name: str) -> Iterator[str]:
    for index in range(len(name) - 1):
        if name[index] != name[index + 1]:
            yield f"{name[:index]}{name[index + 1]}{name[index]}{name[index + 2 :]}"


def _single(name: str) -> str:
    """Return a name with doubled letters once, and a digit twice at most: h1000 is h100, a100 is not a10."""
    return _TRIPLED.sub(r"\1\1", _DOUBLED.sub(r"\1", name))


def _is_letter_typo(name: str, known_name: str, shortest: int) -> bool:
    """Return whether one run of letters is a typo of the known name's, and all others are the same."""
    own_parts, known_parts = _PARTS.findall(name), _PARTS.findall(known_name)
    if len(own_parts) != len(known_parts):
        return False
    differing = [
        (one, other) for one, other in zip(own_parts, known_parts, strict=True)
        if one != other and (one[0].isalpha() or other[0].isalpha())
    ]  # fmt: skip
    if len(differing) != 1:
        return False
    one, other = differing[0]
    least = min(len(one), len(other))
    return shortest <= least and count_edits(one, other) <= (1 if least < _LONG else 2)
