"""Tests that no file makes the reader work without end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from yaml import CSafeLoader

from gpupool.yamlio import decoding, tree
from gpupool.yamlio.read import read

if TYPE_CHECKING:
    from yaml import Event

MEGABYTE = 1024 * 1024


def work(text: bytes) -> tuple[int, str]:
    """Count the events that are taken from a text before the reader stops, and say why it does."""
    taken = 0
    get_event = CSafeLoader(text).get_event

    def next_event() -> Event | None:
        nonlocal taken
        taken += 1
        return get_event()

    try:
        tree.TreeBuilder("f").run(next_event)
    except tree.StopError as problem:
        return taken, problem.finding.message
    return taken, ""


@pytest.mark.parametrize(
    ("text", "most", "why"),
    [
        (b"[" * 100_000, 100, "more than 64 nested maps and lists"),
        (b"{" * 100_000, 100, "more than 64 nested maps and lists"),
        (b"{a: " * 100_000, 200, "more than 64 nested maps and lists"),
        (b"- " * 100_000, 100, "more than 64 nested maps and lists"),
        (b"? " * 100_000, 100, "more than 64 nested maps and lists"),
        (
            b"".join(b" " * depth + b"a:\n" for depth in range(1000)),
            200,
            "more than 64 nested maps and lists",
        ),
        (b"a: &a x\nb: [" + b"*a, " * (MEGABYTE // 4) + b"*a]", 200_010, "more than 200,000 values"),
        (b"[" + b"1," * MEGABYTE + b"]", 200_010, "more than 200,000 values"),
        (b"- no\n" * 100_000, 1_010, "more than 1,000 errors"),
        (b"a: 1\n" * 100_000, 2_010, "more than 1,000 errors"),
        (b"---\n" * 100_000, 400, "more than 100 documents"),
    ],
    ids=lambda value: value[:6] if isinstance(value, bytes) else None,
)
def test_the_reader_stops_early(text: bytes, most: int, why: str) -> None:
    taken, said = work(text)

    assert taken <= most
    assert why in said


def test_a_billion_laughs_are_refused_where_they_get_too_many() -> None:
    lines = ["a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]

    (finding,) = read("\n".join(lines).encode(), "f").findings

    assert (finding.code, finding.at) == ("GP0002", ("f", 6, 10))
    assert "more than 200,000 values" in finding.message


def test_aliases_nest_no_deeper_than_written_out() -> None:
    lines = ["- &a0 [x]", *(f"- &a{n} [*a{n - 1}]" for n in range(1, 100))]

    (finding,) = read("\n".join(lines).encode(), "f").findings

    assert finding.at == ("f", 64, 9)
    assert "more than 64 nested maps and lists" in finding.message


@pytest.mark.parametrize(("levels", "is_fine"), [(54, True), (55, False)])
def test_an_alias_brings_its_levels_along(levels: int, is_fine: bool) -> None:
    text = f"- &a {'[' * levels}{']' * levels}\n- {'[' * 9}*a{']' * 9}\n"

    assert (read(text.encode(), "f").findings == ()) is is_fine


def test_sixty_four_levels_are_fine() -> None:
    assert read(b"[" * 64 + b"]" * 64, "f").findings == ()
    assert read(b"[" * 65 + b"]" * 65, "f").findings[0].at == ("f", 1, 65)


@pytest.mark.parametrize(
    "text",
    [
        b"a: " + b"x" * MEGABYTE,
        b"a: '" + b"x " * (MEGABYTE // 2) + b"'",
        b"a: |\n" + b"  x\n" * (MEGABYTE // 4),
        b"a:\n" + b"\n" * MEGABYTE,
        b"a: 0x" + b"9" * MEGABYTE,
    ],
    ids=lambda text: text[:6],
)
def test_long_texts_are_read(text: bytes) -> None:
    result = read(text, "f")

    assert result.node is not None
    assert result.findings == ()


def test_a_large_file_is_refused_before_it_is_parsed() -> None:
    (finding,) = read(b"[" * 50_000_000, "f").findings

    assert finding.code == "GP0001"
    assert "47.7 MiB" in finding.message
    assert finding.at == ("f", 0, 0)


def test_a_file_of_the_largest_size_is_read() -> None:
    assert read(b"#" * decoding.MAX_BYTES, "f").findings == ()
    assert read(b"#" * (decoding.MAX_BYTES + 1), "f").findings != ()


def test_the_thousandth_mistake_is_the_last() -> None:
    findings = read(b"- no\n" * 5_000, "f").findings

    assert len(findings) == tree.MAX_FINDINGS + 1
    assert "the rest is not read" in findings[-1].message
