"""An inventory that went wrong in any place: nothing is written, above all nothing is deleted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from gpupool.cluster.client import MERGE, Request
from gpupool.errors import ClusterError, GpupoolError
from gpupool.rollout.applying.results import ensure_complete
from tests.memory import blueprints
from tests.memory.values import copy
from tests.memory.worlds import inventory_path
from tests.rollout.decisions.cases import (
    EVERYTHING,
    PARTS,
    chance,
    draw_start,
    expecting,
    outcomes,
    seeds,
    world,
)

if TYPE_CHECKING:
    from random import Random

    from tests.memory.schemas import Body
    from tests.memory.worlds import Kept

CASES: Final = 4_000
JUNK: Final = ("", "[", "{}", "null", "[1]", '["a"]', '[{"kind": 1}]', "\x00", "[[]]", '"x"', "-1", "9" * 40)


def spoil(random: Random, data: dict[str, str], uids: dict[str, str]) -> dict[str, Any]:
    """Return a merge patch that makes an inventory's data wrong; what it deletes must have been listed rightly."""
    entries = json.loads(data["current"])
    way = random.randrange(6)
    if way == 0:
        return {random.choice([*data, "pending"]): random.choice(JUNK)}
    if way == 1:
        return {random.choice([*data]): None}
    if way == 2:
        text = data["current"]
        return {"current": text[: random.randrange(len(text))]}
    bent = copy(random.choice(entries))
    key = random.choice(("uid", "kind", "name", "sha256", "generation"))
    bent[key] = random.choice(("", "x", None, 1, [], *uids.values(), "NodePool", "by-hand"))
    kept = [each for each in entries if random.random() < 0.7]
    if way == 3:
        return {"pending": json.dumps({"plan": "p", "entries": [bent]})}
    return {"current": json.dumps([*kept, bent])}


@pytest.mark.parametrize("part", range(PARTS))
@expecting("refused", "done")
def test_whatever_it_says(kept: Kept, part: int) -> None:
    """The blueprint is the same as before, or has fewer pools; nobody else's objects ever go, and no wanted one does."""
    for seed in seeds(part, CASES):
        random = chance(seed)
        first = draw_start(random)
        here, wanted = world(kept, first), blueprints.chosen(first)
        here.create(
            "NodePool/by-hand",
            here.objects()[next(each for each in here.objects() if each.startswith("NodePool/"))],
        )
        foreign = here.uids()
        data = next(iter(here.server.objects("configmaps").values()))["data"]
        patch = spoil(random, data, foreign)
        request = Request("PATCH", inventory_path(wanted), {"fieldManager": "x"}, {"data": patch}, MERGE)
        assert here.send(request).ok
        before = here.objects()
        try:
            found = here.look(wanted, EVERYTHING)
        except ClusterError as problem:
            assert "is not a valid inventory" in str(problem), seed  # noqa: PT017 - both ends are right
            assert here.objects() == before
            outcomes["refused"] += 1
            continue
        try:
            ensure_complete(here.carry_out(found))
            outcomes["done"] += 1
        except GpupoolError as problem:
            outcomes[type(problem).__name__] += 1
        assert here.uids() == foreign, (seed, patch)


def test_an_object_that_is_listed_without_its_uid_is_still_listed(kept: Kept) -> None:
    """As after an apply that did not learn what came of a write; it is pruned by a later run, which has to know it."""
    here = world(kept, {"a": 0, "b": 0})
    data = next(iter(here.server.objects("configmaps").values()))["data"]
    entries = [each | ({"uid": ""} if each["name"] == "b" else {}) for each in json.loads(data["current"])]
    patch: Body = {"data": {"current": json.dumps(entries)}}
    request = Request(
        "PATCH", inventory_path(blueprints.chosen({"a": 1})), {"fieldManager": "x"}, patch, MERGE
    )
    assert here.send(request).ok
    uids = here.uids()

    here.apply(blueprints.chosen({"a": 1}))

    assert {address: uid for address, (uid, _) in here.inventory().items()} == uids
    here.apply(blueprints.chosen({"a": 1}), EVERYTHING)
    assert not [address for address in here.objects() if address.endswith("/b")]
