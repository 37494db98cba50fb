"""What others change in objects of ours: seen, contested or left alone, and never overwritten without consent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from gpupool.errors import ConflictError, GuardError
from gpupool.planning.foreign_fields import PART_OF
from gpupool.planning.plan import Consent
from gpupool.rollout.applying.results import ensure_complete
from gpupool.rollout.session import ensure_applicable, is_settled
from tests.memory import blueprints
from tests.memory.fieldsets import decode
from tests.memory.schemas import resources
from tests.memory.values import fields_of
from tests.memory.worlds import missing_leaves
from tests.rollout.decisions.cases import (
    PARTS,
    chance,
    draw_start,
    expecting,
    fresh_specs,
    outcomes,
    seeds,
    world,
)

if TYPE_CHECKING:
    from random import Random

    from tests.memory.schemas import Body
    from tests.memory.worlds import Kept, World

CASES: Final = 4_000


class Edit(NamedTuple):
    """A field of an object, and what somebody else makes of it: a value that no blueprint has."""

    path: tuple[str, ...]
    value: Any

    @property
    def patch(self) -> Body:
        """Return it as a merge patch."""
        value = self.value
        for key in reversed(self.path):
            value = {key: value}
        return dict(value)

    @property
    def title(self) -> str:
        """Return the path as the API server writes it."""
        return ".".join(self.path)

    def is_said_by(self, body: Body) -> bool:
        """Return whether a blueprint's object has a value at this place."""
        at: Any = body
        for key in self.path:
            at = at.get(key) if isinstance(at, dict) else None
        return at is not None


EDITS: Final = {
    "NodePool": (
        Edit(("spec", "limits", "nvidia.com/gpu"), 777),
        Edit(("spec", "limits", "memory"), "7Ti"),
        Edit(("spec", "weight"), 77),
        Edit(("spec", "disruption", "consolidateAfter"), "777s"),
        Edit(("spec", "template", "spec", "expireAfter"), "777h"),
        Edit(("spec", "template", "spec", "terminationGracePeriod"), "7h"),
        Edit(("spec", "template", "metadata", "labels"), {"example.com/rack": "7"}),
        Edit(("spec", "template", "metadata", "annotations", "example.com/note"), "x"),
        Edit(
            ("spec", "template", "spec", "startupTaints"), [{"key": "example.com/x", "effect": "NoExecute"}]
        ),
        Edit(("metadata", "labels", "gpupool.dev/blueprint"), "another"),
        Edit(("metadata", "annotations", "example.com/note"), "x"),
    ),
    "EC2NodeClass": (
        Edit(("spec", "role"), "somebody"),
        Edit(("spec", "securityGroupSelectorTerms"), [{"id": "sg-7"}]),
        Edit(("spec", "tags", "v"), "777"),
        Edit(("spec", "tags", "more"), "777"),
        Edit(("spec", "tags", "example.com/other"), "x"),
        Edit(("spec", "detailedMonitoring"), True),
        Edit(("spec", "kubelet", "maxPods"), 77),
    ),
    "NodeOverlay": (
        Edit(("spec", "capacity", "nvidia.com/gpu"), "777"),
        Edit(("spec", "capacity", "example.com/slots"), "7"),
        Edit(("metadata", "annotations", "example.com/note"), "x"),
    ),
}
BLUEPRINT = ("metadata", "labels", "gpupool.dev/blueprint")


