"""Whether an unknown word is a slip of a known one, or may just as well be a new name.

New names are mostly old ones with other digits or another letter (h100 and h200, p5 and p5e), so neither
counts as a slip by itself; what no new name looks like does.
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
"""Letters in a row from which one wrong letter counts as a slip, and from which two do."""


def find_nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word that looks most like `word`, or an empty text."""
    return next(iter(get_close_matches(word.lower(), list(known), n=1, cutoff=0.6)), "")


class CloseMatches:
    """The known words of one kind, for slips of them to be found."""

    def __init__(self, known: Collection[str], shortest: int | None = _SHORTEST) -> None:
        """Take the known words, and from how many letters on a wrong one is a slip; None for never."""
        self._known = sorted(known)
        self._shortest = shortest
        self._folded = _by(_folded, self._known)
        self._single = _by(_single, self._known)

    def of(self, word: str) -> str:
        """Return the known word of which `word` is a slip, or an empty text.

        A slip is another case, a look-alike (`h10O`), a lost or wrong separator, two swapped neighbours, a
        letter doubled or halved, a digit thrice in a row; and in words of enough letters one wrong letter, in
        long ones two.
        """
        lower = word.lower()
        found = {*self._folded.get(_folded(lower), ()), *self._single.get(_single(lower), ())}
        found |= {
            each
            for swapped in _swapped(lower)
            for each in self._folded.get(_folded(swapped), ())
            if each == swapped
        }
        if self._shortest is not None:
            found |= {each for each in self._known if _letters_slipped(lower, each, self._shortest)}
        return find_nearest(lower, sorted(found)) or next(iter(sorted(found)), "")


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


def _by(made: Callable[[str], str], words: Iterable[str]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word in words:
        found.setdefault(made(word), []).append(word)
    return found


def _folded(word: str) -> str:
    return word.translate(_LOOK_ALIKES)


def _swapped(word: str) -> Iterator[str]:
    for at in range(len(word) - 1):
        if word[at] != word[at + 1]:
            yield f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}"


def _single(word: str) -> str:
    """Return a word with doubled letters once, and a digit twice at most: h1000 is h100, a100 is not a10."""
    return _TRIPLED.sub(r"\1\1", _DOUBLED.sub(r"\1", word))


def _letters_slipped(word: str, known: str, shortest: int) -> bool:
    """Return whether one run of letters is a slip of the known word's, and all other letters are the same."""
    mine, theirs = _PARTS.findall(word), _PARTS.findall(known)
    if len(mine) != len(theirs):
        return False
    differing = [
        (one, other) for one, other in zip(mine, theirs, strict=True)
        if one != other and (one[0].isalpha() or other[0].isalpha())
    ]  # fmt: skip
    if len(differing) != 1:
        return False
    one, other = differing[0]
    least = min(len(one), len(other))
    return shortest <= least and count_edits(one, other) <= (1 if least < _LONG else 2)
