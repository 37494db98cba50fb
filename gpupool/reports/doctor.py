"""Checks of `gpupool doctor` as text and JSON."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from gpupool.reports.escaping import one_line
from gpupool.reports.tables import align_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.rollout.doctor.check import Check, Diagnosis
    from gpupool.yamlio.located import Plain

_INDENT: Final = "    "


def render_text(diagnosis: Diagnosis, width: int | None = None) -> str:
    """Return a line for each check, below it the objects and the fix, for a terminal's width."""
    rows = [(check.state, check.name, one_line(check.message)) for check in diagnosis.checks]
    heads = align_rows(rows, width=width)  # every column is important: the message continues below itself
    lines = [
        line
        for head, check in zip(heads, diagnosis.checks, strict=True)
        for line in (head, *_detail_lines(check))
    ]
    return "\n".join([*lines, _summary(diagnosis)]) + "\n"


def to_json(diagnosis: Diagnosis) -> dict[str, Plain]:
    """Return the checks as values of JSON; an unknown value is null."""
    return {
        "failed": diagnosis.has_failed,
        "context": diagnosis.context or None,
        "server": diagnosis.server or None,
        "uid": diagnosis.uid or None,
        "blueprint": diagnosis.blueprint or None,
        "karpenter": list(diagnosis.karpenter),
        "checks": [
            {
                "name": check.name,
                "state": str(check.state),
                "message": check.message,
                "fix": check.fix or None,
                "items": list(check.items),
            }
            for check in diagnosis.checks
        ],
    }


def _detail_lines(check: Check) -> Iterator[str]:
    yield from (f"{_INDENT}{one_line(item)}" for item in check.items)
    if check.fix:
        yield f"{_INDENT}fix: {one_line(check.fix)}"


def _summary(diagnosis: Diagnosis) -> str:
    counted = Counter(str(check.state) for check in diagnosis.checks)
    checks = f"{len(diagnosis.checks)} check{'s' * (len(diagnosis.checks) != 1)}"
    return f"{checks}: {', '.join(f'{count} {state}' for state, count in counted.items())}"