@pytest.mark.parametrize("part", range(PARTS))
@expecting("contested", "ours", "theirs")
def test_what_others_change(kept: Kept, part: int) -> None:
    for seed in seeds(part, CASES):
        random = chance(seed)
        first = draw_start(random)
        here = world(kept, first)
        wanted = blueprints.chosen(blueprints.redraw(random, first) | {"a": 1})
        bodies = blueprints.bodies(wanted)
        edits = draw_edits(random, here, bodies)
        consent = Consent(on_conflict=random.choice(("fail", "take", "take", "take=spec.limits,spec.role")))
        contested = {
            address: edit.title
            for address, (edit, manager) in edits.items()
            if is_ours(edit, bodies[address]) and not is_taken(consent, edit, manager)
        }
        found = here.look(wanted, consent)
        conflicts = {
            (each.address, one.path.replace("[", ".").replace("]", ""), one.manager)
            for each in found.plan.changes
            for one in each.conflicts
        }
        assert conflicts == {(each, title, edits[each][1]) for each, title in contested.items()}, seed
        version = here.server.version
        if contested:
            with pytest.raises(ConflictError):
                ensure_applicable(found.plan)
            assert here.server.version == version
            outcomes["contested"] += 1
            continue
        ensure_applicable(found.plan)
        if not is_settled(found):
            ensure_complete(here.carry_out(found))
        ensure_merged(here, bodies, edits, fresh_specs(kept, wanted))
        version = here.server.version
        assert here.apply(wanted, consent) is None, seed
        assert here.server.version == version


def draw_edits(random: Random, here: World, bodies: dict[str, Body]) -> dict[str, tuple[Edit, str]]:
    """Draw what others change in objects that the blueprint has, one thing in each of a few, and let them."""
    found = {}
    for address in sorted(here.objects().keys() & bodies.keys()):
        if random.random() < 0.25:
            edit = random.choice(EDITS[address.partition("/")[0]])
            if edit.path[0] == "spec" and random.random() < 0.3:
                assert here.impose(address, edit.patch["spec"]).ok
                found[address] = (edit, "argocd-controller")
            else:
                assert here.change(address, edit.patch).ok
                found[address] = (edit, "kubectl-edit")
    return found


def is_ours(edit: Edit, body: Body) -> bool:
    """Return whether the blueprint has a value at this place; the label that names it is never in what it says."""
    return edit.path == BLUEPRINT or edit.is_said_by(body)


def is_taken(consent: Consent, edit: Edit, manager: str) -> bool:
    """Return whether a field may be overwritten, by what was agreed to."""
    if manager != "kubectl-edit" or consent.on_conflict == "fail":
        return False
    return consent.on_conflict == "take" or edit.title.startswith(("spec.limits.", "spec.role"))


def ensure_merged(
    here: World, bodies: dict[str, Body], edits: dict[str, tuple[Edit, str]], clean: dict[str, Any]
) -> None:
    """Ensure that each object has all that the blueprint says, what others said elsewhere, and nothing more."""
    live = here.objects()
    for address, body in bodies.items():
        assert [*missing_leaves(body, live[address])] == []
        theirs = edits[address][0] if address in edits else None
        if theirs is None or is_ours(theirs, body):
            assert live[address]["spec"] == clean[address]
            outcomes["ours"] += theirs is not None
        else:
            assert [*missing_leaves(theirs.patch, live[address])] == []
            more = set(missing_leaves(live[address]["spec"], clean[address]))
            wanted = {f".{theirs.title}".removeprefix(".spec")} if theirs.path[0] == "spec" else set()
            assert {path for path in more if not path.startswith(tuple(wanted))} == set()
            outcomes["theirs"] += 1


@pytest.mark.parametrize("pool", blueprints.POOLS)
def test_what_was_edited_and_put_back_is_ours_again(kept: Kept, pool: str) -> None:
    """Who edits a field owns it from then on, though it says the same again; it would be contested for ever."""
    wanted = blueprints.chosen({pool: 1})
    for address, body in blueprints.bodies(wanted).items():
        for edit in EDITS[address.partition("/")[0]]:
            if not edit.is_said_by(body):
                continue
            here = world(kept, {pool: 1})
            old = here.objects()[address]
            assert here.change(address, edit.patch).ok
            assert here.replace(address, old).ok
            assert not owns(here, address, body)

            assert here.apply(wanted) is not None

            assert here.objects()[address]["spec"] == old["spec"]
            assert owns(here, address, body)
            assert here.apply(wanted) is None


