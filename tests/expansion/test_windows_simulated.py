"""Whole years, minute by minute: what Karpenter makes of the compiled budgets against the words on the wall."""

from datetime import UTC, datetime

import pytest

from gpupool.blueprint.windows import DEFAULT_REASONS, REASON_ORDER, Window, parse_days, parse_hours
from gpupool.karpenter.budgets import DisruptionBudget
from tests.budgets.agreement import CHANGING, TOUCHED, check, ordinary
from tests.budgets.ceilings import Words, karpenters, looser
from tests.budgets.clocks import on_the_wall
from tests.budgets.spans import Span, weeks, year

TURNING_YEARS = (2029, 2032)
"""1 April 2029 is a Sunday; summer ends on 31 October 2032."""


def window(
    days: str, hours: str | None, nodes: str, timezone: str, reasons: frozenset[str] = DEFAULT_REASONS
) -> Window:
    return Window(parse_days(days), parse_hours(hours) if hours else None, nodes, reasons, timezone)


def stage(timezone: str, number: int) -> Span:
    """Return a whole year, or six weeks over the leap day where clocks never change."""
    return year(number) if CHANGING[timezone] else weeks(datetime(number, 2, 1, tzinfo=UTC), 6)


def plain_cases(timezone: str) -> dict[str, Words]:
    """Return windows that lie clear of the night from Saturday to Sunday."""
    drifted, everything = frozenset({"Drifted"}), frozenset(REASON_ORDER)
    return {
        "office": Words(None, [window("mon-fri", "08:00-20:00", "0", timezone)]),
        "nights": Words(
            [DisruptionBudget("3")], [window("mon-thu", "22:00-06:00", "1", timezone, everything)]
        ),
        "working days": Words([], [window("mon-thu", None, "0", timezone)]),
        "wednesday": Words(
            [DisruptionBudget("1")], [], [window("wed", "02:00-06:00", "10%", timezone, drifted)]
        ),
        "a profile that forbids": Words(
            [DisruptionBudget("0", ("Drifted", "Underutilized")), DisruptionBudget("100%", ("Empty",))],
            [],
            [window("wed", "22:00-04:00", "10%", timezone, drifted)],
        ),
        "two": Words(
            None,
            [],
            [window("tue", "03:00-05:30", "10%", timezone), window("thu", "01:00-07:15", "2", timezone)],
        ),
        "both": Words(
            [DisruptionBudget("5"), DisruptionBudget("1", ("Empty",), "0 9 * * 1-5", "8h")],
            [window("mon-fri", "09:00-17:00", "0", timezone)],
            [window("mon-fri", "12:00-23:45", "2", timezone), window("wed", None, "25%", timezone, drifted)],
        ),
    }


def weekend_cases(timezone: str) -> dict[str, Words]:
    return {
        "daily": Words(None, [], [window("daily", "03:00-05:00", "10%", timezone)]),
        "weekend": Words(None, [window("sat-sun", None, "0", timezone)]),
        "every night": Words(None, [window("daily", "18:00-08:00", "2", timezone)]),
        "fri-mon": Words([], [], [window("fri-mon", None, "3", timezone, frozenset(REASON_ORDER))]),
        "short": Words([], [], [window("sun", "02:15-02:45", "1", timezone)]),
        "always": Words(
            None, [window("daily", None, "1", timezone)], [window("daily", "00:00-24:00", "2", timezone)]
        ),
    }


@pytest.mark.parametrize("timezone", CHANGING)
@pytest.mark.parametrize("name", plain_cases("UTC"))
def test_windows_on_working_days_are_exact_but_in_the_months_of_a_change(timezone: str, name: str) -> None:
    words = plain_cases(timezone)[name]
    span = stage(timezone, 2028)  # a leap year, whose 1 October is a Sunday
    check(words, span, ordinary(span, CHANGING[timezone]))


@pytest.mark.parametrize("timezone", CHANGING)
@pytest.mark.parametrize("name", weekend_cases("UTC"))
def test_weekend_windows_are_exact_but_near_a_change(timezone: str, name: str) -> None:
    words = weekend_cases(timezone)[name]
    for number in TURNING_YEARS:
        span = stage(timezone, number)
        check(words, span, ordinary(span, (*CHANGING[timezone], *TOUCHED.get(timezone, ()))))


def test_windows_of_two_zones_are_compiled_together() -> None:
    berlin, york = "Europe/Berlin", "America/New_York"
    words = Words(
        None,
        [window("mon", None, "0", berlin)],
        [window("sat", "02:00-06:00", "1", berlin), window("sat", "02:00-06:00", "2", york)],
    )
    for number in TURNING_YEARS:
        span = year(number)
        check(words, span, ordinary(span, (3, 10, 11)))


@pytest.mark.parametrize("own", [None, (), (DisruptionBudget("2"),)])
def test_the_simulation_sees_a_wrong_compilation(own: tuple[DisruptionBudget, ...] | None) -> None:
    """Hold the tests above to account: the naive translation of an office day fails them."""
    said = window("mon-fri", "08:00-20:00", "0", "America/New_York")
    naive = [
        *(own if own is not None else [DisruptionBudget("10%")]),
        DisruptionBudget("0", None, "0 8 * * 1-5", "12h"),
    ]
    span = weeks(datetime(2027, 1, 4, tzinfo=UTC))
    clocks = {said.timezone: on_the_wall(said.timezone, span)}
    truth = Words(own, [said]).ceilings("Drifted", span, clocks, 10)
    real = karpenters(naive, "Drifted", span, 10)
    assert looser(real, truth).bit_count() == 5 * 5 * 60
    assert looser(truth, real).bit_count() == 5 * 5 * 60
