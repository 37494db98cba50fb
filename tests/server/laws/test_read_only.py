"""What gpupool works out by itself, where it may not even try, is what the API server would say."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gpupool.planning.compare import differences, stripped
from gpupool.planning.merged import merged
from gpupool.yamlio.write import dump
from tests import strategies
from tests.server.laws.states import Story, wishes_of
from tests.server.laws.worlds import clear

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gpupool.planning.compare import Difference
    from tests.rig.server import ApiServer
    from tests.server.laws.states import Body

BLUEPRINTS, OBJECTS, LENGTH = 16, 3, 6
ENOUGH = 800
DEFAULTS = (
    "spec.disruption.budgets",
    "spec.disruption.consolidateAfter",
    "spec.disruption.consolidationPolicy",
    "spec.template.spec.expireAfter",
    "spec.metadataOptions",
)
"""What the server fills in, which is left out here."""


def test_of_whatever_others_leave(api_server: ApiServer, tmp_path: Path) -> None:
    file = tmp_path / "blueprint.yaml"
    counts: Counter[str] = Counter()
    clear(api_server)

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
            story = Story(api_server, wish, random)
            for _ in range(LENGTH):
                story.go_on()
                counts.update(held_against_the_server(story))
            story.end()

    told()
    assert min(counts["same"], counts["changed"]) >= ENOUGH / 4
    assert counts.total() >= ENOUGH


def held_against_the_server(story: Story) -> Iterator[str]:
    """Say for each body that the server takes whether it changes anything."""
    live = story.live
    bodies = [*story.bodies(live)]
    for body in (*bodies, less(story.random, bodies[0]), less(story.random, bodies[1])):
        answer = story.applied(body, dry_run=True)
        if answer.status == 200 and is_plain(body):
            by_server, by_us = stripped(answer.body), stripped(merged(live, body))
            found = differences(by_us, by_server)
            assert not [each for each in found if not is_default(each)], (story.names, live, body)
            yield "changed" if differences(stripped(live), by_server) else "same"


def is_default(difference: Difference) -> bool:
    """Say whether it is what the server filled in, or an empty map that it took out of the metadata."""
    if difference.path.startswith("metadata."):
        return difference.before == {}
    return difference.op == "add" and difference.path.startswith(DEFAULTS)


def less(random: Random, body: Body) -> Body:
    """Give a body without some of its keys."""
    return {
        key: less(random, value) if isinstance(value, dict) else value
        for key, value in body.items()
        if key in {"apiVersion", "kind", "metadata", "name", "spec"} or random.random() < 0.8
    }


def is_plain(value: Any, key: str = "") -> bool:  # noqa: ANN401 - any part of an object
    """Say whether it has nothing that gpupool never writes: nulls, and budgets without a number of nodes."""
    if isinstance(value, dict):
        return all(is_plain(item, name) for name, item in value.items()) and (
            key != "budgets" or "nodes" in value
        )
    if isinstance(value, list):
        return all(is_plain(item, key) for item in value)
    return value is not None
