"""Days and hours of a window: what is read, and what is refused in which words."""

import pytest

from gpupool.blueprint.windows import DEFAULT_REASONS, Window, WindowValueError, parse_days, parse_hours

MON, TUE, WED, THU, FRI, SAT, SUN = range(7)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("mon", {MON}),
        ("sun", {SUN}),
        ("mon-fri", {MON, TUE, WED, THU, FRI}),
        ("Mon-Fri", {MON, TUE, WED, THU, FRI}),
        ("sat-sun", {SAT, SUN}),
        ("fri-mon", {FRI, SAT, SUN, MON}),
        ("sun-sat", set(range(7))),
        ("tue-mon", set(range(7))),
        ("daily", set(range(7))),
        (["sat", "sun"], {SAT, SUN}),
        (["mon-wed", "sat"], {MON, TUE, WED, SAT}),
        (["sat", "sat"], {SAT}),
    ],
)
def test_days_are_read(text: str | list[str], days: set[int]) -> None:
    assert parse_days(text) == days


@pytest.mark.parametrize(
    ("text", "what", "fix"),
    [
        ("monday", "unknown day 'monday'", "did you mean `mon`?"),
        ("thrusday", "unknown day 'thrusday'", "did you mean `thu`?"),
        ("sta", "unknown day 'sta'", "did you mean `sat`?"),
        ("dayly", "unknown day 'dayly'", "did you mean `daily`?"),
        ("mon-fir", "unknown day 'fir' in 'mon-fir'", "did you mean `mon-fri`?"),
        ("weekdays", "unknown day 'weekdays'", "write `mon-fri`"),
        ("weekend", "unknown day 'weekend'", "write `sat-sun`"),
        ("", "unknown day ''", "`mon-fri`, `[sat, sun]` or `daily`"),
        ("1-5", "unknown day '1' in '1-5'", "`mon-fri`, `[sat, sun]` or `daily`"),
        ("mon-", "unknown day '' in 'mon-'", "`mon-fri`"),
        ("mon-wed-fri", "unknown day 'wed-fri' in 'mon-wed-fri'", "did you mean `[mon, wed, fri]`?"),
        ("mon-mon", "begins and ends on the same day", "write `mon` for one day, or `daily`"),
        ("sat, sun", "is one text, not a list of days", "write `[sat, sun]`"),
        ([], "the list of days is empty", "`mon-fri`, `[sat, sun]` or `daily`"),
        (["sat", "sunn"], "unknown day 'sunn'", "did you mean `sun`?"),
    ],
)
def test_other_days_are_refused_in_plain_words(text: str | list[str], what: str, fix: str) -> None:
    with pytest.raises(WindowValueError) as raised:
        parse_days(text)
    assert what in str(raised.value)
    assert fix in raised.value.fix


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("22:00-06:00", (22 * 60, 6 * 60)),
        ("09:00-17:30", (9 * 60, 17 * 60 + 30)),
        ("00:00-24:00", (0, 24 * 60)),
        ("18:00-24:00", (18 * 60, 24 * 60)),
        ("18:00-00:00", (18 * 60, 0)),
        ("00:00-00:01", (0, 1)),
        ("23:59-23:58", (23 * 60 + 59, 23 * 60 + 58)),
    ],
)
def test_hours_are_read(text: str, hours: tuple[int, int]) -> None:
    assert parse_hours(text) == hours


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("9-17", "write `09:00-17:00`"),
        ("9:00-17:00", "write `09:00-17:00`"),
        ("09:00 - 17:00", "write `09:00-17:00`"),
        ("09:00–17:00", "write `09:00-17:00`"),  # noqa: RUF001 - the dash that editors put in
        ("9am-5pm", "write `09:00-17:00`"),
        ("10pm to 6am", "write `22:00-06:00`"),
        ("12am-12pm", "write `00:00-12:00`"),
        ("0-24", "write `00:00-24:00`"),
        ("9-33", "write `09:00-17:00`, or `22:00-06:00`"),
        ("13pm-15pm", "write `09:00-17:00`, or `22:00-06:00`"),
        ("9-9", "write `09:00-17:00`, or `22:00-06:00`"),
        ("24-6", "write `09:00-17:00`, or `22:00-06:00`"),
        ("09:00", "write `09:00-17:00`, or `22:00-06:00`"),
        ("at night", "write `09:00-17:00`, or `22:00-06:00`"),
        ("", "write `09:00-17:00`, or `22:00-06:00`"),
        ("25:00-26:00", "set hours from 00:00 to 23:59"),
        ("09:60-10:00", "set hours from 00:00 to 23:59"),
        ("24:00-06:00", "set hours from 00:00 to 23:59; the end may be 24:00"),
        ("06:00-24:01", "the end may be 24:00"),
        ("09:00-09:00", "remove `hours` for whole days"),
        ("00:00-00:00", "remove `hours` for whole days"),
    ],
)
def test_other_hours_are_refused_with_what_was_meant(text: str, fix: str) -> None:
    with pytest.raises(WindowValueError) as raised:
        parse_hours(text)
    assert f"'{text}'" in str(raised.value)
    assert fix in raised.value.fix


@pytest.mark.parametrize(
    ("hours", "start", "length"),
    [
        (None, 0, 1440),
        ((0, 1440), 0, 1440),
        ((540, 1020), 540, 480),
        ((1320, 360), 1320, 480),
        ((1080, 0), 1080, 360),
    ],
)
def test_a_window_knows_its_start_and_length(hours: tuple[int, int] | None, start: int, length: int) -> None:
    window = Window(frozenset({MON}), hours, "0", DEFAULT_REASONS, "UTC")
    assert (window.start, window.length) == (start, length)
