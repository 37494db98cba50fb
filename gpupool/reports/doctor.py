"""What doctor found, for people and for programs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, TypeAlias

from gpupool.reports.escaping import one_line
from gpupool.reports.tables import aligned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.rollout.doctor.check import Check, Diagnosis

Json: TypeAlias = "str | bool | list[Json] | dict[str, Json] | None"
_INDENT: Final = "    "


def text(found: Diagnosis, width: int | None = None) -> str:
    """Return a line for each check, below it the objects and the fix, for a terminal's width."""
    rows = [(check.state, check.name, one_line(check.message)) for check in found.checks]
    heads = aligned(rows, width=width)  # every column is important: the message continues below itself
    lines = [line for head, check in zip(heads, found.checks, strict=True) for line in (head, *_below(check))]
    return "\n".join([*lines, _summary(found)]) + "\n"


def plain(found: Diagnosis) -> dict[str, Json]:
    """Return the same for programs; what is not known is null."""
    return {
        "failed": found.has_failed,
        "context": found.context or None,
        "server": found.server or None,
        "uid": found.uid or None,
        "blueprint": found.blueprint or None,
        "karpenter": list(found.karpenter),
        "checks": [
            {
                "name": check.name,
                "state": str(check.state),
                "message": check.message,
                "fix": check.fix or None,
                "items": list(check.items),
            }
            for check in found.checks
        ],
    }


def _below(check: Check) -> Iterator[str]:
    yield from (f"{_INDENT}{one_line(item)}" for item in check.items)
    if check.fix:
        yield f"{_INDENT}fix: {one_line(check.fix)}"


def _summary(found: Diagnosis) -> str:
    counted = Counter(str(check.state) for check in found.checks)
    checks = f"{len(found.checks)} check{'s' * (len(found.checks) != 1)}"
    return f"{checks}: {', '.join(f'{count} {state}' for state, count in counted.items())}"
