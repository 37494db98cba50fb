"""From one edition of a blueprint to the next: what is planned is what is written, and nothing else goes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pytest

from gpupool.errors import GuardError
from gpupool.planning.foreign_fields import PART_OF
from gpupool.planning.plan import Consent
from gpupool.rollout.applying.results import ensure_complete
from gpupool.rollout.session import ensure_applicable, is_settled
from tests.memory import blueprints
from tests.memory.worlds import own_set
from tests.rollout.decisions.cases import (
    PARTS,
    chance,
    classes_in_use,
    draw_start,
    expecting,
    fresh_specs,
    in_order,
    outcomes,
    seeds,
    world,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from gpupool.rollout.session import Session
    from tests.memory.schemas import Body
    from tests.memory.worlds import Kept, World

CASES: Final = 4_000


@dataclass
class Case:
    """Two editions of a blueprint, what was agreed to, and what others did in between."""

    before: dict[str, Body]
    after: dict[str, Body]
    consent: Consent
    claims: Counter[str]
    """NodeClaims of each NodePool, by address."""

    spared: set[str] = field(default_factory=set)
    """Objects that are no longer provably gpupool's."""

    @property
    def gone(self) -> set[str]:
        """Return what the second edition has no more."""
        return self.before.keys() - self.after.keys()

    @property
    def doomed(self) -> set[str]:
        """Return what of it is a deletion of the plan: a class stays with the pools that stay."""
        pools = {**self.before, **self.after}
        staying = {each: pools[each] for each in (self.after.keys() | self.spared) if each in pools}
        return self.gone - self.spared - classes_in_use(staying)

    @property
    def is_refused(self) -> bool:
        """Return whether more NodePools would go than was agreed to."""
        pools = [each for each in self.doomed if each.startswith("NodePool/")]
        return self.consent.prune and len(pools) > self.consent.max_deletes

    @property
    def held(self) -> set[str]:
        """Return what is kept of the plan's deletions: pools with nodes, and classes of nodes."""
        busy = {each for each in self.doomed if self.claims[each] and each not in self.consent.allow_delete}
        with_nodes = {each: self.before[each] for each in self.before if self.claims[each]}
        return busy | (self.doomed & classes_in_use(with_nodes))

    @property
    def deleted(self) -> set[str]:
        """Return what is deleted in the end."""
        return self.doomed - self.held if self.consent.prune else set()

    @property
    def written(self) -> list[str]:
        """Return the writes, kind by kind in their order."""
        changed = {each for each, body in self.after.items() if self.before.get(each) != body}
        deletions = in_order(self.deleted, backwards=True)
        return [f"PATCH {each}" for each in in_order(changed)] + [f"DELETE {each}" for each in deletions]


def draw_consent(random: Random, pools: list[str]) -> Consent:
    """Draw what is agreed to."""
    allowed = tuple(each for each in pools if random.random() < 0.3)
    return Consent(
        prune=random.random() < 0.7,
        max_deletes=random.choice((0, 1, 2, 99, 99)),
        allow_delete=allowed,
        allow_empty=True,
    )


@pytest.mark.parametrize("part", range(PARTS))
@expecting("refused", "held back", "PATCH", "DELETE", "as if nothing had been there before")
def test_from_one_edition_to_the_next(kept: Kept, part: int) -> None:
    for seed in seeds(part, CASES):
        random = chance(seed)
        first = draw_start(random)
        second = blueprints.redraw(random, first)
        here, wanted = world(kept, first), blueprints.chosen(second)
        pools = [each for each in here.objects() if each.startswith("NodePool/")]
        claims: Counter[str] = Counter()
        for pool in pools:
            claims[pool] = random.choice((0, 0, 0, 1, 3))
            here.claim(pool.partition("/")[2], claims[pool])
        before, after = blueprints.bodies(blueprints.chosen(first)), blueprints.bodies(wanted)
        case = Case(before, after, draw_consent(random, pools), claims)
        for address in sorted(case.gone):
            if random.random() < 0.15:
                random.choice(SPARING)(here, address)
                case.spared.add(address)
        meddle(random, here)
        check(here, case, here.look(wanted, case.consent), seed)
        if (
            not case.is_refused
            and not case.held
            and not case.spared
            and (case.consent.prune or not case.gone)
        ):
            assert here.specs() == fresh_specs(kept, wanted), seed
            outcomes["as if nothing had been there before"] += 1


def meddle(random: Random, here: World) -> None:
    """Let others do what is nobody's concern: write a status, a hash, a label of their own."""
    for address in here.objects():
        if random.random() < 0.3:
            here.make_ready(address, random.choice(("True", "False")))
        if random.random() < 0.2:
            here.change(
                address, {"metadata": {"annotations": {"karpenter.sh/nodepool-hash": "1"}}}, "karpenter"
            )
        if random.random() < 0.2:
            here.change(address, {"metadata": {"labels": {"example.com/team": "x"}}})


