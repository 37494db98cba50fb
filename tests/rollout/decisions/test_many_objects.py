"""What an apply works out grows with the number of objects, and not with its square."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

import gpupool
from gpupool.cluster.client import APPLY, Response
from gpupool.errors import GpupoolError
from gpupool.planning.plan import Consent
from gpupool.rollout.applying.results import ensure_complete
from tests.memory import blueprints
from tests.memory.worlds import World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType

    from gpupool.cluster.client import Request
    from gpupool.rollout.desired_state import DesiredState
    from tests.memory.worlds import Kept

FEW: Final = 20
MANY: Final = 2 * FEW
CALLS: Final = 4 * MANY
"""A function that is called less often than that takes no time to speak of."""

MOST: Final = 2.5
"""By how much calls may grow where the objects double; with the square of their number it would be 4."""

PACKAGE: Final = str(Path(gpupool.__file__).parent)
PRUNE: Final = Consent(prune=True, max_deletes=MANY)


def fleet(count: int, edition: int, folder: Path) -> DesiredState:
    """Return a blueprint of so many pools, each with a class of its own."""
    pools: dict[str, Any] = {
        f"p-{number:02}": {"accelerator": "l4", "weight": edition, "nodeClass": {"tags": {"v": str(edition)}}}
        for number in range(count)
    }
    words = blueprints.blueprint(0) | {"pools": pools}
    del words["nodeClasses"]
    return blueprints.read(words, folder)


@contextmanager
def counting() -> Iterator[Counter[CodeType]]:
    """Count the calls of gpupool's functions while the block runs."""
    calls: Counter[CodeType] = Counter()

    def called(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            calls[frame.f_code] += 1

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def refuse(request: Request) -> Response | None:
    is_write = request.content_type == APPLY and not request.is_dry_run
    return Response(500, {"message": "no"}) if is_write else None


def calls_of(kept: Kept, count: int, case: str, folder: Path) -> Counter[CodeType]:
    """Count what one apply calls where so many pools are there."""
    here = World(kept, concurrency=8)
    here.apply(fleet(count, 1, folder))
    wanted = fleet(1, 1, folder) if case == "pruned" else fleet(count, 2, folder)
    if case == "refused":
        here.server.hooks.append(refuse)
    with counting() as calls:
        result = here.carry_out(here.look(wanted, PRUNE))
    if case == "refused":
        with pytest.raises(GpupoolError, match="Run the same command again"):
            ensure_complete(result)
    else:
        ensure_complete(result)
    return calls


@pytest.mark.parametrize("case", ["changed", "pruned", "refused"])
def test_no_function_is_called_for_each_pair_of_objects(kept: Kept, case: str, tmp_path: Path) -> None:
    few, many = (calls_of(kept, count, case, tmp_path) for count in (FEW, MANY))

    grown = {
        f"{code.co_filename.removeprefix(PACKAGE)}:{code.co_name}": count / few[code]
        for code, count in many.items()
        if count > CALLS and few[code]
    }
    assert len(grown) > 10
    assert {name: times for name, times in grown.items() if times > MOST} == {}
