"""The objects of one run: from every field, every rule and pairs of changes, always the same ones for a seed."""

import json
import random
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from tests.differential import metadata, mutations, rules
from tests.differential.inventions import invented, known
from tests.differential.schemas import KINDS, Part, part_at, places
from tests.differential.seeds import seeds, told
from tests.differential.trees import ABSENT, Body, Path, at, changed, parts, reaches
from tests.karpenter.examples import ALL, FULL, NODEOVERLAY
from tests.tiers import is_thorough

SHARE_OF_PAIRS = 0.65
SHARE_OF_KNOWN = 0.6
"""How many of the values in pairs some seed has in that place: without them hardly an object would be taken."""

MOST_CHANGES = 4

_NEVER_LEFT_OUT = {"seed", "case", "rule"}


class Mutant(NamedTuple):
    """An object to ask about, and how it came to be."""

    body: Body
    seed: Body
    """What it was made from."""

    origin: str

    @property
    def kind(self) -> str:
        """Name its kind."""
        return str(self.seed["kind"])


def mutants(count: int, seed: int) -> list[Mutant]:
    """Return `count` distinct objects: the systematic ones first, random ones until there are enough."""
    chance = random.Random(seed)  # noqa: S311 - a fixed sequence is what we want
    return list(islice(_distinct(chain(_systematic(chance), _random(chance))), count))


def sampled(objects: Sequence[Mutant]) -> list[Mutant]:
    """Return all objects in the thorough tier; by default all that stand for a rule or a case, a tenth of the rest."""
    if is_thorough():
        return [*objects]
    others = [each for each in objects if each.origin not in _NEVER_LEFT_OUT]
    tenth = {id(each) for each in others[::10]}
    return [each for each in objects if each.origin in _NEVER_LEFT_OUT or id(each) in tenth]


def single(chance: random.Random) -> Iterator[Mutant]:
    """Yield every field of every schema with every value that is worth a try."""
    for kind in KINDS:
        whole = FULL[kind]
        for place in places(kind):
            now = at(whole, place.path)
            for value in mutations.values(place.part, now, place.path, chance):
                yield Mutant(changed(whole, place.path, value), whole, "field")


def _systematic(chance: random.Random) -> Iterator[Mutant]:
    yield from (Mutant(body, body, "seed") for body in seeds())
    yield from (Mutant(body, body, "case") for body in told())
    yield from (Mutant(body, rule.seed, "rule") for rule, _, body in rules.objects())
    yield from single(chance)
    for kind in KINDS:
        yield from (
            Mutant(changed(FULL[kind], path, value), FULL[kind], "status")
            for path, value in metadata.status_changes(kind)
        )
    for path, value in metadata.changes():
        whole = NODEOVERLAY if path[0] == "metadata" else chance.choice(ALL)
        yield Mutant(changed(whole, path, value), whole, "metadata")


def _random(chance: random.Random) -> Iterator[Mutant]:
    while True:
        if chance.random() < SHARE_OF_PAIRS:
            yield _paired(chance)
        else:
            body = invented(chance.choice(KINDS), chance)
            yield Mutant(body, FULL[body["kind"]], "invented")


def _paired(chance: random.Random) -> Mutant:
    kind = chance.choice(KINDS)
    whole = chance.choice([body for body in seeds() if body["kind"] == kind])
    body = whole
    for _ in range(chance.choice((1, 2, 2, 2, 3, MOST_CHANGES))):
        path, value = _change(body, kind, chance)
        if reaches(body, path):
            body = changed(body, path, value)
    return Mutant(body, whole, "pair")


def _change(body: Body, kind: str, chance: random.Random) -> tuple[Path, object]:
    dice = chance.random()
    if dice < 0.05:
        return chance.choice(_METADATA)
    if dice < 0.35:
        place = chance.choice(places(kind))
        return place.path, _replacement(place.part, kind, place.path, at(body, place.path), chance)
    path, now = chance.choice(parts(body.get("spec", {}), ("spec",)))
    part = part_at(kind, path)
    return path, _replacement(part, kind, path, now, chance) if part else ABSENT


def _replacement(part: Part, kind: str, path: Path, now: object, chance: random.Random) -> object:
    there = known(kind, path)
    if there and chance.random() < SHARE_OF_KNOWN:
        return chance.choice(there)
    return mutations.one(part, now, path, chance)


def _distinct(found: Iterator[Mutant]) -> Iterator[Mutant]:
    seen: set[tuple[str, str]] = set()
    for mutant in found:
        text = (mutant.kind, json.dumps(mutant.body))
        if text not in seen:
            seen.add(text)
            yield mutant


_METADATA = tuple(
    change for change in metadata.changes() if change[0][0] == "metadata" and len(change[0]) > 1
)
