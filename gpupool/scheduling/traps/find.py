"""Runner of the lint rules for one NodePool."""

from collections.abc import Mapping
from typing import Final

from gpupool.findings import Severity
from gpupool.scheduling.explained import PoolExplanation
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
    node_pool: Mapping[str, Plain], explained: PoolExplanation, *, in_blueprint: bool = False
) -> tuple[Trap, ...]:
    """Run all lint rules on a NodePool, and return the findings, the worst first."""
    subject = TrapSubject(node_pool, explained, in_blueprint)
    findings = [trap for rule in RULES for trap in rule(subject)]
    return tuple(sorted(findings, key=lambda trap: _WORST_FIRST.index(trap.severity)))
