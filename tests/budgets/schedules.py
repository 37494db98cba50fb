"""Schedules that a seed makes up, now and then beside the grammar, and the hits of one in a stretch of time."""

import random
from collections.abc import Iterator
from datetime import datetime, timedelta

from gpupool.karpenter.cron import parse_cron

_ODD = (
    "L", "15W", "5#2", "*/0", "1//2", "1-2-3", "6-0", "sat-sun", "mon", "SUN-tue", "jan", "dec-jan", ",", "+3", "-3",
    "*-7", "x", "07",
)  # fmt: skip
_NAMED = ("@daily", "@weekly", "@monthly", "@yearly", "@hourly", "@Daily", "@reboot")
_BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))


def hits(text: str, begin: datetime, end: datetime) -> Iterator[datetime]:
    """Yield every hit from `begin` (included) to `end` (not included)."""
    hit = parse_cron(text).find_next(begin - timedelta(seconds=1))
    while hit is not None and hit < end:
        yield hit
        hit = parse_cron(text).find_next(hit)


def schedule(chance: random.Random) -> str:
    if chance.random() < 0.03:
        return chance.choice(_NAMED)
    fields = [_field(chance, *bounds) for bounds in _BOUNDS]
    return " ".join(fields[: chance.choices([5, 4], [50, 1])[0]])


def readable(chance: random.Random) -> str:
    """Return a schedule without the odd fields, mostly one that hits often."""
    fields = [_plain(chance, *bounds) for bounds in _BOUNDS]
    free = chance.sample(range(1, 5), chance.choice([1, 2, 3, 3, 4]))
    return " ".join("*" if at in free else field for at, field in enumerate(fields))


def _field(chance: random.Random, low: int, high: int) -> str:
    """Return one field, now and then beside the bounds or outside the grammar."""
    others = {
        str(high + 1): 1,
        f"{low}-{high + 1}": 1,
        chance.choice(_ODD): 3,
        _plain(chance, low, high): 111,
    }
    return chance.choices(list(others), list(others.values()))[0]


def _plain(chance: random.Random, low: int, high: int) -> str:
    one, other = sorted(chance.randint(low, high) for _ in range(2))
    kinds = {
        "*": 40, "?": 3, str(one): 25, f"{one}-{other}": 12, f"{one},{other}": 8, f"*/{other + 1}": 5,
        f"{one}/{other + 1}": 5, f"{one}-{other}/2": 5, f"{other},{one}-{other}": 3,
    }  # fmt: skip
    return chance.choices(list(kinds), list(kinds.values()))[0]
