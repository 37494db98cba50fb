"""A saved plan is done as long as it is true; when it is not, nothing at all is written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from gpupool import api
from gpupool.cluster.client import Request
from gpupool.errors import OutdatedError
from gpupool.objects import is_pool
from gpupool.planning.foreign_fields import PART_OF
from gpupool.planning.plan import Consent
from gpupool.planning.pruning import read_node_class
from gpupool.rollout import session
from gpupool.rollout.applying.results import ensure_complete
from gpupool.rollout.planning.verify import StalePlanError
from gpupool.rollout.session import ensure_applicable
from tests.memory import blueprints
from tests.memory.worlds import inventory_path, missing_leaves
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
from tests.rollout.decisions.test_drift import EDITS, is_ours

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from gpupool.planning.plan import Plan
    from gpupool.rollout.applying.apply import ApplyOptions
    from gpupool.rollout.desired_state import DesiredState
    from tests.memory.schemas import Body
    from tests.memory.worlds import Kept, World

CASES: Final = 3_000


# What somebody does to an object between plan and apply. Each returns whether the plan is no longer true, by the body
# that the blueprint has for the object; None for what is about to be deleted.


def write_status(here: World, address: str, _random: Random, _body: Body | None) -> bool:
    here.make_ready(address)
    return False


def write_hash(here: World, address: str, _random: Random, _body: Body | None) -> bool:
    here.change(address, {"metadata": {"annotations": {"karpenter.sh/nodepool-hash": "7"}}}, "karpenter")
    return False


def label(here: World, address: str, _random: Random, body: Body | None) -> bool:
    """Who labels what is about to be deleted may mean to keep it."""
    here.change(address, {"metadata": {"labels": {"example.com/team": "x"}}})
    return body is None


def edit(here: World, address: str, random: Random, body: Body | None) -> bool:
    """A change counts where the blueprint says something, and in all of what is about to be deleted."""
    choices = [each for each in EDITS[address.partition("/")[0]] if each.path[0] == "spec"]
    chosen = random.choice(choices)
    here.change(address, chosen.patch)
    return body is None or is_ours(chosen, body)


def edit_as_planned(here: World, address: str, _random: Random, body: Body | None) -> bool:
    """Somebody does what the plan was to do."""
    if body is None:
        return False
    here.change(address, {"spec": body["spec"]})
    return False


def take_over(here: World, address: str, _random: Random, _body: Body | None) -> bool:
    here.change(address, {"metadata": {"labels": {PART_OF: "applyset-other-v1"}}})
    return True


def delete(here: World, address: str, _random: Random, body: Body | None) -> bool:
    here.delete(address)
    return body is not None


def hold(here: World, address: str, _random: Random, body: Body | None) -> bool:
    here.change(address, {"metadata": {"finalizers": ["example.com/hold"]}})
    here.delete(address)
    return body is not None


def create_anew(here: World, address: str, _random: Random, _body: Body | None) -> bool:
    live = here.objects()[address]
    here.delete(address)
    here.create(address, live)
    return True


EVENTS: Final = (
    write_status, write_status, write_hash, label, edit, edit, edit_as_planned, take_over, delete, hold, create_anew,
)  # fmt: skip


def held_classes(plan: Plan, happened: Mapping[str, str], before: Mapping[str, Body]) -> set[str]:
    """Return the classes that a plan deletes and that pools still refer to, which something holds."""
    deleted = {each.ref for each in plan.changes if each.actions == ("delete",) and plan.consent.prune}
    held = {ref for ref in deleted if is_pool(ref) and happened.get(str(ref)) == "hold"}
    return {str(ref) for ref in deleted & {read_node_class(before[str(ref)]) for ref in held}}


@pytest.mark.parametrize("features", [("NodeOverlay",), ()])
def test_a_saved_plan_waits_for_overlays_where_their_gate_is_on(
    kept: Kept, features: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    random = chance(1)
    start = draw_start(random)
    plan = world(kept, start).saved(blueprints.chosen(start), Consent())
    assert plan.source.features == ("NodeOverlay",), "as in the blueprint"
    options: list[ApplyOptions] = []
    monkeypatch.setattr(session, "carry_out_saved", lambda *given: options.append(given[-1]))

    api.apply_plan(replace(plan, source=replace(plan.source, features=features)))

    assert [each.is_overlay_gate_on for each in options] == [bool(features)]


@pytest.mark.parametrize("part", range(PARTS))
@expecting("refused", "done")
def test_what_happens_between_plan_and_apply(kept: Kept, part: int) -> None:
    for seed in seeds(part, CASES):
        random = chance(seed)
        first = draw_start(random)
        here, wanted = world(kept, first), blueprints.chosen(blueprints.redraw(random, first) | {"a": 2})
        consent = EVERYTHING if random.random() < 0.5 else Consent()
        plan = here.saved(wanted, consent)
        ensure_applicable(plan)
        happened, is_stale = meddle(random, here, wanted)
        before, inventory, mark = here.objects(), here.inventory(), len(here.server.requests)
        if is_stale:
            with pytest.raises(StalePlanError):
                here.carry_out_saved(plan)
            assert (here.objects(), here.inventory()) == (before, inventory), (seed, happened)
            assert {each.path.rpartition("/")[2] for each in here.writes(mark)} <= {
                "leases",
                wanted.inventory,
            }, seed
            outcomes["refused"] += 1
        else:
            result = here.carry_out_saved(plan)
            # A pool that is being deleted refers to its class for as long as something holds it.
            blocked = {each.address for each in result.of("held back") if "refers to it" in each.message}
            assert blocked <= held_classes(plan, happened, before), (seed, happened)
            ensure_complete(
                result._replace(
                    outcomes=tuple(each for each in result.outcomes if each.address not in blocked)
                )
            )
            live = here.objects()
            for address, body in blueprints.bodies(wanted).items():
                assert [*missing_leaves(body, live[address])] == [], (seed, happened)
            outcomes["done"] += 1
            with pytest.raises(OutdatedError, match="another run applied this blueprint since"):
                here.carry_out_saved(plan)
        assert not here.is_locked()


def meddle(random: Random, here: World, wanted: DesiredState) -> tuple[dict[str, str], bool]:
    """Let others do something to a few objects; return what, and whether a plan made before is no longer true."""
    bodies = blueprints.bodies(wanted)
    happened, is_stale = {}, False
    rate = random.choice((0.1, 0.3))
    for address in sorted(here.objects()):
        if random.random() < rate:
            act = random.choice(
                EVENTS if random.random() < 0.4 else (write_status, write_hash, edit_as_planned)
            )
            is_stale |= act(here, address, random, bodies.get(address))
            happened[address] = act.__name__
    if random.random() < 0.05:
        address = random.choice(sorted(bodies))
        if address not in here.objects():
            here.create(address, bodies[address])
            happened[address], is_stale = "create", True
    return happened, is_stale


@pytest.mark.parametrize(
    "address", ["NodePool/a", "EC2NodeClass/shared", "NodePool/d", "NodePool/b", "EC2NodeClass/b"]
)
@pytest.mark.parametrize("act", dict.fromkeys(EVENTS))
def test_each_event_alone(kept: Kept, act: Callable[..., bool], address: str) -> None:
    """On an object that changes, on some that stay, and on some that go."""
    here = world(kept, {"a": 0, "b": 0, "d": 1})
    wanted = blueprints.chosen({"a": 1, "d": 1})
    plan = here.saved(wanted, EVERYTHING)
    is_stale = act(here, address, chance(0), blueprints.bodies(wanted).get(address))
    before = here.objects()
    if is_stale:
        with pytest.raises(StalePlanError):
            here.carry_out_saved(plan)
        assert here.objects() == before
    else:
        result = here.carry_out_saved(plan)
        # A class stays as long as its pool is there, and be it about to go.
        is_held = act is hold and address == "NodePool/b"
        assert [each.address for each in result.of("held back")] == ["EC2NodeClass/b"] * is_held
        going = [address] if act is hold and address.endswith("/b") else []
        left = {each for each in here.objects() if each.endswith("/b")}
        assert left == {*going, *(["EC2NodeClass/b"] if is_held else [])}


def test_a_later_apply_of_the_same_blueprint(kept: Kept) -> None:
    here = world(kept, {"a": 0, "b": 0})
    plan = here.saved(blueprints.chosen({"a": 1, "b": 0}))
    here.apply(blueprints.chosen({"a": 0, "b": 1}))
    before = here.objects()

    with pytest.raises(StalePlanError, match="the inventory's serial is 2, and was 1"):
        here.carry_out_saved(plan)

    assert here.objects() == before


@pytest.mark.parametrize("is_made_anew", [False, True])
def test_an_inventory_that_is_gone(kept: Kept, is_made_anew: bool) -> None:
    """Another one may have the same serial: it is not the one that the plan was made with."""
    here, wanted = world(kept, {"a": 0}), blueprints.chosen({"a": 1})
    plan, old = here.saved(wanted), here.server.objects("configmaps")[wanted.inventory]
    path = inventory_path(wanted)
    assert here.send(Request("DELETE", path)).ok
    if is_made_anew:
        metadata = {key: old["metadata"][key] for key in ("name", "labels", "annotations")}
        assert here.send(Request("POST", path.rpartition("/")[0], {}, {**old, "metadata": metadata})).ok
    before = here.objects()

    with pytest.raises(StalePlanError):
        here.carry_out_saved(plan)

    assert here.objects() == before
