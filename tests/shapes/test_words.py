"""Pydantic's errors in human words, at the place that caused them."""

from typing import Annotated, Literal

import pytest
from pydantic import Field, ValidationError

from gpupool.shapes.annotations import Matching, Since, form, is_match, number_or_text
from gpupool.shapes.base import Flag, NonEmpty, Shape, Whole
from gpupool.shapes.compiled import Model
from gpupool.shapes.docs import build_json_schema, read_field_docs
from gpupool.shapes.error_messages import (
    convert_errors,
    find_close_match,
    format_path,
    list_field_names,
    list_keys,
    locate,
)
from gpupool.yamlio.located import Located, plain
from gpupool.yamlio.read import read


class Inner(Shape):
    """A part."""

    some_count: Annotated[Whole, Field(ge=1, le=9)] | None = None
    """How many."""

    color: Literal["red", "green"] | None = None
    """Which color."""


class Outer(Shape):
    """A whole."""

    name: Annotated[str, Matching(r"^[a-z]+$", "a word such as abc")]
    """The name."""

    inner: Inner | None = None
    """One part."""

    parts: dict[str, Inner | None] | None = None
    """Parts by name."""

    row: Annotated[list[Inner], Field(min_length=1, max_length=2)] | None = None
    """Parts in a row."""

    on: Annotated[Flag | None, Since("1.9", gate="Fast")] = None
    """Whether it is on."""

    note: NonEmpty | None = None
    """Some
    words."""


def node(text: str) -> Located:
    made = read(text.encode(), "f").node
    assert made is not None
    return made


def said(text: str) -> list[str]:
    root = node(text)
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(plain(root))
    return [
        f"{each.at.line}:{each.at.column} {each.code} {each.message}" + (f"; {each.fix}" if each.fix else "")
        for each in convert_errors(caught.value, root, Model(__name__, "Outer"))
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", "1:1 GP0011 `name` is missing"),
        (
            "{name: a, inner: {colour: red}}",
            "1:19 GP0010 unknown field `colour` in `inner`; did you mean `color`?",
        ),
        (
            "{name: a, inner: {zzz: 1}}",
            "1:19 GP0010 unknown field `zzz` in `inner`; use one of someCount, color",
        ),
        (
            "{name: a, inner: {some_count: 1}}",
            "1:19 GP0010 unknown field `some_count` in `inner`; did you mean `someCount`?",
        ),
        ("{name: a, inner: 1}", "1:18 GP0012 `inner` must be a map, not the number 1"),
        ("{name: a, inner: []}", "1:18 GP0012 `inner` must be a map, not a list"),
        ("{name: a, row: {}}", "1:16 GP0012 `row` must be a list, not a map"),
        ("{name: a, row: []}", "1:16 GP0013 `row`: 0 items, at least 1 required"),
        ("{name: a, row: [{}, {}, {}]}", "1:16 GP0013 `row`: 3 items, at most 2 allowed"),
        ("{name: a, row: [x]}", "1:17 GP0012 `row[0]` must be a map, not the string `x`"),
        ("{name: a, on: 1}", "1:15 GP0012 `on` must be true or false, not the number 1"),
        (
            "{name: a, parts: {p: {someCount: 0}}}",
            "1:34 GP0013 `parts.p.someCount`: `0` is less than 1; set `1` or more",
        ),
        (
            "{name: a, parts: {p: {someCount: 10}}}",
            "1:34 GP0013 `parts.p.someCount`: `10` is more than 9; set `9` or less",
        ),
        (
            "{name: a, parts: {a.b/c: {someCount: x}}}",
            "1:38 GP0012 `parts[a.b/c].someCount` must be a whole number, not the string `x`",
        ),
        (
            "{name: a, inner: {color: rde}}",
            "1:26 GP0013 `inner.color`: `rde` is not one of 'red' or 'green'; did you mean `red`?",
        ),
        ("{name: a, inner: {color: 7}}", "1:26 GP0013 `inner.color`: `7` is not one of 'red' or 'green'"),
        ("{name: A}", "1:8 GP0013 `name`: `A` is not a word such as abc"),
        ("{name: 1}", "1:8 GP0012 `name` must be a word such as abc, not the number 1"),
        ("{name: []}", "1:8 GP0012 `name` must be a word such as abc, not a list"),
        (
            "{name: null}",
            "1:8 GP0012 `name` must be a word such as abc, not null",
        ),
        ("{name: a, note: ''}", "1:17 GP0013 `note`: must be a non-empty string, not the empty string"),
        (
            "{name: a, note: 1.30}",
            '1:17 GP0012 `note` must be a non-empty string, not the number 1.30; put it in quotes: `"1.30"`',
        ),
    ],
)
def test_a_mistake(text: str, expected: str) -> None:
    assert said(text) == [expected]


