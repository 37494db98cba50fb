"""All surprises of one NodePool."""

from collections.abc import Mapping
from typing import Final

from gpupool.findings import Severity
from gpupool.scheduling.explained import Explained
from gpupool.scheduling.traps import conditions, machines, outcome
from gpupool.scheduling.traps.trap import Trap, TrapRule, TrapSubject
from gpupool.yamlio.located import Plain

RULES: Final[tuple[TrapRule, ...]] = (
    outcome.find_no_types,
    conditions.find_contradictions,
    conditions.find_types_without_accelerator,
    machines.find_fractional_gpus,
    machines.find_mixed_architectures,
    conditions.find_dead_values,
    outcome.find_limit_problems,
    machines.find_large_types,
    machines.find_unpriced_types,
    machines.find_few_spot_types,
    outcome.find_open_questions,
)
_WORST_FIRST: Final = [*Severity]


def find_traps(
    node_pool: Mapping[str, Plain], found: Explained, *, in_blueprint: bool = False
) -> tuple[Trap, ...]:
    """Return what is surprising about a NodePool, the worst first."""
    asked = TrapSubject(node_pool, found, in_blueprint)
    said = [trap for rule in RULES for trap in rule(asked)]
    return tuple(sorted(said, key=lambda trap: _WORST_FIRST.index(trap.severity)))
