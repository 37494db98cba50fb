"""Tests of values and their places."""

from __future__ import annotations

import pytest

from gpupool.findings import Location
from gpupool.yamlio.located import Located, find, items, plain
from gpupool.yamlio.read import ParsedFile, read

BLUEPRINT = b"""\
# a comment
pools:
  chat:   # another
    zones: [a, "b"]
    weight: 0o17
    limits:
      cpu: "500"
      gpus: ~
    script: |
      echo
    taints:
    - key: x
      value:
"""


def root(text: bytes) -> Located:
    result = read(text, "f")
    assert result.findings == ()
    assert result.node is not None
    return result.node


def at(*path: str) -> tuple[object, ...]:
    """Return the place of the key, the place of the value, and the spelling."""
    node = find(root(BLUEPRINT), *path)
    assert node is not None
    assert node.key is not None
    return (*node.key[1:], *node.at[1:], node.text)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("pools", (2, 1, 3, 3, None)),
        ("pools chat", (3, 3, 4, 5, None)),
        ("pools chat zones", (4, 5, 4, 12, None)),
        ("pools chat weight", (5, 5, 5, 13, "0o17")),
        ("pools chat limits cpu", (7, 7, 7, 12, None)),
        ("pools chat limits gpus", (8, 7, 8, 13, "~")),
        ("pools chat script", (9, 5, 9, 13, None)),
        ("pools chat taints", (11, 5, 12, 5, None)),
    ],
)
def test_a_value_knows_its_key_its_beginning_and_its_spelling(
    path: str, expected: tuple[object, ...]
) -> None:
    assert at(*path.split()) == expected


def test_the_values_are_those_of_yaml_1_2() -> None:
    assert plain(root(BLUEPRINT)) == {
        "pools": {
            "chat": {
                "zones": ["a", "b"],
                "weight": 15,
                "limits": {"cpu": "500", "gpus": None},
                "script": "echo\n",
                "taints": [{"key": "x", "value": None}],
            }
        }
    }


def test_items_have_a_place_and_no_key() -> None:
    first, second = items(find(root(BLUEPRINT), "pools", "chat", "zones"))

    assert (first.at, first.key) == (Location("f", 4, 13), None)
    assert (second.at, second.key) == (Location("f", 4, 16), None)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_columns_count_characters_and_no_byte_order_mark(mark: bytes) -> None:
    node = root(mark + '{größe: "日本😀", b: x}'.encode())

    assert find(node, "größe") is not None
    b = find(node, "b")
    assert b is not None
    assert (b.key, b.at) == (Location("f", 1, 16), Location("f", 1, 19))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_three_ways(end: str) -> None:
    b = find(root(f"a: 1{end}b: 2{end}".encode()), "b")

    assert b is not None
    assert (b.at.line, b.value) == (2, 2)


@pytest.mark.parametrize("text", ["", "\n", "# a comment", "---\n", "---\n...\n", "\ufeff", "--- # x\n---\n"])
def test_nothing_in_a_file_is_no_mistake(text: str) -> None:
    assert read(text.encode(), "f") == ParsedFile(None, ())


@pytest.mark.parametrize(
    "text", ["a: b\n---\n", "---\na: b\n...\n", "a: b\n...\n---\n# x\n", "---\n---\na: b"]
)
def test_empty_documents_around_the_one_are_no_mistake(text: str) -> None:
    assert plain(root(text.encode())) == {"a": "b"}


@pytest.mark.parametrize(
    ("text", "value"),
    [("~", None), ("null", None), ("x", "x"), ('""', ""), ("- a", ["a"]), ("!!str", ""), ("&a", None)],
)
def test_a_document_may_be_any_value(text: str, value: object) -> None:
    assert plain(root(text.encode())) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("!!str 1", "1"), ("!!str no", "no"), ("!!str", ""), ("!!int '8'", 8), ("!!float 1", 1.0)),
        *(("!!float 1.5", 1.5), ("!!float -0.0", 0.0), ("!!bool TRUE", True), ("!!null ''", None)),
        *(("!!map {a: b}", {"a": "b"}), ("!!seq [a]", ["a"]), ("!<tag:yaml.org,2002:int> 1", 1)),
    ],
)
def test_core_tags_are_honoured(text: str, value: object) -> None:
    found = plain(root(f"a: {text}".encode()))

    assert found == {"a": value}
    assert isinstance(found, dict)
    assert type(found["a"]) is type(value)


def test_an_alias_has_its_own_key_and_the_place_of_what_it_stands_for() -> None:
    node = root(b"a: &x {k: 1}\nb: *x\nc: [*x, &y 0o7, *y]\n")
    b = find(node, "b")

    assert plain(node) == {"a": {"k": 1}, "b": {"k": 1}, "c": [{"k": 1}, 7, 7]}
    assert b is not None
    assert (b.key, b.at) == (Location("f", 2, 1), Location("f", 1, 4))
    assert [item.text for item in items(find(node, "c"))] == [None, "0o7", "0o7"]


def test_an_alias_may_be_a_key() -> None:
    assert plain(root(b"a: &x b\n*x : c\n")) == {"a": "b", "b": "c"}


def test_the_newest_anchor_of_a_name_counts() -> None:
    assert plain(root(b"- &a 1\n- *a\n- &a 2\n- *a\n- &b [&b 3]\n- *b\n")) == [1, 1, 2, 2, [3], 3]


def test_findings_leave_as_much_as_can_be_used() -> None:
    result = read(b"a: no\n1: b\n~: c\n[x]: d\na: twice\n<<: {e: f}\ng: h\n", "f")

    assert [finding.code for finding in result.findings] == ["GP0004", *["GP0002"] * 3, "GP0003", "GP0002"]
    assert result.node is not None
    assert plain(result.node) == {"a": "no", "1": "b", "g": "h"}
