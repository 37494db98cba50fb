"""What to put where a field stands: wrong types, nothing, bounds and what lies beyond them, odd texts."""

import random
from collections.abc import Iterator
from typing import Any

from tests.differential import texts
from tests.differential.schemas import Part
from tests.differential.trees import ABSENT, Path

WRONG: tuple[object, ...] = (
    ABSENT, None, "", "x", 0, 1, -1, 5.0, 1e3, 1.5, -0.5, True, False, {}, [], ["a"], [None], [[]], [{}], [1], {"a": "b"}, {"": ""}, {"a": 1}, {"a": None}, {"a": {}},
)  # fmt: skip
INTEGERS: tuple[object, ...] = (
    2, 50, 99.0, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**30, 1e20, 1e300, -1e20, "1", "0x1",
)  # fmt: skip
ODD_VALUES: tuple[object, ...] = (None, 1, 1.5, True, {}, [], {"a": 1}, "a b", "")
UNKNOWN = ("bogus", "Spec", "apiVersion", "key ", "")
SOME = 6


def values(part: Part, now: object, path: Path, chance: random.Random) -> Iterator[object]:
    """Yield what to try at a place where `now` stands (ABSENT for nothing)."""
    yield from WRONG
    if part.get("type") == "integer" or part.get("x-kubernetes-int-or-string"):
        yield from INTEGERS
        yield from _beside(part.get("minimum"))
        yield from _beside(part.get("maximum"))
    if part.get("type") == "string" or part.get("x-kubernetes-int-or-string"):
        yield from _texts(part, now, path, chance)
    if part.get("type") == "array":
        yield from _lists(part, now)
    if part.get("type") == "object":
        yield from _maps(part, now, chance)


def one(part: Part, now: object, path: Path, chance: random.Random) -> object:
    """Return one of the values, texts and numbers of the right type more often than others."""
    if part.get("type") == "string" and chance.random() < 0.7:
        return chance.choice(list(_texts(part, now, path, chance)))
    return chance.choice(list(values(part, now, path, chance)))


def field(path: Path) -> str:
    """Return the name of the field that a path is about: of the map or list, for an item."""
    names = [step for step in path if isinstance(step, str)]
    if len(names) > 1 and names[-2] in {*texts.MAPS}:
        return names[-2]
    return names[-1]


def _beside(bound: int | None) -> Iterator[object]:
    if bound is not None:
        yield from (bound - 1, bound, bound + 1, float(bound), str(bound))


def _texts(part: Part, now: object, path: Path, chance: random.Random) -> Iterator[object]:
    for word in part.get("enum", ()):
        yield from (word, word.lower(), word.upper(), f"{word} ", word[:-1])
    for length in (part.get("minLength", 0), part.get("maxLength", 0)):
        yield from ("a" * (length + more) for more in (-1, 0, 1) if length + more >= 0)
        yield "é" * length
    near = texts.like(field(path))
    # Where no pattern asks for anything, some of the texts will do.
    yield from near if "pattern" in part or near is not texts.NAMES else chance.sample(near, SOME)
    yield from chance.sample(texts.EVERY, SOME)
    good = now if isinstance(now, str) else chance.choice(near)
    yield from (texts.edited(good, chance) for _ in range(SOME if "pattern" in part else 2))


def _lists(part: Part, now: object) -> Iterator[object]:
    items: list[Any] = list(now) if isinstance(now, list) and now else [_simple(part["items"])]
    yield from (
        [*items, None],
        [*items, items[0]],
        [*items, {}],
        [*items, "x"],
        [*items, 1],
        items[:1],
        items[::-1],
    )
    for most in (part.get("minItems"), part.get("maxItems")):
        if most is not None:
            yield from (_repeated(items, most + more) for more in (-1, 0, 1))


def _repeated(items: list[Any], count: int) -> list[Any]:
    return (items * (max(count, 0) // len(items) + 1))[: max(count, 0)]


def _maps(part: Part, now: object, chance: random.Random) -> Iterator[object]:
    there: dict[str, Any] = dict(now) if isinstance(now, dict) else {}
    if "properties" in part:
        yield from ({**there, name: value} for name in UNKNOWN for value in (1, None))
        yield {**there, "bogus": {"a": []}}
        yield from ({key: there[key] for key in there if key != gone} for gone in there)
    else:
        yield from _open_maps(part, there, chance)


def _open_maps(part: Part, there: dict[str, Any], chance: random.Random) -> Iterator[object]:
    value = next(iter(there.values()), _simple(part.get("additionalProperties", {})))
    yield from ({**there, key: value} for key in chance.sample(texts.KEYS, 2 * SOME))
    yield from ({**there, "more": odd} for odd in ODD_VALUES)
    most = part.get("maxProperties")
    if most is not None:
        yield from ({f"k{number}": value for number in range(most + more)} for more in (-1, 0, 1))


def _simple(part: Part) -> object:
    simple: dict[str, object] = {"string": "a", "integer": 1, "boolean": True, "array": [], "object": {}}
    return simple.get(part.get("type", "string"), "1")
