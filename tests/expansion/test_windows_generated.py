"""Any windows in any of these zones, beside any budgets: weeks near a change of the clocks and far from one."""

import re
from datetime import UTC, date, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from gpupool.blueprint.windows import REASON_ORDER, Window
from gpupool.expansion.windows.compile import compile_budgets
from gpupool.karpenter.budgets import DisruptionBudget
from gpupool.karpenter.cron import parse_cron
from tests.budgets.agreement import CHANGING, TOUCHED, check, ordinary
from tests.budgets.ceilings import Words
from tests.budgets.spans import Span, weeks
from tests.tiers import examples

MINUTES = st.one_of(st.integers(0, 24 * 4 - 1).map(lambda quarter: quarter * 15), st.integers(0, 24 * 60 - 1))
NODES = st.sampled_from(["0", "1", "2", "7", "0%", "10%", "50%", "100%"])
CAUSES = st.frozensets(st.sampled_from(REASON_ORDER), min_size=1)
SCHEDULES = st.sampled_from(
    [
        (None, None),
        ("0 9 * * 1-5", "8h"),
        ("30 22 * * sun", "7h30m"),
        ("@monthly", "100h"),
        ("*/20 0 1,15 3-11 *", "15m"),
    ]
)


@st.composite
def budgets(draw: st.DrawFn) -> DisruptionBudget:
    schedule, duration = draw(SCHEDULES)
    reasons = draw(st.none() | st.lists(st.sampled_from(REASON_ORDER), unique=True).map(tuple))
    return DisruptionBudget(draw(NODES), reasons, schedule, duration)


def windows(timezone: str) -> st.SearchStrategy[Window]:
    hours = st.none() | st.tuples(MINUTES, MINUTES | st.just(24 * 60)).filter(lambda pair: pair[0] != pair[1])
    days = st.frozensets(st.integers(0, 6), min_size=1)
    return st.builds(Window, days, hours, NODES, CAUSES, st.just(timezone))


@st.composite
def words(draw: st.DrawFn) -> Words:
    zones = [draw(st.sampled_from(sorted(CHANGING)))]
    if draw(st.integers(0, 4)) == 0:
        zones.append(draw(st.sampled_from(sorted(CHANGING))))
    some = st.lists(st.sampled_from(zones).flatmap(windows), max_size=2)
    protect, maintenance = draw(st.tuples(some, some).filter(any))
    return Words(draw(st.none() | st.lists(budgets(), max_size=2)), protect, maintenance)


def seasons(timezones: list[str]) -> st.SearchStrategy[Span]:
    """Return a fortnight that begins on any day of winter or summer, or within five weeks round a change."""
    months = {month for timezone in timezones for month in CHANGING[timezone]}
    near = [
        date(year, month, 1) + timedelta(days=day)
        for year in (2027, 2028, 2029, 2032, 2037)
        for month in sorted(months)
        for day in range(-7, 31, 2)
    ]
    far = [
        date(year, month, 8) + timedelta(days=day)
        for year in (2028, 2031)
        for month in (1, 7)
        for day in range(3)
    ]
    days = st.sampled_from(far) | st.sampled_from(near or far)
    return days.map(lambda day: weeks(datetime(day.year, day.month, day.day, tzinfo=UTC), 2))


@given(said=words(), chance=st.data(), fleet=st.sampled_from([1, 7, 40]))
@settings(max_examples=examples(300), deadline=None, derandomize=True, database=None)
def test_karpenter_does_what_the_words_say(said: Words, chance: st.DataObject, fleet: int) -> None:
    span = chance.draw(seasons(said.timezones()))
    changing = [month for zone in said.timezones() for month in (*CHANGING[zone], *TOUCHED.get(zone, ()))]
    check(said, span, ordinary(span, tuple(changing)), fleet)


@given(said=words())
@settings(max_examples=examples(200), deadline=None, derandomize=True, database=None)
def test_everything_written_is_in_karpenters_grammar(said: Words) -> None:
    for item in compile_budgets(said.own, said.protect, said.maintenance).budgets:
        budget = item.budget
        if item.cause[0] == "own":
            continue
        assert budget.reasons is None or 0 < len(budget.reasons) < len(REASON_ORDER)
        assert (budget.schedule is None) == (budget.duration is None)
        if budget.schedule is not None and budget.duration is not None:
            parse_cron(budget.schedule)
            assert re.fullmatch(r"\d+ \d+ \* (\*|[\d,-]+) (\*|[0-6,-]+)", budget.schedule)
            assert re.fullmatch(r"([0-9]+h)?([0-9]+m)?", budget.duration)
            assert re.match(r"[1-9]", budget.duration)
