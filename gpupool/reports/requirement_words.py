"""A requirement as a sentence says it."""

from gpupool.karpenter.requirements import Requirement
from gpupool.reports.escaping import one_line

_MOST_VALUES = 8


def said(requirement: Requirement) -> str:
    """Give a requirement as `key In [a, b]`, with the bounds that it has."""
    values = sorted(requirement.values)
    shown = ", ".join(map(one_line, values[:_MOST_VALUES]))
    more = f" and {len(values) - _MOST_VALUES} more" if len(values) > _MOST_VALUES else ""
    listed = f" [{shown}{more}]" if values else ""
    bounds = [
        f"{sign} {bound}"
        for sign, bound in ((">=", requirement.gte), ("<=", requirement.lte))
        if bound is not None
    ]
    word = "" if bounds and requirement.operator == "Exists" else f" {requirement.operator}{listed}"
    return f"`{one_line(requirement.key)}`{word}{' ' * bool(bounds)}{' and '.join(bounds)}"
