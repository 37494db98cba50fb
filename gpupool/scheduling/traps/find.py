"""All surprises of one NodePool."""

from collections.abc import Mapping
from typing import Final

from gpupool.findings import Severity
from gpupool.scheduling.explained import Explained
from gpupool.scheduling.traps import conditions, machines, outcome
from gpupool.scheduling.traps.trap import Trap, TrapRule, TrapSubject
from gpupool.yamlio.located import Plain

RULES: Final[tuple[TrapRule, ...]] = (
    outcome.nothing,
    conditions.contradictions,
    conditions.machines_without,
    machines.fractional,
    machines.architectures,
    conditions.dead_values,
    outcome.limits,
    machines.large_machine,
    machines.unpriced,
    machines.few_on_spot,
    outcome.open_questions,
)
_WORST_FIRST: Final = [*Severity]


def traps(
    node_pool: Mapping[str, Plain], found: Explained, *, in_blueprint: bool = False
) -> tuple[Trap, ...]:
    """Return what is surprising about a NodePool, the worst first."""
    asked = TrapSubject(node_pool, found, in_blueprint)
    said = [trap for rule in RULES for trap in rule(asked)]
    return tuple(sorted(said, key=lambda trap: _WORST_FIRST.index(trap.severity)))
