"""What it takes to match one NodePool against the whole catalogue, in a process that has read the catalogue."""

import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from gpupool import api
from gpupool.pools import LoadedNodePool
from gpupool.scheduling.matching import match_types, read_template_requirements
from gpupool.scheduling.types.market import Market
from gpupool.scheduling.types.typemasks import TypeMasks
from tests.bench.blueprints import blueprint

_GENERATED, _TIMES = 200, 5


def rows(examples: Path, folder: Path) -> Iterator[str]:
    """Yield a table with a line each for the examples' pools, and for generated ones written to a folder."""
    yield f"{'matching one NodePool against all types':<44}{'median ms':>10}{'max ms':>8}{'pools':>7}"
    files = sorted(examples.glob("*.yaml"))
    own = [each for file in files for each in api.pools([str(file)]).items]
    made = folder / "generated.yaml"
    made.write_text(blueprint(_GENERATED), "utf-8")
    yield _row("  of the examples", own)
    yield _row("  generated", api.pools([str(made)]).items)
    yield _row("  of the examples, nothing worked out before", own, fresh=True)


def _anew(pool: LoadedNodePool) -> LoadedNodePool:
    known = pool.market
    return pool._replace(market=Market(TypeMasks(known.catalogue), known.node_class, known.region))


def _row(name: str, pools: Sequence[LoadedNodePool], *, fresh: bool = False) -> str:
    took = [min(_milliseconds(_anew(each) if fresh else each) for _ in range(_TIMES)) for each in pools]
    return f"{name:<44}{statistics.median(took):>10.3f}{max(took):>8.3f}{len(took):>7}"


def _milliseconds(pool: LoadedNodePool) -> float:
    start = time.perf_counter()
    match_types(pool.market, read_template_requirements(pool.data))
    return (time.perf_counter() - start) * 1000
