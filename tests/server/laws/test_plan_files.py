"""Every plan that gpupool makes fulfils what a plan file is held to, whatever others left on the server."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gpupool.planning import agreement, file
from gpupool.planning.plan import Consent
from gpupool.rollout.session import prepare_saved_session
from gpupool.yamlio.write import dump
from tests import strategies
from tests.goldencases import Case, cases
from tests.goldensample import sampled
from tests.server import statuses
from tests.server.laws.states import Story, wishes_of
from tests.server.laws.worlds import clear, world
from tests.test_examples import ALL, EXAMPLES
from tests.tiers import volume

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from gpupool.planning.plan import Plan
    from gpupool.rollout.planning.desired_objects import DesiredObject
    from tests.rig.server import ApiServer
    from tests.server.laws.worlds import World

BLUEPRINTS, OBJECTS, LENGTH = volume(60, at_least=20), 4, 4
GOLDEN = sampled([case for case in cases() if case.expected_files is not None])


BESIDE = {"NodePool": {"limits": {"example.com/licences": 3}}, "EC2NodeClass": {"tags": {"left": "here"}}}
"""What somebody else writes, and no blueprint says."""


@pytest.fixture
def here(api_server: ApiServer) -> Iterator[World]:
    """Yield a server with nothing on it."""
    with world(api_server) as found:
        yield found
    statuses.delete_all(api_server)  # others left some that are no longer the blueprint's


def planned(here: World, files: Sequence[str], consent: Consent) -> Plan:
    """Return a plan, read back from its file, with nothing in it that a reader holds against it."""
    plan = prepare_saved_session(files, here.way, consent).plan
    assert [*agreement.find_mistakes(plan)] == []
    assert file.parse_plan(file.render_plan(plan).encode(), "plan.json") == plan
    return plan


def beside(wish: DesiredObject) -> tuple[str, str, bytes, str]:
    """Return the request that writes something beside what gpupool applies; an object that is absent has no use for it."""
    path = f"{wish.kind.path_of(wish.name)}?fieldManager=kubectl-edit"
    return (
        "PATCH",
        path,
        json.dumps({"spec": BESIDE[wish.kind.name]}).encode(),
        "application/merge-patch+json",
    )


@pytest.mark.parametrize("name", ALL)
def test_every_example(here: World, name: str) -> None:
    files = [str(EXAMPLES / each) for each in ALL[name]]

    plan = planned(here, files, Consent())

    assert {each.actions for each in plan.changes} == {("create",)}


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case.name)
def test_golden_blueprints(here: World, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case.folder)

    plan = planned(here, case.blueprints, Consent())

    assert {each.actions for each in plan.changes} == {("create",)}


def meddle(here: World, wish: DesiredObject, random: Random) -> None:
    """Let things happen to an object, which gpupool may have applied before, or somebody by its name."""
    if wish.address not in here.objects():
        story = Story(here.server, wish, random)
        for _ in range(LENGTH):
            story.go_on()
    if random.random() < 0.5 and wish.kind.name in BESIDE:
        here.server.request(*beside(wish))


def test_whatever_others_leave(here: World, tmp_path: Path) -> None:
    path = tmp_path / "blueprint.yaml"
    counts: Counter[str] = Counter()

    @settings(
        derandomize=True, deadline=None, database=None, max_examples=BLUEPRINTS, phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],
    )  # fmt: skip
    @given(before=strategies.blueprints(), blueprint=strategies.blueprints(), seed=st.integers(0, 2**32))
    def told(before: strategies.Words, blueprint: strategies.Words, seed: int) -> None:
        clear(here.server)
        random = Random(seed)  # noqa: S311 - no secret
        if random.random() < 0.5:
            path.write_text(dump({**before, "metadata": blueprint["metadata"]}), "utf-8")
            here.carry_out(here.look([str(path)]))
        path.write_text(dump(blueprint), "utf-8")
        files = [str(path)]
        found = wishes_of(files)
        for wish in random.sample(found, min(len(found), OBJECTS)):
            meddle(here, wish, random)
        addresses = tuple(each.address for each in found)
        everything = Consent(prune=True, max_deletes=99, adopt=addresses, on_conflict="take")
        for consent in (Consent(), everything, Consent(prune=True)):
            plan = planned(here, files, consent)
            for each in plan.changes:
                counts.update([*each.actions, *(["conflict"] if each.conflicts else [])])
                counts.update(
                    name
                    for name in ("fields", "residue", "blocked", "rejections", "force")
                    if getattr(each, name)
                )

    told()
    expected = {"create", "update", "delete", "no-op", "fields", "residue", "force", "conflict"}
    assert expected <= counts.keys(), counts
