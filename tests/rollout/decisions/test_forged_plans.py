"""A forged plan writes what it shows, or nothing: what a file can't prove, the server is asked again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from gpupool.errors import GpupoolError, InputError, OutdatedError
from gpupool.planning import file
from gpupool.planning.compare import strip_server_fields
from gpupool.planning.masking import Masker
from gpupool.planning.plan import Consent
from tests.memory import blueprints
from tests.planning.forgeries import blind, clever
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
    from gpupool.planning.plan import Plan
    from tests.memory.worlds import Kept, World

CASES: Final = 6_000
FORGERIES: Final = 12
"""Of each plan."""


@pytest.mark.parametrize("part", range(PARTS))
@expecting("refused file", "refused", "done")
def test_what_is_done_is_what_was_shown(kept: Kept, part: int) -> None:
    for seed in seeds(part, CASES // FORGERIES):
        random = chance(seed)
        first = draw_start(random)
        here, wanted = world(kept, first), blueprints.chosen(blueprints.redraw(random, first) | {"a": 2})
        if random.random() < 0.5:
            here.change(
                "EC2NodeClass/a" if "a" in first else "NodePool/x", {"spec": {"tags": {"left": "here"}}}
            )
        plan = here.saved(wanted, EVERYTHING if random.random() < 0.5 else Consent())
        state = here.server.state
        for _ in range(FORGERIES):
            text = blind(random, plan) if random.random() < 0.4 else file.render_plan(clever(random, plan))
            here.server.restore(state)
            outcomes[outcome(here, text, seed)] += 1


def outcome(here: World, text: str, seed: int) -> str:
    """Apply a plan file; return what came of it, having ensured that nothing was done that it does not show."""
    try:
        plan = file.parse_plan(text.encode(), "plan.json")
    except (InputError, OutdatedError):
        return "refused file"
    before, mark = dict(here.objects()), len(here.server.requests)
    code = 0
    try:
        here.carry_out_saved(plan)
    except GpupoolError as problem:
        code = problem.exit_code
    if not code:
        ensure_shown(here, plan, before, seed)
        return "done"
    assert (code in {1, 3, 4, 5}, here.objects(), here.written(mark)) == (True, before, []), seed
    return "refused"


def ensure_shown(here: World, plan: Plan, before: dict[str, Any], seed: int) -> None:
    """Ensure that each object is what a plan shows, and each that it does not name is as it was."""
    data = next(iter(here.server.objects("configmaps").values()))["data"]
    masker, live = Masker((), plan.target.uid, json.loads(data["key"]).encode()), here.objects()
    changes = {each.address: each for each in plan.changes}
    for address in {*before, *live, *changes}:
        change, now = changes.get(address), live.get(address)
        if change is None or not change.writes:
            assert now == before.get(address), (seed, address)
        elif change.actions == ("delete",):
            assert now is None or now == before[address], (seed, address)
            assert now is not None or plan.consent.prune, (seed, address)
            assert masker.mask(address, strip_server_fields(dict(before[address]))) == change.before, (
                seed,
                address,
            )
        else:
            assert masker.mask(address, strip_server_fields(dict(live[address]))) == change.after, (
                seed,
                address,
            )
