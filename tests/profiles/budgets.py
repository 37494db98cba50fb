"""How many nodes of a pool Karpenter may take at one moment, by its budgets.

Source: Karpenter's pkg/apis/v1/nodepool.go: the smallest of the budgets that are active at the moment and
count for the reason; percentages round up; where none counts there is no bound. Schedules are in UTC.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

_FIELDS = ("minute", "hour", "day", "month", "weekday")


def allowed(budgets: Iterable[Mapping[str, Any]], reason: str, at: datetime, nodes: int) -> int:
    """Give how many of `nodes` may go for a reason at a moment."""
    counting = (budget for budget in budgets if reason in budget.get("reasons", [reason]))
    return min(
        (_number(budget["nodes"], nodes) for budget in counting if _is_active(budget, at)), default=nodes
    )


def _number(text: str, nodes: int) -> int:
    return -(-nodes * int(text.removesuffix("%")) // 100) if text.endswith("%") else int(text)


def _is_active(budget: Mapping[str, Any], at: datetime) -> bool:
    if "schedule" not in budget:
        return True
    hours = int(budget["duration"].removesuffix("h"))
    fields = dict(zip(_FIELDS, budget["schedule"].split(), strict=True))
    assert fields["minute"] == "0", "the windows of shipped profiles begin at full hours"
    full = at.replace(minute=0, second=0, microsecond=0)
    starts = (full - timedelta(hours=back) for back in range(hours + 1))
    return any(at < start + timedelta(hours=hours) and _hits(fields, start) for start in starts)


def _hits(fields: Mapping[str, str], at: datetime) -> bool:
    now = {"hour": at.hour, "day": at.day, "month": at.month, "weekday": at.isoweekday() % 7}
    return all(_matches(fields[name], number) for name, number in now.items())


def _matches(field: str, number: int) -> bool:
    if field == "*":
        return True
    for part in field.split(","):
        first, _, last = part.partition("-")
        if int(first) <= number <= int(last or first):
            return True
    return False
