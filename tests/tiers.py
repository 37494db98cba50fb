"""How much a test run asks: the default tier, or everything with `--thorough`.

Both tiers run the same tests against the same real components; only the volumes of generated questions differ.
"""

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import TypeVar

Item = TypeVar("Item")

FEWEST_OBJECTS = 1_000
"""An oracle is asked at least so many objects in the default tier, where it is asked so many at all."""

_TENTH = 10


class _Tier:
    thorough = False


def choose(*, thorough: bool) -> None:
    """Set the tier; called once, before any test module is imported."""
    _Tier.thorough = thorough


def is_thorough() -> bool:
    """Return whether this run asks everything."""
    return _Tier.thorough


def volume(thorough: int, *, at_least: int = FEWEST_OBJECTS) -> int:
    """Return how many questions to generate: `thorough`, or a tenth of it, but no fewer than `at_least`.

    Where one oracle's questions are split into several parts, `at_least` is the part's share of `FEWEST_OBJECTS`.
    """
    if _Tier.thorough:
        return thorough
    return min(thorough, max(thorough // _TENTH, at_least))


def examples(thorough: int) -> int:
    """Return how many examples hypothesis makes of a law: `thorough`, or a third of it."""
    return thorough if _Tier.thorough else thorough // 3


def few_of_each_kind(items: Iterable[tuple[Hashable, Item]], at_most: int = 12) -> list[Item]:
    """Return the first `at_most` items of each kind; all of them in the thorough tier.

    Where it is known which kind of answer a question gets, this keeps the rare kinds that a plain tenth would lose.
    """
    counts: Counter[Hashable] = Counter()
    kept = []
    for kind, item in items:
        counts[kind] += 1
        if _Tier.thorough or counts[kind] <= at_most:
            kept.append(item)
    return kept