def owns(here: World, address: str, body: Body) -> bool:
    """Return whether gpupool has applied every field of a body, by the managed fields."""
    entries = here.objects()[address]["metadata"]["managedFields"]
    own = next(each for each in entries if (each["manager"], each["operation"]) == ("gpupool", "Apply"))
    (type_,) = (each.type for each in resources() if each.kind == body["kind"])
    return {each for each in fields_of(body, type_) if each[0] == "f:spec"} <= decode(own["fieldsV1"])


def test_an_object_of_others(kept: Kept) -> None:
    """It is not written without consent; with it, what they said elsewhere is shown, and stays."""
    here, wanted = world(kept, {"a": 0}), blueprints.chosen({"a": 0, "b": 0})
    body = blueprints.bodies(wanted)["NodePool/b"]
    body = {**body, "spec": {**body["spec"], "weight": 77, "limits": {"memory": "7Ti"}}}
    here.create("NodePool/b", body)
    before = here.objects()

    found = here.look(wanted)
    (change,) = [each for each in found.plan.changes if each.address == "NodePool/b"]
    assert "adopt it with --adopt" in change.blocked
    with pytest.raises(ConflictError, match="To adopt: --adopt NodePool/b"):
        here.apply(wanted)
    assert here.objects() == before

    here.apply(wanted, Consent(adopt=("NodePool/b",)))
    live = here.objects()["NodePool/b"]
    assert live["metadata"]["uid"] == before["NodePool/b"]["metadata"]["uid"]
    assert (live["spec"]["weight"], live["spec"]["limits"]) == (10, {"memory": "7Ti", "nvidia.com/gpu": 8})
    assert here.apply(wanted) is None


def test_an_object_of_another_set_is_never_taken_over(kept: Kept) -> None:
    here, wanted = world(kept, {"a": 0}), blueprints.chosen({"a": 1})
    here.change("NodePool/a", {"metadata": {"labels": {PART_OF: "applyset-other-v1"}}})
    before = here.objects()
    for consent in (Consent(), Consent(adopt=("NodePool/a",), on_conflict="take")):
        with pytest.raises(ConflictError):
            here.apply(wanted, consent)
    assert here.objects() == before


def test_an_object_that_is_being_deleted_is_not_written_and_the_others_are(kept: Kept) -> None:
    here, wanted = world(kept, {"a": 0}), blueprints.chosen({"a": 1})
    here.change("NodePool/a", {"metadata": {"finalizers": ["example.com/hold"]}})
    here.delete("NodePool/a")
    before = here.objects()

    said = r"NodePool/a: it is being deleted since .*, held by example\.com/hold\. Run the same command again"
    with pytest.raises(GuardError, match=said):
        here.apply(wanted)

    assert here.written() == ["PATCH EC2NodeClass/a"]
    assert here.objects()["NodePool/a"] == before["NodePool/a"]
    assert here.inventory().keys() == {"NodePool/a", "EC2NodeClass/a"}

    here.change("NodePool/a", {"metadata": {"finalizers": None}})
    here.apply(wanted)

    assert here.specs() == fresh_specs(kept, wanted)
    assert here.is_recorded()


def test_what_is_gone_by_now_is_made_by_the_next_apply(kept: Kept) -> None:
    """A saved plan creates nothing that it did not say."""
    here, wanted = world(kept, {"a": 0}), blueprints.chosen({"a": 1})
    here.change("NodePool/a", {"metadata": {"finalizers": ["example.com/hold"]}})
    here.delete("NodePool/a")
    plan = here.saved(wanted)
    here.change("NodePool/a", {"metadata": {"finalizers": None}})

    with pytest.raises(GuardError, match="NodePool/a: it is being deleted"):
        ensure_complete(here.carry_out_saved(plan))

    assert here.objects().keys() == {"EC2NodeClass/a"}
    here.apply(wanted)
    assert here.specs() == fresh_specs(kept, wanted)
