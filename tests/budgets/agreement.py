"""The comparison of Karpenter with the words: equal, or on the safe side near a change of the clocks."""

from datetime import timedelta
from itertools import product

from gpupool.expansion.windows.compile import compile_budgets
from tests.budgets.ceilings import EVERY_REASON, Words, karpenters, looser
from tests.budgets.clocks import never_changed, offsets, on_the_wall
from tests.budgets.spans import Span

CHANGING = {
    "UTC": (),
    "America/New_York": (3, 11),
    "America/St_Johns": (3, 11),
    "America/Sao_Paulo": (),
    "Europe/Berlin": (3, 10),
    "Europe/Dublin": (3, 10),
    "Africa/Casablanca": (),
    "Asia/Kolkata": (),
    "Asia/Kathmandu": (),
    "Asia/Tokyo": (),
    "Australia/Lord_Howe": (4, 10),
    "Pacific/Chatham": (4, 9),
    "Antarctica/Troll": (3, 10),
    "Australia/Sydney": (4, 10),
    "America/Santiago": (4, 9),
}
"""The UTC months in which the clocks change, from the laws: no output of the compiler."""

TOUCHED = {
    "America/New_York": (10,),
    "America/St_Johns": (10,),
    "Australia/Lord_Howe": (3, 9),
    "Pacific/Chatham": (3,),
    "Australia/Sydney": (3, 9),
}
"""The months before, where the change can come so early that a window of the last Saturday meets it.

In America the clocks change on 1 November before some of Saturday's windows end. In Australia the first
Sunday of the month begins on Saturday in UTC, which may be the last day of the month before.
"""


def ordinary(span: Span, months: tuple[int, ...]) -> int:
    """Return the minutes outside these UTC months and the day after each, on which their last windows end."""
    found = span.all
    day = span.begin - timedelta(days=1)
    while day < span.end:
        if day.month in months:
            found &= ~span.between(day, day + timedelta(days=2))
        day += timedelta(days=1)
    return found


def check(words: Words, span: Span, exact: int, fleet: int = 23) -> None:
    """Compare Karpenter with the words: equal where `exact`, never looser, and stricter by the shift at most."""
    budgets = [each.budget for each in compile_budgets(words.own, words.protect, words.maintenance).budgets]
    zones = words.timezones()
    now = {zone: on_the_wall(zone, span) for zone in zones}
    others = [
        {zone: never_changed(offset, span) for zone, offset in zip(zones, chosen, strict=True)}
        for chosen in product(*(sorted(offsets(zone, span)) for zone in zones))
    ]
    for reason in EVERY_REASON:
        real = karpenters(budgets, reason, span, fleet)
        said = words.ceilings(reason, span, now, fleet)
        loose = looser(real, said)
        assert not loose, f"{reason} looser than the words: {span.instants(loose)}"
        strict = looser(said, real)
        assert not strict & exact, f"{reason} stricter than the words: {span.instants(strict & exact)}"
        for other in others:
            strict &= looser(words.ceilings(reason, span, other, fleet), real)
        assert not strict, f"{reason} stricter than any offset explains: {span.instants(strict)}"
