"""The lock: who may take it, when a dead run's lock is free, and what a run does that lost its own."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from gpupool.cluster import lease
from gpupool.cluster.client import MERGE, Request
from gpupool.cluster.resources import lease_path
from gpupool.errors import GuardError, PartialError
from gpupool.rollout.applying.results import ensure_complete
from gpupool.rollout.lock.lock import MARGIN, SECONDS, SKEW, TRUST_SECONDS
from tests.memory import blueprints
from tests.memory.worlds import NAMESPACE
from tests.rollout.decisions.cases import EVERYTHING, fresh_specs, world
from tests.rollout.decisions.test_races import At

if TYPE_CHECKING:
    from tests.memory.schemas import Body
    from tests.memory.worlds import Kept, World

WANTED = {"a": 1, "b": 0}
NAME = "gpupool-memory"
OTHER = "ann@host/7/1f8a77c2"


def lock(here: World, holder: str = OTHER, renewed: str = "2999-01-01T00:00:00.000000Z") -> None:
    """Have somebody else hold the lock."""
    spec = {
        "holderIdentity": holder,
        "leaseDurationSeconds": SECONDS,
        "acquireTime": renewed,
        "renewTime": renewed,
        "leaseTransitions": 3,
    }
    body: Body = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": NAME},
        "spec": spec,
    }
    assert here.send(Request("POST", lease_path(NAMESPACE), {"fieldManager": "x"}, body)).ok


def renew(here: World, **spec: object) -> None:
    """Write the lock as its holder, or as somebody who takes it."""
    patch = {"spec": json.loads(json.dumps(spec))}
    path = lease_path(NAMESPACE, NAME)
    assert here.send(Request("PATCH", path, {"fieldManager": "x"}, patch, MERGE)).ok


def test_a_lock_that_is_held(kept: Kept) -> None:
    kept.for_locks_too()
    here = world(kept, {"a": 0})
    found = here.look(blueprints.chosen(WANTED))
    lock(here)
    kept.clock.each_second = [
        lambda: renew(here, renewTime=f"2999-01-01T00:00:00.{int(kept.clock.now * 10):06}Z")
    ]
    before, began = here.objects(), kept.clock.now

    with pytest.raises(GuardError, match=r"held by ann@host, process 7, since .*gpupool unlock 1f8a77c2"):
        here.carry_out(found, lock_timeout=500.0)

    assert kept.clock.now - began == pytest.approx(500.0, abs=1.1)
    assert here.objects() == before
    assert here.server.objects("leases")[NAME]["spec"]["holderIdentity"] == OTHER


@pytest.mark.parametrize(
    "renewed", ["2999-01-01T00:00:00.000000Z", "no time at all", "2026-11-21T08:00:00.000000Z"]
)
def test_a_lock_that_nobody_renews(kept: Kept, renewed: str) -> None:
    """It is free once it was seen unchanged for as long as it holds, or when its time is long past on any clock."""
    kept.for_locks_too()
    here, wanted = world(kept, {"a": 0}), blueprints.chosen(WANTED)
    found = here.look(wanted)
    lock(here, renewed="2026-11-21T08:00:00.000000Z" if "no" in renewed else renewed)
    if "no" in renewed:
        renew(here, renewTime=None, acquireTime=None)
    began = kept.clock.now

    ensure_complete(here.carry_out(found, lock_timeout=SECONDS + 1.0))

    waited = kept.clock.now - began
    assert waited < 1 if renewed.startswith("2026") else SECONDS <= waited <= SECONDS + 1.1
    assert here.specs() == fresh_specs(kept, wanted)
    assert not here.is_locked()


@pytest.mark.parametrize("way", ["deleted", "taken"])
@pytest.mark.parametrize("nth", range(7, 13))
def test_a_lock_that_is_lost_on_the_way(kept: Kept, nth: int, way: str) -> None:
    """A run that finds its lock gone before a write, up to the last deletion, writes nothing more, not even the inventory."""
    kept.for_locks_too()
    here, wanted = world(kept, {"a": 0, "c": 0}), blueprints.chosen(WANTED)
    found = here.look(wanted, EVERYTHING)
    writes: list[int] = []

    def lose() -> None:
        kept.clock.now += TRUST_SECONDS + 0.1
        if way == "deleted":
            here.unlock()
        else:
            renew(here, holderIdentity=OTHER)
        writes.append(len(here.writes()))

    here.server.hooks.append(At(nth, lose))
    result = here.carry_out(found)
    here.server.hooks.clear()

    with pytest.raises(PartialError):
        ensure_complete(result)
    later = here.writes()[writes[0] :]
    # What was under way at that moment, and the attempt to give back a lock.
    assert [each for each in later[1:] if "leases" not in each.path] == []
    assert result.unrecorded == "the lock is lost"
    assert here.inventory("pending")
    if way == "taken":
        assert here.server.objects("leases")[NAME]["spec"]["holderIdentity"] == OTHER
    here.unlock()
    here.apply(wanted, EVERYTHING)
    assert (here.specs(), here.is_recorded()) == (fresh_specs(kept, wanted), True)


def test_a_lock_that_is_gone_is_not_renewed(kept: Kept) -> None:
    """A PUT creates a Lease that does not exist, but for its uid: it was deleted, and others may have begun."""
    here = world(kept, {"a": 0})
    cluster = here.look(blueprints.chosen(WANTED)).reached.cluster
    wanted = lease.Lease(NAMESPACE, NAME, OTHER, SECONDS, lease.now(), lease.now(), 0)
    taken = lease.create(cluster, wanted)
    assert taken is not None
    assert lease.create(cluster, wanted) is None
    assert lease.replace(cluster, taken) is not None
    here.unlock()

    assert lease.replace(cluster, taken) is None
    assert not here.is_locked()


def test_a_lock_that_could_not_be_renewed(kept: Kept) -> None:
    """As when a machine slept: others may have the lock in a moment, so that nothing more is written."""
    kept.for_locks_too()
    here = world(kept, {"a": 0})
    found = here.look(blueprints.chosen(WANTED))

    def sleep() -> None:
        kept.clock.now += SECONDS - MARGIN

    here.server.hooks.append(At(7, sleep))
    result = here.carry_out(found)

    failed = [each.message for each in result.of("failed")]
    assert "is lost: it could not be renewed for 50 seconds" in failed[0]
    assert result.unrecorded == "the lock is lost"
    assert not here.is_locked()


def test_a_lock_that_is_old_by_less_than_clocks_differ(kept: Kept) -> None:
    """Its holder's clock may be five minutes behind: it is free only once it was seen unchanged for as long as it holds."""
    kept.for_locks_too()
    here, wanted = world(kept, {"a": 0}), blueprints.chosen(WANTED)
    found = here.look(wanted)
    lock(here, renewed=(datetime.now(UTC) - timedelta(seconds=SECONDS + SKEW - 60)).isoformat())
    began = kept.clock.now

    ensure_complete(here.carry_out(found, lock_timeout=SECONDS + 1.0))

    assert SECONDS <= kept.clock.now - began <= SECONDS + 1.1
