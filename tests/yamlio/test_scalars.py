"""Tests of what plain scalars mean."""

from __future__ import annotations

import math

import pytest

from gpupool.yamlio.scalars import read_plain, resolve_core, resolve_kubectl


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *((word, None) for word in ("", "~", "null", "Null", "NULL")),
        *((word, True) for word in ("true", "True", "TRUE")),
        *((word, False) for word in ("false", "False", "FALSE")),
        *(("0", 0), ("12", 12), ("-7", -7), ("+12", 12), ("010", 10), ("0o17", 15), ("0x1F", 31)),
        *(("1.5", 1.5), ("1.", 1.0), (".5", 0.5), ("-.5", -0.5), ("1e3", 1000.0), ("1.5E-3", 0.0015)),
        *((".inf", math.inf), ("-.INF", -math.inf), ("+.Inf", math.inf), ("1e999", math.inf)),
    ],
)
def test_the_core_schema(text: str, value: object) -> None:
    found = resolve_core(text)

    assert found == value
    assert type(found) is type(value)


def test_not_a_number_is_one_of_the_core_schema() -> None:
    found = [resolve_core(text) for text in (".nan", ".NaN", ".NAN")]

    assert all(isinstance(value, float) and math.isnan(value) for value in found)


TEXTS = """
yes no on off y n tRUE nULL 1_000 0b11 0O17 0X1F -0x1f 12:30 2026-08-10 . + - 1e .e5 0o8 0xg nan inf
+true
"""


@pytest.mark.parametrize("text", TEXTS.split())
def test_text_in_the_core_schema(text: str) -> None:
    assert resolve_core(text) == text


@pytest.mark.parametrize(
    ("text", "theirs"),
    [
        *(("y", "true"), ("Y", "true"), ("yes", "true"), ("Yes", "true"), ("YES", "true")),
        *(("on", "true"), ("On", "true"), ("ON", "true")),
        *(("n", "false"), ("N", "false"), ("no", "false"), ("No", "false"), ("NO", "false")),
        *(("off", "false"), ("Off", "false"), ("OFF", "false")),
        *(("010", "the number 8"), ("-010", "the number -8"), ("0_7", "the number 7")),
        *(
            ("1_000", "the number 1000"),
            ("1_", "the number 1"),
            ("-_1", "the number -1"),
            ("0x_1f", "the number 31"),
        ),
        *(("1_0.5", "the number 10.5"), (".5_0", "the number 0.5"), ("1e_3", "the number 1000.0")),
        *(
            ("0b11", "the number 3"),
            ("-0b11", "the number -3"),
            ("0O17", "the number 15"),
            ("0X1F", "the number 31"),
        ),
        *(("-0x1f", "the number -31"), ("-0o7", "the number -7")),
        *(("18446744073709551616", "the number 1.8446744073709552e+19"), ("0x1ffffffffffffffff", "a string")),
    ],
)
def test_a_scalar_that_kubectl_reads_otherwise_is_ambiguous(text: str, theirs: str) -> None:
    reading = read_plain(text)

    assert reading.code == "GP0004"
    assert reading.problem.startswith(repr(text))
    assert reading.problem.endswith(f" in YAML 1.2, but {theirs} for kubectl and Helm")
    assert reading.value == resolve_core(text)


@pytest.mark.parametrize("text", ["00", "007", "08", "012345678901", "+09", "-0123456789"])
def test_a_number_never_begins_with_a_zero(text: str) -> None:
    assert read_plain(text).code == "GP0004"


@pytest.mark.parametrize("text", [".inf", "-.INF", ".nan", "1e999", "-1e999"])
def test_a_number_is_finite(text: str) -> None:
    assert read_plain(text).code == "GP0004"
    assert "is not a finite number" in read_plain(text).problem


SAME_TO_ALL = """
12:30 190:20:30 2026-08-10 2026-08-10T00:00:00Z = << _1 0o17 0x1f 1e3 1. .5 +12 -0 0.5 01.5 true ~
null 18446744073709551615 -9223372036854775808 14d 2000Gi tRue yEs p5.48xlarge 0.1.2 0x 1e + . -x
"""


@pytest.mark.parametrize("text", SAME_TO_ALL.split())
def test_a_scalar_that_all_read_the_same_is_fine(text: str) -> None:
    reading = read_plain(text)

    assert reading.code == ""
    assert reading.value == resolve_core(text) == resolve_kubectl(text)


@pytest.mark.parametrize("text", ["\u00a0pools", "pools\u00a0", "\u200bpools", "x\u3000"])
def test_an_invisible_blank_at_the_edge_is_an_error(text: str) -> None:
    reading = read_plain(text)

    assert reading.code == "GP0002"
    assert any(f"U+{ord(character):04X}" in reading.problem for character in text if not character.isascii())


def test_messages_stay_short() -> None:
    assert len(read_plain("9" * 5000).problem) < 300
    assert len(read_plain("0x" + "f" * 900).problem) < 300
