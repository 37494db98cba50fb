"""Where an object itself proves that to apply changes nothing, a server says so too: by thousands of bodies."""

from __future__ import annotations

from collections import Counter

import pytest

from gpupool.rollout.inventory.store import InventoryRef
from gpupool.rollout.planning.desired_objects import build_desired_objects
from tests.memory import blueprints
from tests.memory.client import MemoryClient
from tests.memory.worlds import NAMESPACE
from tests.rollout.decisions.cases import PARTS, chance, seeds
from tests.server.laws.states import STEPS, Story
from tests.server.laws.test_noop_proof import LENGTH, held_against_the_server

CASES = 1_600
SHARE = 10
"""One in so many bodies at least has to be proved to change nothing, and as many not."""


@pytest.mark.parametrize("part", range(PARTS))
def test_of_whatever_others_leave(part: int) -> None:
    counts: Counter[bool] = Counter()
    happened: Counter[str] = Counter()
    for seed in seeds(part, CASES):
        random = chance(seed)
        wanted = blueprints.chosen(blueprints.draw(random))
        wish = random.choice(build_desired_objects(wanted, InventoryRef(NAMESPACE, wanted.inventory)))
        story = Story(MemoryClient(), wish, random)
        for _ in range(LENGTH):
            story.go_on()
            counts.update(held_against_the_server(story))
        happened.update(story.names)
    assert min(counts[True], counts[False]) >= counts.total() // SHARE
    assert {name.split()[0] for name in happened if name.endswith(" 200")} == {
        each.__name__ for each in STEPS
    }
