"""Nothing is written while nobody knows what gpupool applied: an inventory that went wrong in any place."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from gpupool.cluster.resources import config_map_path
from gpupool.errors import ClusterError
from gpupool.rollout.inventory import store
from gpupool.rollout.inventory.encoding import InventoryEntry
from tests.server.laws.worlds import world
from tests.test_examples import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.rig.server import ApiServer
    from tests.server.laws.worlds import World

EXAMPLE = [str(EXAMPLES / "ml-platform.yaml")]
PATH = config_map_path("kube-system", "gpupool-ml-platform")
ID = "applyset.kubernetes.io/id"
ENTRY = {"group": "karpenter.sh", "kind": "NodePool", "name": "a", "uid": "u", "generation": 1, "sha256": ""}


@pytest.fixture
def here(api_server: ApiServer) -> Iterator[World]:
    """Yield a server on which an example was applied."""
    with world(api_server) as found:
        found.apply(EXAMPLE)
        yield found


ENTRY_TEXT = json.dumps(ENTRY)


def entries(*said: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    return json.dumps(said)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no JSON": ({"data": {"current": "[{"}}, "`current` is not JSON"),
    "cut off": ({"data": {"current": entries(ENTRY)[:-1]}}, "`current` is not JSON"),
    "no text at all": ({"data": {"current": ""}}, "`current` is not JSON"),
    "a map": ({"data": {"current": "{}"}}, "the list of objects is {}"),
    "a null": ({"data": {"current": "null"}}, "the list of objects is missing"),
    "so deep that nobody reads it": ({"data": {"current": "[" * 100_000}}, "is not a valid inventory"),
    "no map in it": ({"data": {"current": "[1]"}}, "an object in the list has no kind and no name and no sha256"),
    "another kind": ({"data": {"current": entries({**ENTRY, "kind": "Node"})}}, "unknown kind `Node`"),
    "a kind that is a list": ({"data": {"current": entries({**ENTRY, "kind": []})}}, "has no kind"),
    "no uid": ({"data": {"current": entries({**ENTRY, "uid": None})}}, "has no uid"),
    "a generation of words": (
        {"data": {"current": entries({**ENTRY, "generation": "1"})}},
        "the generation of NodePool/a is no number",
    ),
    "one of many is wrong": ({"data": {"current": entries(ENTRY, {**ENTRY, "name": 1})}}, "has no name"),
    "the list was taken out": ({"data": {"current": None}}, "the list of objects is missing"),
    "what is pending is no map": ({"data": {"pending": "[]"}}, "the list of objects is missing"),
    "what is pending has no list": ({"data": {"pending": '{"plan": "p"}'}}, "the list of objects is missing"),
    "a serial of words": ({"data": {"serial": "x"}}, "`serial` is 'x'"),
    "a serial below zero": ({"data": {"serial": "-1"}}, "`serial` is '-1'"),
    "a serial beyond all numbers": ({"data": {"serial": "9" * 5000}}, "`serial` is '999"),
    "no serial": ({"data": {"serial": None}}, "`serial` is ''"),
    "a history that is no JSON": ({"data": {"history": "x"}}, "`history` is not JSON"),
    "a key of words": ({"data": {"key": '"secret"'}}, "`key` is not 64 hexadecimal digits"),
    "a key that is cut off": ({"data": {"key": '"' + "a" * 32 + '"'}}, "`key` is not 64 hexadecimal digits"),
    "a key that is no JSON": ({"data": {"key": "a" * 64}}, "`key` is not JSON"),
    "nothing": ({"data": None}, "`serial` is ''"),
    "no label": ({"metadata": {"labels": None}}, f"the label {ID} is None"),
    "another set's label": ({"metadata": {"labels": {ID: "applyset-x-v1"}}}, f"the label {ID} is 'applyset-x-v1'"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_one_that_went_wrong(here: World, case: str) -> None:
    patch, why = WRONG[case]
    here.change_at(PATH, patch)
    mark, before = here.server.audit.mark(), here.versions()

    with pytest.raises(ClusterError) as refused:
        here.look(EXAMPLE)

    assert "the ConfigMap kube-system/gpupool-ml-platform is not a valid inventory" in str(refused.value)
    assert why in str(refused.value)
    assert "repair it, or save it elsewhere and delete it" in str(refused.value)
    assert len(str(refused.value)) < 400
    assert here.server.audit.since(mark) == []
    assert here.versions() == before
    here.server.request("DELETE", PATH)  # it may lack the label by which it would be cleared away


def test_one_of_an_older_gpupool_gets_a_key(here: World) -> None:
    """And keeps it from then on."""
    here.change_at(PATH, {"data": {"key": None}})
    keys = []
    for _ in range(2):
        # An apply that was interrupted, so that the next one has something to write.
        here.change_at(
            PATH, {"data": {"pending": '{"plan": "", "entries": [ENTRY]}'.replace("ENTRY", ENTRY_TEXT)}}
        )
        here.apply(EXAMPLE)
        keys.append(json.loads(here.server.request("GET", PATH).body["data"]["key"]))
    assert keys == [keys[0]] * 2
    assert len(keys[0]) == 64


def test_one_that_was_moved_away_is_made_anew(here: World) -> None:
    before = here.uids()
    here.server.request("DELETE", PATH)

    result = here.apply(EXAMPLE)

    assert result is not None
    assert {each.action for each in result.outcomes} == {"keep"}
    assert here.uids() == before
    assert here.apply(EXAMPLE) is None
    listed = json.loads(here.server.request("GET", PATH).body["data"]["current"])
    assert {f"{each['kind']}/{each['name']}": each["uid"] for each in listed} == before


def test_one_of_the_form_before_is_taken_over(here: World) -> None:
    """Digests were kept whole: nothing is taken to have changed by that."""
    found = here.server.request("GET", PATH).body["data"]
    old = [{**each, "sha256": each["sha256"].ljust(64, "0")} for each in json.loads(found["current"])]
    body = json.dumps({"data": {"current": json.dumps(old)}}).encode()
    assert here.server.request("PATCH", PATH, body, "application/merge-patch+json").status == 200

    assert here.apply(EXAMPLE) is None


MANY = 20_000


def test_twenty_thousand_objects_are_listed(here: World) -> None:
    """In a real ConfigMap: before the first apply, while all of them change, and when they are few again."""
    cluster, place = here.look(EXAMPLE).reached.cluster, store.InventoryRef("kube-system", "gpupool-many")
    new = [
        InventoryEntry("NodePool", f"team-{number:05}-gpu", "", 0, f"{number:024x}") for number in range(MANY)
    ]
    there = [
        each._replace(uid=str(UUID(int=chance(number).getrandbits(128))), generation=1)
        for number, each in enumerate(new)
    ]
    wanted = [
        each._replace(digest=f"{chance(number).getrandbits(96):024x}") for number, each in enumerate(there)
    ]

    began = store.begin(cluster, store.read(cluster, place), new, "p1", "t")
    assert store.read(cluster, place).pending == tuple(new)
    store.finish(cluster, began, there, {}, "t")
    assert store.read(cluster, place).current == tuple(there)
    began = store.begin(cluster, store.read(cluster, place), wanted, "p2", "t")
    found = store.read(cluster, place)
    assert (found.current, found.pending, found.pending_plan) == (tuple(there), tuple(wanted), "p2")
    few = store.finish(cluster, began, wanted[:3], {}, "t")
    assert store.read(cluster, place).content == few.content
    stored = here.server.request("GET", config_map_path(*place)).body
    assert set(stored["data"]) == {"current", "history", "key", "serial"}
    assert not stored.get("binaryData")

    with pytest.raises(ClusterError, match="has too many objects: a list of 40000 does not fit"):
        store.begin(cluster, few, [*new, *(each._replace(name=f"x-{each.name}") for each in new)], "p3", "t")
    assert store.read(cluster, place).content == few.content
    here.server.request("DELETE", config_map_path(*place))


def test_a_plan_warns_before_it_is_full(here: World) -> None:
    """Half of it is enough: what does not fit can't be applied at all."""
    found = here.look(EXAMPLE)
    cluster, place = found.reached.cluster, found.prepared.observed.inventory.place
    own = store.read(cluster, place).current
    for count, said in (
        (MANY // 8, []),
        (3 * MANY // 4, [f"for {3 * MANY // 4 + len(own)} objects: make several"]),
    ):
        more = [
            InventoryEntry(
                "NodePool",
                f"team-{number:05}-gpu",
                str(UUID(int=chance(number).getrandbits(128))),
                1,
                f"{number:024x}",
            )
            for number in range(count)
        ]
        began = store.begin(cluster, store.read(cluster, place), [*own, *more], "p", "t")
        store.finish(cluster, began, [*own, *more], {}, "t")

        warnings = [each for each in here.look(EXAMPLE).plan.warnings if "of what a ConfigMap holds" in each]

        assert len(warnings) == len(said)
        assert [each for each in said if each not in warnings[0]] == []


def chance(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - no secret