def test_every_mistake_is_said() -> None:
    assert len(said("{name: A, on: 1, inner: {someCount: 0, color: x, y: 1}}")) == 5


def test_a_long_value_is_said_in_part() -> None:
    (message,) = said(f"{{name: {'A' * 500}}}")

    assert message == f"1:8 GP0013 `name`: `{'A' * 80}…` is not a word such as abc"


def test_keys_at_follows_maps_lists_and_unions() -> None:
    assert list_keys(Outer, ("parts", "any")) == ["someCount", "color"]
    assert list_keys(Outer, ("row", 3)) == ["someCount", "color"]
    assert list_keys(Outer, ("name",)) == []
    assert list_keys(Outer, ("none", "at", "all")) == []
    assert list_keys(Outer, ()) == list_field_names(Outer)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ((), ""),
        (("a", "b"), "a.b"),
        (("a", 0, "b"), "a[0].b"),
        (("a", "x.y/z", "b"), "a[x.y/z].b"),
        (("x.y",), "[x.y]"),
    ],
)
def test_dotted(path: tuple[str | int, ...], expected: str) -> None:
    assert format_path(path) == expected


def test_nearest_is_near_or_nothing() -> None:
    assert find_close_match("Taints", ["taints", "tags"]) == "taints"
    assert find_close_match("expireafter", ["expireAfter"]) == "expireAfter"
    assert find_close_match("qqq", ["taints"]) == ""
    assert find_close_match("x", []) == ""


def test_locate_goes_as_far_as_it_can() -> None:
    root = node("{a: [{b: 1}]}")

    assert locate(root, ("a", 0, "b"))[1:] == (("a", 0, "b"), True)
    assert locate(root, ("a", "<list>", 0, "b", "<one>"))[1:] == (("a", 0, "b"), True)
    assert locate(root, ("a", 7))[1:] == (("a",), False)
    assert locate(root, ("z", "y"))[1:] == ((), False)


def test_patterns_mean_what_they_mean_in_go() -> None:
    assert is_match("^a$", "a")
    assert not is_match("^a$", "a\n")
    assert is_match("b", "abc")
    assert not is_match(r"^\d$", "٣")


VALUES: tuple[object, ...] = ({}, [], "x", 1, None)


def test_the_tags_of_values() -> None:
    assert [form(value) for value in VALUES] == ["<map>", "<list>", "<one>", "<one>", "<one>"]
    assert [number_or_text(value) for value in (1, 1.5, "1", None)] == [
        "<number>",
        "<number>",
        "<text>",
        "<text>",
    ]


def test_the_docstring_under_a_field_is_its_description() -> None:
    assert read_field_docs(Outer)["note"] == "Some words."
    assert (
        read_field_docs(Outer)["on"] == "Whether it is on. Since Karpenter 1.9, with the feature gate Fast."
    )


def test_the_schema_says_the_same() -> None:
    made = build_json_schema(Outer)

    assert made["properties"]["name"] == {"description": "The name.", "pattern": "^[a-z]+$", "type": "string"}
    assert made["$defs"]["Inner"]["properties"]["someCount"]["description"] == "How many."
    assert "default" not in made["properties"]["inner"]
    assert made["additionalProperties"] is False


def test_the_nearest_word_is_found_whatever_its_capitals() -> None:
    assert find_close_match("efa", ["EFA", "none"]) == "EFA"
    assert find_close_match("NODES", ["nodes", "node"]) == "nodes"
    assert find_close_match("zebra", ["EFA", "none"]) == ""