def check(here: World, case: Case, found: Session, seed: int) -> None:
    """Ensure that a plan says what is to be done, and that this is done, and nothing else."""
    plan, version, mark = found.plan, here.server.version, len(here.server.requests)
    fates = {each.address: each.actions for each in plan.changes}
    assert fates == {
        **{
            each: ("no-op",) if case.before.get(each) == body else ("update",)
            for each, body in case.after.items()
        },
        **dict.fromkeys(case.after.keys() - case.before.keys(), ("create",)),
        **dict.fromkeys(case.doomed, ("delete",)),
    }, seed
    if case.is_refused:
        with pytest.raises(GuardError, match="--max-deletes is"):
            ensure_applicable(plan)
        assert here.server.version == version
        outcomes["refused"] += 1
        return
    ensure_applicable(plan)
    teams = foreign_labels(here)
    uids = here.uids()
    if not is_settled(found):
        result = here.carry_out(found)
        if case.held and case.consent.prune:
            with pytest.raises(GuardError, match="the rest was applied; blocked"):
                ensure_complete(result)
            outcomes["held back"] += 1
        else:
            ensure_complete(result)
    written = here.written(mark)
    assert sorted(written) == sorted(case.written), seed
    assert [each.partition("/")[0] for each in written] == [
        each.partition("/")[0] for each in case.written
    ], seed
    outcomes.update(each.partition(" ")[0] for each in case.written)
    bodies = {each.address: each.body for each in plan.changes}
    for request in here.writes(mark):
        if request.method == "PATCH" and "nodepools" in request.path:
            assert (
                without_preconditions(request.body) == bodies[f"NodePool/{request.path.rpartition('/')[2]}"]
            )
    ensure_others_stay(here, case, uids, teams, seed)
    ensure_settled(here, case, found, seed)


def ensure_others_stay(
    here: World, case: Case, uids: dict[str, str], teams: dict[str, object], seed: int
) -> None:
    """Ensure that what is not deleted is the same object as before, with what others wrote in it."""
    staying = uids.keys() - case.deleted
    assert {each: here.uids().get(each) for each in staying} == {each: uids[each] for each in staying}, seed
    assert {each: team for each, team in teams.items() if each in staying} == foreign_labels(here), seed


def ensure_settled(here: World, case: Case, found: Session, seed: int) -> None:
    """Ensure that there is nothing to do any more, and that the inventory says so."""
    version = here.server.version
    again = here.look(found.desired, case.consent)
    assert {each.actions for each in again.plan.changes if each.address in case.after} <= {("no-op",)}, seed
    left = {each.address for each in again.plan.changes if each.writes}
    assert left == (case.held if case.consent.prune else case.doomed), seed
    assert is_settled(again) == (not left or not case.consent.prune), seed
    assert here.server.version == version
    listed = case.after.keys() | (case.gone - case.spared - case.deleted)
    listed |= case.spared & here.inventory().keys()
    assert here.inventory().keys() == listed, seed
    live = here.objects()
    for address, (uid, generation) in here.inventory().items():
        if address in case.after:
            assert (uid, generation) == (
                live[address]["metadata"]["uid"],
                live[address]["metadata"]["generation"],
            )
    assert not here.inventory("pending")
    assert not here.is_locked()


def without_preconditions(body: object) -> object:
    """Return a body as the plan has it."""
    assert isinstance(body, dict)
    metadata = {
        key: value for key, value in body["metadata"].items() if key not in {"uid", "resourceVersion"}
    }
    return {**body, "metadata": metadata}


def foreign_labels(here: World) -> dict[str, object]:
    """Return the objects that others labelled, with their label."""
    labels = {each: body["metadata"].get("labels", {}) for each, body in here.objects().items()}
    return {each: found["example.com/team"] for each, found in labels.items() if "example.com/team" in found}


def protect(here: World, address: str) -> None:
    here.change(address, {"metadata": {"annotations": {"gpupool.dev/protect": "true"}}})


def protect_by_label(here: World, address: str) -> None:
    here.change(address, {"metadata": {"labels": {"gpupool.dev/protect": "yes"}}})


def take_label(here: World, address: str) -> None:
    here.change(address, {"metadata": {"labels": {PART_OF: None}}})


def give_other_label(here: World, address: str) -> None:
    here.change(address, {"metadata": {"labels": {PART_OF: "applyset-other-v1"}}})


def give_owner(here: World, address: str) -> None:
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}
    here.change(address, {"metadata": {"ownerReferences": [owner]}})


def create_anew(here: World, address: str) -> None:
    body = here.objects()[address]
    here.delete(address)
    here.create(address, body)


def forget_owners(here: World, address: str) -> None:
    here.change(address, {"metadata": {"managedFields": [{}]}})


SPARING: Final[tuple[Callable[[World, str], None], ...]] = (
    protect, protect_by_label, take_label, give_other_label, give_owner, create_anew, forget_owners,
)  # fmt: skip


@pytest.mark.parametrize("act", SPARING)
def test_what_is_not_provably_ours_is_kept(kept: Kept, act: Callable[[World, str], None]) -> None:
    here = world(kept, {"a": 0, "b": 0})
    act(here, "NodePool/b")
    before = here.objects()["NodePool/b"]

    found = here.look(blueprints.chosen({"a": 0}), Consent(prune=True))
    ensure_complete(here.carry_out(found))

    kept_for = "EC2NodeClass/b is no longer in the blueprint and is kept: NodePool/b refers to it"
    assert kept_for in found.plan.warnings
    assert here.objects()["NodePool/b"] == before
    assert "EC2NodeClass/b" in here.objects()


def test_what_somebody_made_in_its_place_is_not_listed(kept: Kept) -> None:
    here = world(kept, {"a": 0, "b": 0})
    create_anew(here, "NodePool/b")

    here.apply(blueprints.chosen({"a": 1}))

    assert here.inventory().keys() == {"NodePool/a", "EC2NodeClass/a", "EC2NodeClass/b"}


def test_the_label_of_the_set_is_what_the_model_says(kept: Kept) -> None:
    here = world(kept, {"a": 0})
    labels = here.objects()["NodePool/a"]["metadata"]["labels"]
    assert labels[PART_OF] == own_set(blueprints.chosen({"a": 0}))
