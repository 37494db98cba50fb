"""What gpupool works out by itself, where it may not even try, is what the API server would say."""

from __future__ import annotations

import time
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gpupool.errors import ClusterError
from gpupool.planning.compare import find_differences, strip_server_fields
from gpupool.planning.emulated_apply import emulate_apply
from gpupool.rollout.session import ensure_applicable
from gpupool.yamlio.write import dump
from tests import strategies
from tests.server.laws.states import Story, wishes_of
from tests.server.laws.worlds import SECONDS, clear, policy, world
from tests.test_examples import EXAMPLES
from tests.tiers import volume

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gpupool.planning.compare import Difference
    from gpupool.planning.plan import Plan
    from tests.rig.server import ApiServer
    from tests.server.laws.states import Body
    from tests.server.laws.worlds import World

BLUEPRINTS, OBJECTS, LENGTH = volume(13, at_least=5), 3, 6
ENOUGH = volume(600, at_least=200)
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
    """Yield for each body that the server takes whether it changes anything."""
    live = story.live
    bodies = [*story.bodies(live)]
    for body in (*bodies, less(story.random, bodies[0]), less(story.random, bodies[1])):
        answer = story.applied(body, dry_run=True)
        if answer.status == 200 and is_plain(body):
            by_server, by_us = (
                strip_server_fields(answer.body),
                strip_server_fields(emulate_apply(live, body)),
            )
            found = find_differences(by_us, by_server)
            assert not [each for each in found if not is_default(each)], (story.names, live, body)
            yield "changed" if find_differences(strip_server_fields(live), by_server) else "same"


@pytest.fixture
def here(api_server: ApiServer) -> Iterator[World]:
    """Yield a server with nothing on it."""
    with world(api_server) as found:
        yield found
        once(found, is_refused=False)


EXAMPLE = [str(EXAMPLES / "ml-platform.yaml")]
"""It has pools that say how their nodes may be disrupted."""


@pytest.mark.parametrize("reason", ["Forbidden", "Invalid"])
def test_what_a_policy_forbids_is_refused_and_no_missing_right(here: World, reason: str) -> None:
    """The status is 403 for both, and the words differ."""
    refused = {"expression": "!has(object.spec.limits)", "message": "no limits here", "reason": reason}
    with policy(here.server, "nodepools", **refused):
        plan = once(here, is_refused=True)

    pools = [each for each in plan.changes if each.address.startswith("NodePool/")]
    assert {each.verified for each in plan.changes} == {"server"}
    assert all("no limits here" in each.rejections[0].message for each in pools)
    assert all(each.rejections[0].place is not None for each in pools)
    with pytest.raises(ClusterError, match="the API server rejects NodePool/"):
        ensure_applicable(plan)


def test_who_owns_a_field_does_not_hide_that_the_rest_is_refused(here: World) -> None:
    """The server looks at that first, and at nothing else where it finds something."""
    here.apply(EXAMPLE)
    here.change("NodePool/train", {"spec": {"limits": {"nvidia.com/gpu": "999"}}})
    with policy(here.server, "nodepools", expression="object.spec.limits['nvidia.com/gpu'] == '999'"):
        plan = once(here, is_refused=True)

    (train,) = [each for each in plan.changes if each.address == "NodePool/train"]
    assert train.conflicts[0].path == "spec.limits[nvidia.com/gpu]"
    assert "object.spec.limits" in train.rejections[0].message


def once(here: World, *, is_refused: bool) -> Plan:
    """Plan until something is refused, or nothing any more: policies come and go a moment later."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        found = here.look(EXAMPLE).plan
        if any(each.rejections for each in found.changes) == is_refused:
            # The policy may have come while this plan was made: what it says of all objects, the next one has.
            return here.look(EXAMPLE).plan
        time.sleep(0.1)
    pytest.fail("the server never comes to it")


def is_default(difference: Difference) -> bool:
    """Return whether it is what the server filled in, or an empty map that it took out of the metadata."""
    if difference.path.startswith("metadata."):
        return difference.before == {}
    return difference.op == "add" and difference.path.startswith(DEFAULTS)


def less(random: Random, body: Body) -> Body:
    """Return a body without some of its keys."""
    return {
        key: less(random, value) if isinstance(value, dict) else value
        for key, value in body.items()
        if key in {"apiVersion", "kind", "metadata", "name", "spec"} or random.random() < 0.8
    }


def is_plain(value: Any, key: str = "") -> bool:  # noqa: ANN401 - any part of an object
    """Return whether it has nothing that gpupool never writes: nulls, and budgets without a number of nodes."""
    if isinstance(value, dict):
        return all(is_plain(item, name) for name, item in value.items()) and (
            key != "budgets" or "nodes" in value
        )
    if isinstance(value, list):
        return all(is_plain(item, key) for item in value)
    return value is not None
