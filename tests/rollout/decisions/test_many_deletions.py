"""Many deletions at once: one count serves many, and none of them is made on a count that is older than its object."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from gpupool.cluster.client import Response
from gpupool.cluster.resources import EC2_NODE_CLASS, KINDS, NODE_CLAIM, NODE_POOL
from gpupool.yamlio.located import plain_map
from tests.memory import blueprints
from tests.memory.worlds import World, address_of
from tests.rollout.decisions.cases import EVERYTHING

if TYPE_CHECKING:
    from pathlib import Path

    from gpupool.cluster.client import Request
    from gpupool.rollout.applying.results import Result
    from gpupool.rollout.desired_state import DesiredState
    from tests.memory.worlds import Kept

COUNT: Final = 30
WORKERS: Final = 8
KEPT: Final = "p-00"
MANY: Final = replace(EVERYTHING, max_deletes=COUNT)
PATHS: Final = {kind.path: kind.name for kind in (*KINDS.values(), NODE_CLAIM)}


@pytest.fixture
def wanted(tmp_path: Path) -> tuple[DesiredState, DesiredState]:
    """A blueprint of many pools, each with a class of its own, and one with a single pool left."""
    names = [f"p-{number:02}" for number in range(COUNT)]
    pools = {name: {"accelerator": "l4", "nodeClass": {"tags": {"pool": name}}} for name in names}
    return read(pools, tmp_path), read({KEPT: pools[KEPT]}, tmp_path)


def read(pools: dict[str, Any], folder: Path) -> DesiredState:
    words = blueprints.blueprint(0) | {"pools": pools}
    del words["nodeClasses"]
    return blueprints.read(words, folder)


@pytest.fixture
def here(kept: Kept, wanted: tuple[DesiredState, DesiredState]) -> World:
    """A world with all of them, in which several are deleted at once."""
    found = World(kept, concurrency=WORKERS)
    found.apply(wanted[0])
    return found


def pruned(here: World, wanted: DesiredState) -> Result:
    """Prune; the requests since the plan are those that are left in the server."""
    found = here.look(wanted, MANY)
    here.server.requests.clear()
    return here.carry_out(found)


def lists(here: World) -> Counter[str]:
    """Count the lists of each kind since the inventory was written first: those that belong to deletions."""
    began = next(
        nth for nth, each in enumerate(here.server.requests) if "configmaps" in each.path and each.body
    )
    return Counter(
        PATHS[each.path]
        for each in here.server.requests[began:]
        if each.method == "GET" and each.path in PATHS
    )


def test_one_count_serves_many_pools_and_as_many_classes_as_are_deleted_at_once(
    here: World, wanted: tuple[DesiredState, DesiredState]
) -> None:
    pruned(here, wanted[1])

    assert here.objects().keys() == {f"NodePool/{KEPT}", f"EC2NodeClass/{KEPT}"}
    rounds = -(-(COUNT - 1) // WORKERS)
    assert lists(here) == {NODE_CLAIM.name: 1 + rounds, NODE_POOL.name: rounds}


def test_the_longer_a_count_takes_the_more_it_serves(
    here: World, wanted: tuple[DesiredState, DesiredState]
) -> None:
    """Otherwise the time that a prune takes would grow with the square of the objects."""
    here.claim(KEPT, 10 * COUNT)

    pruned(here, wanted[1])

    assert here.objects().keys() == {f"NodePool/{KEPT}", f"EC2NodeClass/{KEPT}"}
    assert lists(here) == {NODE_CLAIM.name: 1 + 2, NODE_POOL.name: 2}


def test_nodes_of_pools_that_stay_are_not_listed_for_those_that_go(
    here: World, wanted: tuple[DesiredState, DesiredState]
) -> None:
    pruned(here, wanted[1])

    selector = next(
        each.query["labelSelector"] for each in here.server.requests if each.query.get("labelSelector")
    )
    names = {f"p-{number:02}" for number in range(1, COUNT)}
    assert selector == f"karpenter.sh/nodepool in ({','.join(sorted(names))})"


def test_each_deletion_names_a_version_that_is_older_than_the_count_it_follows(
    here: World, wanted: tuple[DesiredState, DesiredState]
) -> None:
    """So nothing can have been written to the object since it was counted."""
    versions: dict[str, str] = {}
    counted: dict[str, dict[str, str]] = {}

    def look(request: Request) -> None:
        now = {address: body["metadata"]["resourceVersion"] for address, body in here.objects().items()}
        if request.method == "GET" and request.path == NODE_CLAIM.path:
            counted.update({NODE_POOL.name: now, EC2_NODE_CLASS.name: now})
        if request.method == "DELETE" and (address := address_of(request)):
            versions[address] = counted[address.partition("/")[0]][address]
            conditions = plain_map(plain_map(request.body)["preconditions"])
            assert conditions == {
                "uid": here.objects()[address]["metadata"]["uid"],
                "resourceVersion": versions[address],
            }

    found = here.look(wanted[1], MANY)
    here.server.hooks.append(look)
    here.carry_out(found)

    assert len(versions) == 2 * (COUNT - 1)


@pytest.mark.parametrize("nth", [1, 2, COUNT - 1])
def test_a_node_that_comes_while_others_of_the_batch_are_deleted_keeps_its_pool(
    here: World, wanted: tuple[DesiredState, DesiredState], nth: int
) -> None:
    """Right before the nth deletion, Karpenter launches a node of the last pool of the batch, and says so."""
    last = f"p-{COUNT - 1:02}"
    deletions = 0

    def launch(request: Request) -> None:
        nonlocal deletions
        deletions += request.method == "DELETE" and address_of(request).startswith(NODE_POOL.name)
        if deletions == nth:
            deletions += 1
            here.claim(last, 1)
            here.change(f"NodePool/{last}", {"status": {"resources": {"nodes": "1"}}}, "karpenter", "/status")

    found = here.look(wanted[1], MANY)
    here.server.hooks.append(launch)
    result = here.carry_out(found)

    held = {each.address: each.message for each in result.of("held back")}
    assert held == {
        f"NodePool/{last}": "it still has 1 NodeClaim",
        f"EC2NodeClass/{last}": f"NodePool/{last} refers to it",
    }
    assert here.objects().keys() == {
        f"{kind}/{name}" for kind in ("NodePool", "EC2NodeClass") for name in (KEPT, last)
    }


def test_what_is_written_all_the_time_costs_the_others_nothing(
    here: World, wanted: tuple[DesiredState, DesiredState]
) -> None:
    """A pool whose status never stands still is tried ten times, and the others once."""
    restless, tries = "p-07", Counter[str]()

    def write(request: Request) -> None:
        if request.method == "DELETE" and (address := address_of(request)):
            tries[address] += 1
            if address == f"NodePool/{restless}":
                status = {"status": {"resources": {"cpu": str(tries[address])}}}
                here.change(address, status, "karpenter", "/status")

    found = here.look(wanted[1], MANY)
    here.server.hooks.append(write)
    result = here.carry_out(found)

    assert [(each.address, each.message) for each in result.of("failed")] == [
        (f"NodePool/{restless}", "it keeps changing")
    ]
    assert tries.pop(f"NodePool/{restless}") == 10
    assert set(tries.values()) == {1}
    assert {each.partition("/")[0] for each in tries} == {"NodePool"}


def test_where_nothing_can_be_counted_nothing_is_deleted(
    here: World, wanted: tuple[DesiredState, DesiredState]
) -> None:
    """One object says why, and the others that they were not tried."""
    found = here.look(wanted[1], MANY)
    before = here.objects()

    def refuse(request: Request) -> Response | None:
        return Response(403, {"message": "no"}) if request.path == NODE_CLAIM.path else None

    here.server.hooks.append(refuse)
    result = here.carry_out(found)

    assert here.objects() == before
    assert [(each.address, each.state) for each in result.outcomes if each.action == "delete"] == [
        ("NodePool/p-01", "failed"),
        *((f"NodePool/p-{number:02}", "not tried") for number in range(2, COUNT)),
        *((f"EC2NodeClass/p-{number:02}", "not tried") for number in range(1, COUNT)),
    ]
    assert here.is_recorded()
