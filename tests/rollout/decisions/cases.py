"""Worlds to begin with, and how a case is drawn from a seed."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING, Any, Final

from gpupool.planning.plan import Consent
from gpupool.planning.pruning import read_node_class
from tests.memory import blueprints
from tests.memory.worlds import World
from tests.tiers import is_thorough

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpupool.rollout.desired_state import DesiredState
    from tests.memory.schemas import Body
    from tests.memory.worlds import Kept

SEED: Final = 20261122
PARTS: Final = 4
"""Into so many tests the cases of one law are divided, so that several processes share them."""

EVERYTHING: Final = Consent(prune=True, max_deletes=99, allow_empty=True)

outcomes: Counter[str] = Counter()
"""What came of the cases of the part that runs now."""

_states: dict[str, tuple[Any, ...]] = {}
_specs: dict[str, Any] = {}


def seeds(part: int, thorough: int) -> Iterator[int]:
    """Return the seeds of a part; `thorough` is the number of cases of all parts there, of which a twelfth is the default.

    Of all laws together these are two thousand cases.
    """
    count = (thorough if is_thorough() else thorough // 12) // PARTS
    yield from range(SEED + part, SEED + part + count * PARTS, PARTS)


@contextmanager
def expecting(*names: str) -> Iterator[None]:
    """Ensure that each of these outcomes comes up while a part runs: a law that is never put to the test says nothing."""
    outcomes.clear()
    yield
    assert {name for name in names if not outcomes[name]} == set(), outcomes


def chance(seed: int) -> Random:
    """Return the randomness of a case."""
    return Random(seed)  # noqa: S311 - no secret


def world(kept: Kept, variants: Mapping[str, int]) -> World:
    """Return a world on which a blueprint was applied; what comes to be there is worked out once."""
    key = str(sorted(variants.items()))
    found = World(kept)
    if key not in _states:
        found.apply(blueprints.chosen(dict(variants)))
        _states[key] = found.server.state
    found.server.restore(_states[key])
    return found


def fresh_specs(kept: Kept, wanted: DesiredState) -> dict[str, Any]:
    """Return the specs that a blueprint comes to on a server on which nothing was.

    An object's spec depends on its own body alone, so that each is worked out once.
    """
    if not _specs:
        for variant in range(blueprints.VARIANTS):
            everything, found = blueprints.chosen(dict.fromkeys(blueprints.POOLS, variant)), World(kept)
            found.apply(everything)
            specs = found.specs()
            _specs.update(
                {_key(each, body): specs[each] for each, body in blueprints.bodies(everything).items()}
            )
    return {address: _specs[_key(address, body)] for address, body in blueprints.bodies(wanted).items()}


def _key(address: str, body: Body) -> str:
    return f"{address} {body}"


def draw_start(random: Random) -> dict[str, int]:
    """Draw what was applied before: one of a few, as each takes time to work out."""
    return blueprints.draw(Random(random.randrange(12)))  # noqa: S311 - no secret


def classes_in_use(bodies: Mapping[str, Body]) -> set[str]:
    """Return the node classes that pools refer to, as `KIND/NAME`."""
    return {
        "/".join(read_node_class(body)) for address, body in bodies.items() if address.startswith("NodePool/")
    }


def in_order(addresses: set[str], *, backwards: bool = False) -> list[str]:
    """Return addresses in the order of their kinds: that of writes, or that of deletions."""
    kinds = ["EC2NodeClass", "NodeOverlay", "NodePool"]
    return sorted(addresses, key=lambda each: kinds.index(each.partition("/")[0]) * (-1 if backwards else 1))
