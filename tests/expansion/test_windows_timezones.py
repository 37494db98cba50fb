"""The standing rules of time zones: all of them, in the package's own data."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from gpupool.blueprint.timezones import find_similar_timezones, timezone_names
from gpupool.expansion.windows.timezones import UnknownTimezoneError, find_regimes, has_dated_changes
from tests.budgets.clocks import load

DAY = 24 * 60
WEEK = 7 * DAY
YEAR_ONE = datetime(1, 1, 1, tzinfo=UTC)


def months(timezone: str, offset: int, start: int = 0, length: int = 1) -> set[int]:
    (found,) = (regime for regime in find_regimes((timezone,)) if regime.offsets == (offset,))
    return set(found.months(start, length))


def test_every_zone_has_a_standing_rule_of_whole_minutes() -> None:
    """Hold the spells against each third day of four far years, on which nothing is cut short or left out."""
    begin = datetime(2411, 1, 1, 12, tzinfo=UTC)
    for name in timezone_names():
        zone = load(name)
        known = {regime.offsets[0] for regime in find_regimes((name,))}
        seen = {(begin + timedelta(days=day)).astimezone(zone).utcoffset() for day in range(0, 4 * 365, 3)}
        assert {timedelta(minutes=offset) for offset in known} == seen, name
        assert len(known) <= 2, name


def test_spells_follow_one_another_without_a_gap() -> None:
    for zones in (("America/New_York",), ("America/New_York", "Europe/Berlin"), ("UTC",)):
        spells = sorted(spell for regime in find_regimes(zones) for spell in regime.spells)
        assert all(one[1] == other[0] for one, other in pairwise(spells))


def test_new_york_is_in_both_offsets_in_march_and_november() -> None:
    assert months("America/New_York", -240, 2 * DAY) == {3, 4, 5, 6, 7, 8, 9, 10, 11}
    assert months("America/New_York", -300, 2 * DAY) == {11, 12, 1, 2, 3}


def test_a_stretch_counts_in_the_month_in_which_it_begins() -> None:
    """Winter may begin on Sunday, 1 November at 06:00 UTC; what begins on Saturday at 23:00 meets it in October."""
    saturday = 5 * DAY + 23 * 60
    assert months("America/New_York", -300, saturday, 7 * 60) == {11, 12, 1, 2, 3}
    assert months("America/New_York", -300, saturday, 7 * 60 + 1) == {10, 11, 12, 1, 2, 3}


def test_the_rule_is_the_one_after_all_dated_changes() -> None:
    """Gaza's table is dated until 2086 for Ramadan; the rule after it is summer from March or April to October."""
    assert has_dated_changes("Asia/Gaza")
    assert not has_dated_changes("America/New_York")
    assert {regime.offsets[0] for regime in find_regimes(("Asia/Gaza",))} == {120, 180}


def test_two_zones_make_the_combinations_that_occur() -> None:
    """Berlin changes on the last Sunday of October, New York on the first of November, and in March the other way."""
    found = {
        regime.offsets: set(regime.months(2 * DAY, 1))
        for regime in find_regimes(("America/New_York", "Europe/Berlin"))
    }
    assert found == {
        (-300, 60): {11, 12, 1, 2, 3},
        (-240, 60): {3, 10, 11},
        (-240, 120): {3, 4, 5, 6, 7, 8, 9, 10},
    }


@pytest.mark.parametrize("name", ["Mars/Olympus", "../UTC", "/etc/localtime", "utc", ""])
def test_only_names_of_the_database_are_opened(name: str) -> None:
    with pytest.raises(UnknownTimezoneError, match="unknown time zone `"):
        find_regimes((name,))


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("utc", "UTC"), ("Asia/Calcuta", "Asia/Calcutta"), ("sao paulo", "America/Sao_Paulo"), ("zzzz", None)],
)
def test_the_nearest_name_is_offered(name: str, nearest: str | None) -> None:
    assert next(iter(find_similar_timezones(name)), None) == nearest


@pytest.mark.parametrize(
    "zones", [("America/New_York",), ("Europe/Berlin",), ("America/New_York", "Europe/Berlin")]
)
@pytest.mark.parametrize("length", [1, 90, DAY])
def test_months_are_those_of_every_stretch_that_meets_a_spell(zones: tuple[str, ...], length: int) -> None:
    """Counted one by one, for stretches that begin at, before and after each minute at which the clocks change."""
    for regime in find_regimes(zones):
        edges = {edge % WEEK for spell in regime.spells for edge in spell}
        for start in {(edge + more) % WEEK for edge in edges for more in (-length, -1, 0, 1)}:
            counted = {
                (YEAR_ONE + timedelta(minutes=begin)).month
                for first, last in regime.spells
                for begin in range(first - WEEK, last + WEEK)[(start - first) % WEEK :: WEEK]
                if begin < last and begin + length > first
            }
            assert regime.months(start, length) == counted, (zones, length, start)
