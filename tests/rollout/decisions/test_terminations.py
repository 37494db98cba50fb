"""Deleted means gone: what is being deleted is waited for, listed until it is gone, and keeps what it needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pytest

from gpupool.cluster.client import Request
from gpupool.cluster.resources import NODE_CLAIM
from gpupool.errors import GuardError, NotReadyError
from gpupool.planning.plan import Consent
from gpupool.rollout.applying.results import ensure_complete
from gpupool.rollout.session import is_settled
from gpupool.yamlio.located import plain_map
from tests.memory import blueprints
from tests.rollout.decisions.cases import fresh_specs, world

if TYPE_CHECKING:
    from gpupool.rollout.applying.results import Result
    from tests.memory.worlds import Kept, World

HOLD: Final = "karpenter.k8s.aws/termination"
PRUNE: Final = Consent(prune=True, max_deletes=99)
DRAIN: Final = Consent(prune=True, max_deletes=99, drain=True)


@dataclass
class Ending:
    """A controller that ends NodeClaims, and then takes its finalizer from a class, after so many seconds."""

    here: World
    claims_after: float
    class_after: float
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.here.kept.clock.now
        self.here.kept.clock.each_second = [self]

    def __call__(self) -> None:
        """Look at everything."""
        passed = self.here.kept.clock.now - self.began
        if passed >= self.claims_after:
            for name in self.here.server.objects("nodeclaims"):
                assert self.here.send(Request("DELETE", NODE_CLAIM.path_of(name))).ok
        body = self.here.objects().get("EC2NodeClass/b", {})
        if passed >= self.class_after and body.get("metadata", {}).get("deletionTimestamp"):
            assert self.here.change("EC2NodeClass/b", {"metadata": {"finalizers": None}}).ok


def with_finalizer(kept: Kept) -> World:
    """Return a world of two pools, in which the class of one has Karpenter's finalizer."""
    here = world(kept, {"a": 0, "b": 0})
    here.change("EC2NodeClass/b", {"metadata": {"finalizers": [HOLD]}})
    for address in here.objects():
        here.make_ready(address)
    return here


def states(result: Result) -> dict[str, str]:
    return {each.address: each.state for each in result.outcomes if each.action == "delete"}


def test_a_class_is_deleted_once_it_is_gone(kept: Kept) -> None:
    here = with_finalizer(kept)
    Ending(here, 0, 20)
    found = here.look(blueprints.chosen({"a": 0}), PRUNE)

    result = here.carry_out(found, wait="ready")

    assert states(result) == {"NodePool/b": "done", "EC2NodeClass/b": "done"}
    assert kept.clock.now >= 20
    ensure_complete(result)
    assert here.objects().keys() == here.inventory().keys() == {"NodePool/a", "EC2NodeClass/a"}
    assert [f"{each.address} {each.message}" for each in here.done if each.state == "deleting"] == [
        f"EC2NodeClass/b deleting (finalizer {HOLD})"
    ]


def test_what_is_not_gone_in_time_is_still_listed(kept: Kept) -> None:
    here = with_finalizer(kept)
    here.timeout = 30
    wanted = blueprints.chosen({"a": 0})

    result = here.carry_out(here.look(wanted, PRUNE), wait="ready")

    said = rf"not deleted in time: EC2NodeClass/b deleting \(finalizer {HOLD}\)"
    with pytest.raises(NotReadyError, match=said):
        ensure_complete(result)
    assert (
        here.inventory().keys() == here.objects().keys() == {"NodePool/a", "EC2NodeClass/a", "EC2NodeClass/b"}
    )

    again = here.look(wanted, PRUNE)
    assert next(each.reason for each in again.prepared.deletions).startswith(
        "no longer in the blueprint; it is being deleted since "
    )
    assert not is_settled(again)
    mark = len(here.server.requests)
    Ending(here, 0, 5)
    ensure_complete(here.carry_out(again, wait="ready"))

    assert here.written(mark) == []
    assert here.inventory().keys() == here.objects().keys() == {"NodePool/a", "EC2NodeClass/a"}


def test_without_waiting_it_is_said_and_listed(kept: Kept) -> None:
    here = with_finalizer(kept)

    result = here.carry_out(here.look(blueprints.chosen({"a": 0}), PRUNE))

    assert states(result) == {"NodePool/b": "done", "EC2NodeClass/b": "deleting"}
    ensure_complete(result)
    assert "EC2NodeClass/b" in here.inventory()


def test_a_class_that_is_wanted_again_while_it_goes_holds_back_itself_alone(kept: Kept) -> None:
    here = with_finalizer(kept)
    here.carry_out(here.look(blueprints.chosen({"a": 0}), PRUNE))
    both = blueprints.chosen({"a": 1, "b": 0})

    with pytest.raises(
        GuardError, match=r"blocked: EC2NodeClass/b: it is being deleted since .* Run the same"
    ):
        here.apply(both)

    assert here.specs()["NodePool/a"] == fresh_specs(kept, both)["NodePool/a"]
    here.change("EC2NodeClass/b", {"metadata": {"finalizers": None}})
    here.apply(both)
    assert here.specs() == fresh_specs(kept, both)
    assert here.is_recorded()


def test_the_nodes_of_a_pool_that_goes_with_them_are_waited_for_and_then_its_class_goes(kept: Kept) -> None:
    here = with_finalizer(kept)
    here.claim("b", 2)
    Ending(here, 40, 60)
    consent = Consent(prune=True, allow_delete=("NodePool/b",))

    result = here.carry_out(here.look(blueprints.chosen({"a": 0}), consent), wait="ready")

    assert states(result) == {"NodePool/b": "done", "EC2NodeClass/b": "done"}
    assert here.objects().keys() == {"NodePool/a", "EC2NodeClass/a"}


