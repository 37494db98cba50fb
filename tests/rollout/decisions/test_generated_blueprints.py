"""Blueprints with any fields: after an apply there is nothing to do, whatever was there before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, given, settings

from gpupool.rollout.session import is_settled
from tests import strategies
from tests.memory import blueprints
from tests.memory.worlds import World, missing_leaves
from tests.rollout.decisions.cases import EVERYTHING
from tests.tiers import volume

if TYPE_CHECKING:
    from pathlib import Path

    from gpupool.rollout.desired_state import DesiredState
    from tests.memory.worlds import Kept


FEWEST = 30


def test_from_one_generated_blueprint_to_the_next(kept: Kept, tmp_path: Path) -> None:
    settled: list[str] = []

    @settings(
        derandomize=True, deadline=None, database=None, max_examples=volume(400, at_least=0), phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],
    )  # fmt: skip
    @given(first=strategies.blueprints(), second=strategies.blueprints())
    def settles(first: strategies.Words, second: strategies.Words) -> None:
        here = World(kept)
        for words in (first, second):
            wanted = blueprints.read(words, tmp_path)
            if all(each.passed for each in here.look(wanted, EVERYTHING).plan.guards):
                ensure_settled(here, wanted)
                settled.append(wanted.blueprint)

    settles()
    # The others refer to classes that the blueprint does not declare.
    assert len(settled) >= 2 * FEWEST


def ensure_settled(here: World, wanted: DesiredState) -> None:
    """Ensure that an apply leaves what the blueprint says, and nothing to do."""
    here.apply(wanted, EVERYTHING)
    version = here.server.version

    again = here.look(wanted, EVERYTHING)

    assert is_settled(again)
    assert {each.actions for each in again.plan.changes} == {("no-op",)}
    assert (again.plan.orphans, again.plan.lost, again.plan.warnings) == ((), (), ())
    assert [each.residue for each in again.plan.changes if each.residue] == []
    assert here.apply(wanted, EVERYTHING) is None
    assert here.server.version == version
    live = here.objects()
    assert live.keys() == {each.desired.address for each in again.prepared.assessed}
    for each in again.prepared.assessed:
        # The server fills in what a budget leaves out.
        missing = {*missing_leaves(dict(each.desired.body), live[each.desired.address])}
        assert missing <= {".spec.disruption.budgets"}
