"""Where an object itself proves that to apply changes nothing, the API server says so too, to the byte."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gpupool.planning.ownership import is_applied_already
from gpupool.yamlio.write import dump
from tests import strategies
from tests.server.laws.states import (
    PEOPLE,
    STEPS,
    Story,
    apply_again,
    co_own,
    karpenters_hash,
    status,
    wishes_of,
)
from tests.server.laws.worlds import clear
from tests.test_examples import EXAMPLES
from tests.tiers import volume

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gpupool.rollout.planning.desired_objects import DesiredObject
    from tests.rig.server import ApiServer

BLUEPRINTS, OBJECTS, LENGTH = volume(28, at_least=8), 3, 9
"""By default a part: `tests/rollout/decisions` asks the same of more, on the server in memory."""

EXAMPLE = str(EXAMPLES / "ml-platform.yaml")
ENOUGH = volume(800, at_least=200)
"""So often at least it has to be said, and as often not; most of it is of states that others left."""


@pytest.fixture
def server(api_server: ApiServer) -> Iterator[ApiServer]:
    """Yield a server with nothing on it."""
    clear(api_server)
    yield api_server
    clear(api_server)


def test_of_whatever_others_leave(server: ApiServer, tmp_path: Path) -> None:
    file = tmp_path / "blueprint.yaml"
    counts: Counter[bool] = Counter()
    happened: Counter[str] = Counter()

    @settings(
        derandomize=True, deadline=None, database=None, max_examples=BLUEPRINTS, phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],
    )  # fmt: skip
    @given(blueprint=strategies.blueprints(), seed=st.integers(0, 2**32))
    def told(blueprint: strategies.Words, seed: int) -> None:
        file.write_text(dump(blueprint), "utf-8")
        random = Random(seed)  # noqa: S311 - no secret
        found = wishes_of([str(file)])
        for wish in random.sample(found, min(len(found), OBJECTS)):
            story = Story(server, wish, random)
            for _ in range(LENGTH):
                story.go_on()
                counts.update(held_against_the_server(story))
            happened.update(story.names)
            story.end()

    told()
    assert min(counts[True], counts[False]) >= ENOUGH
    assert {name.split()[0] for name in happened if name.endswith(" 200")} == {
        each.__name__ for each in STEPS
    }


def held_against_the_server(story: Story) -> Iterator[bool]:
    """Yield what is said of each body, having asked the server about those that change nothing."""
    live = story.live
    for body in story.bodies(live):
        is_same = is_applied_already(live, body)
        if is_same:
            answer = story.applied(body, force=False, dry_run=True)
            assert (answer.status, answer.body) == (200, live), (story.names, body)
        yield is_same


@pytest.mark.parametrize("wish", wishes_of([EXAMPLE]), ids=lambda wish: wish.address)
def test_it_is_said_in_the_ordinary_case(server: ApiServer, wish: DesiredObject) -> None:
    """Applied, and then written to by Karpenter, by a second master that says the same, and by who labels things."""
    story = Story(server, wish, Random(0))  # noqa: S311 - no secret
    listed = server.request("GET", wish.kind.path).body["items"]
    assert [is_applied_already(each, wish.body) for each in listed] == [True]
    for step in (apply_again, status, karpenters_hash, co_own):
        assert step(story).status == 200
        assert is_applied_already(story.live, wish.body), step
    assert story.merged({"metadata": {"labels": {"example.com/team": "ml"}}}, PEOPLE).status == 200
    assert list(held_against_the_server(story))[:3] == [True, True, True]
    story.end()