def test_a_class_stays_with_the_nodes_of_a_pool_that_has_moved(kept: Kept) -> None:
    """It goes with a later prune, when the last of them is replaced."""
    here = with_finalizer(kept)
    moved = blueprints.chosen({"a": 0, "b": 0})
    here.claim("b", 1)
    here.change("NodePool/b", {"spec": {"template": {"spec": {"nodeClassRef": {"name": "a"}}}}}, "gpupool")
    here.delete("NodePool/b")
    without = blueprints.chosen({"a": 0})
    assert moved.manifests != without.manifests

    with pytest.raises(GuardError, match="EC2NodeClass/b: it still has 1 NodeClaim"):
        here.apply(without, PRUNE)

    assert "EC2NodeClass/b" in here.inventory()
    assert not here.objects()["EC2NodeClass/b"]["metadata"].get("deletionTimestamp")
    here.send(Request("DELETE", NODE_CLAIM.path_of("b-0")))
    here.apply(without, PRUNE)
    assert here.objects()["EC2NodeClass/b"]["metadata"]["deletionTimestamp"]


def test_a_pool_of_others_keeps_its_class(kept: Kept) -> None:
    here = with_finalizer(kept)
    foreign = here.objects()["NodePool/b"]
    here.create("NodePool/foreign", foreign, "kubectl")
    wanted = blueprints.chosen({"a": 0})

    found = here.look(wanted, PRUNE)
    ensure_complete(here.carry_out(found))

    said = "EC2NodeClass/b is no longer in the blueprint and is kept: NodePool/foreign refers to it"
    assert said in found.plan.warnings
    assert {"EC2NodeClass/b", "NodePool/foreign"} <= here.objects().keys()
    assert here.apply(wanted, PRUNE) is None


def test_a_pool_of_others_that_comes_in_between_keeps_its_class(kept: Kept) -> None:
    here = with_finalizer(kept)
    foreign = here.objects()["NodePool/b"]
    found = here.look(blueprints.chosen({"a": 0}), PRUNE)

    def act(request: Request) -> None:
        if request.method == "DELETE":
            here.server.hooks.clear()
            here.create("NodePool/foreign", foreign, "kubectl")

    here.server.hooks.append(act)
    with pytest.raises(GuardError, match="EC2NodeClass/b: NodePool/foreign refers to it"):
        ensure_complete(here.carry_out(found))

    assert "EC2NodeClass/b" in here.objects()


def test_what_is_protected_at_the_last_moment_stays(kept: Kept) -> None:
    here = with_finalizer(kept)
    found = here.look(blueprints.chosen({"a": 0}), PRUNE)

    def act(request: Request) -> None:
        if request.method == "DELETE":
            here.server.hooks.clear()
            here.change("NodePool/b", {"metadata": {"annotations": {"gpupool.dev/protect": "true"}}})

    here.server.hooks.append(act)
    with pytest.raises(
        GuardError, match=r"NodePool/b: gpupool.dev/protect protects it; EC2NodeClass/b: NodePool/b"
    ):
        ensure_complete(here.carry_out(found))

    assert {"NodePool/b", "EC2NodeClass/b"} <= here.inventory().keys()


def test_a_pool_is_drained_and_then_goes(kept: Kept) -> None:
    here = with_finalizer(kept)
    here.claim("b", 2)
    Ending(here, 40, 60)

    result = here.carry_out(here.look(blueprints.chosen({"a": 0}), DRAIN), wait="ready")

    ensure_complete(result)
    assert here.written() == ["PATCH NodePool/b", "DELETE NodePool/b", "DELETE EC2NodeClass/b"]
    drained = next(each.body for each in here.writes() if "nodepools" in each.path)
    assert plain_map(plain_map(drained)["spec"])["limits"] == {"cpu": "0", "nvidia.com/gpu": 8}
    assert here.objects().keys() == here.inventory().keys() == {"NodePool/a", "EC2NodeClass/a"}


def test_a_pool_that_is_not_empty_in_time_is_held_back_and_launches_nothing(kept: Kept) -> None:
    """It is as before once the blueprint has it again."""
    here = with_finalizer(kept)
    here.claim("b", 2)
    here.timeout = 30
    without, with_b = blueprints.chosen({"a": 0}), blueprints.chosen({"a": 0, "b": 0})

    with pytest.raises(GuardError, match="NodePool/b: it still has 2 NodeClaims"):
        ensure_complete(here.carry_out(here.look(without, DRAIN), wait="ready"))

    assert here.specs()["NodePool/b"]["limits"]["cpu"] == "0"
    assert {"NodePool/b", "EC2NodeClass/b"} <= here.inventory().keys()
    here.apply(with_b)
    assert here.specs() == fresh_specs(kept, with_b)


def test_a_pool_of_so_many_nodes_is_drained_by_their_number(kept: Kept) -> None:
    here = with_finalizer(kept)
    here.claim("b", 1)
    here.change("NodePool/b", {"spec": {"replicas": 1}}, "gpupool")

    here.carry_out(here.look(blueprints.chosen({"a": 0}), DRAIN))

    assert here.specs()["NodePool/b"]["replicas"] == 0
    assert "cpu" not in here.specs()["NodePool/b"]["limits"]
