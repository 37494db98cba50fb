"""Tables on a terminal: less important columns are left out, then the last one continues below itself."""

from typing import Final

from gpupool.reports.tables import align_rows, select_columns

ROWS: Final = [
    ("NAME", "N", "EXTRA", "NOTE"),
    ("a", "1", "x" * 20, "the pool launches nothing in the region of the cluster"),
    ("long", "10", "", ""),
]


def test_every_column_without_a_width() -> None:
    assert list(align_rows(ROWS, right={1}))[1:] == [
        "a      1  xxxxxxxxxxxxxxxxxxxx  the pool launches nothing in the region of the cluster",
        "long  10",
    ]


def test_the_last_column_continues_below_itself() -> None:
    assert list(align_rows(ROWS, right={1}, width=70, less_important=(2, 1))) == [
        "NAME   N  EXTRA                 NOTE",
        f"a      1  {'x' * 20}  the pool launches nothing in the\n{' ' * 32}region of the cluster",
        "long  10",
    ]


def test_less_important_columns_are_left_out_first() -> None:
    assert [select_columns(ROWS, width, (2, 1)) for width in (62, 61, 40, 39, 5)] == [
        [0, 1, 2, 3], [0, 1, 3], [0, 1, 3], [0, 3], [0, 3],
    ]  # fmt: skip
    assert list(align_rows(ROWS, right={1}, width=61, less_important=(2, 1)))[:2] == [
        "NAME   N  NOTE",
        "a      1  the pool launches nothing in the region of the\n          cluster",
    ]


def test_a_terminal_that_is_too_narrow_for_words_keeps_a_row_on_one_line() -> None:
    assert list(align_rows(ROWS[:2], right={1}, width=20, less_important=(2, 1)))[1] == f"a     {ROWS[1][3]}"


def test_no_rows() -> None:
    assert list(align_rows([], width=80)) == []
