"""Short texts of inputs, and the line of the part of one that changed."""

import pytest

from gpupool.planning.input_texts import find_changed_places, format_input
from gpupool.yamlio.located import Located
from gpupool.yamlio.read import read


def located(text: str) -> Located:
    node = read(text.encode(), "f").node
    assert node is not None
    return node


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("500", "500"), ("1.50", "1.50"), ("true", "true"), ("~", "null"), ("''", '""'), ("[a100, h100]", "a100,h100"), ("[]", ""),
        ("{min: 64Gi}", "min 64Gi"), ("{min: 1, max: 8}", "min 1, max 8"), ("a b", "a_b"),
        ("{days: sat, hours: '22:00-04:00', timezone: America/New_York}", "sat 22:00-04:00 America/New_York"),
        ("{hours: '22:00-04:00', days: [sat, sun], nodes: 2, reasons: [Empty]}", "sat,sun 22:00-04:00 nodes 2 reasons Empty"),
        ("[{days: sat}, {days: sun}]", "sat; sun"), ("[{nodes: 10%}, {nodes: 0}]", "nodes 10%; nodes 0"),
    ],
)  # fmt: skip
def test_a_text(text: str, short: str) -> None:
    assert format_input(located(text)) == short


def test_a_long_text_is_cut_and_still_tells_two_values_apart() -> None:
    one, other = (format_input(located(f"[{'x, ' * 100}{last}]")) for last in "yz")

    assert len(one) == len(other) == 198
    assert one != other
    assert [str(at) for at in find_changed_places(located("[1, 2]"), one)] == ["f:1:1"]


@pytest.mark.parametrize(
    ("text", "old", "lines"),
    [
        ("- days: sat\n  hours: 23:00-05:00\n", "sat 22:00-04:00", [2]),
        ("- days: sat\n- days: mon\n", "sat; sun", [2]),
        ("- a\n- c\n", "a,b", [2]),
        ("- a\n- b\n- c\n", "a,b", [3]),
        ("- a\n", "a,b", [1]),
        ("min: 1\nmax: 9\n", "min 1, max 8", [2]),
        ("5", "6", [1]),
    ],
)
def test_the_line_that_changed(text: str, old: str, lines: list[int]) -> None:
    assert [at.line for at in find_changed_places(located(text), old)] == lines
