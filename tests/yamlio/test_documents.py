"""Documents of a file: split and read as kubectl does, each mistake at its line."""

from __future__ import annotations

import pytest

from gpupool.findings import Severity
from gpupool.yamlio.documents import MAX_DOCUMENTS, Document, read_documents
from gpupool.yamlio.located import find, leaves, plain


def documents(text: bytes) -> list[Document]:
    return list(read_documents(text, "f"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"a: y", {"a": True}),
        (b"a: 010", {"a": 8}),
        (b"a: 1_000", {"a": 1000}),
        (b"a: 1e3", {"a": 1000}),
        (b"a: 1.0", {"a": 1}),
        (b"a: 18446744073709551615", {"a": 18446744073709551615.0}),
        (b"010: a\ntrue: b\n1.5: c\n1e6: d\n.inf: e", {"8": "a", "true": "b", "1.5": "c", "1e+06": "d", ".inf": "e"}),
        (b"a: &x {k: 1}\nb: {<<: *x, z: 2}", {"a": {"k": 1}, "b": {"k": 1, "z": 2}}),
        (b"b: {<<: [{k: 1}, {z: 2}]}", {"b": {"k": 1, "z": 2}}),
        (b"b: {'<<': 1}", {"b": {"<<": 1}}),
        (b"a: !Ref x\nb: !!binary aGk=\nc: !!str 1", {"a": "x", "b": "hi", "c": "1"}),
        (b'a: "it\\\'s"', {"a": "it's"}),
        (b"a: [b:, c]", {"a": ["b:", "c"]}),
        (b'{"a": 1.0, "b": [1e2, "\\ud83d\\ude00", null], "c": {}}', {"a": 1, "b": [100, "😀", None], "c": {}}),
        (b'{"a": "\\ud83d"}', {"a": "\ufffd"}),
        (b"{a: 'x', b: y}", {"a": "x", "b": True}),
    ],
)  # fmt: skip
def test_values_are_those_that_kubectl_sends(text: bytes, value: object) -> None:
    (document,) = documents(text)

    assert document.findings == ()
    assert document.node is not None
    assert plain(document.node) == value
    assert [type(leaf.value) for _, leaf in leaves(document.node)] == [type(leaf) for leaf in flat(value)]


def flat(value: object) -> list[object]:
    if isinstance(value, dict) and value:
        return [leaf for item in value.values() for leaf in flat(item)]
    if isinstance(value, list) and value:
        return [leaf for item in value for leaf in flat(item)]
    return [value]


MISTAKES = [
    (b"a: 1\nb: 2\na: 3\n", "GP1003", 3, 1, "duplicate key 'a'; the first is on line 1"),
    (b'{"a": 1,\n "a": 2}', "GP1003", 2, 2, "duplicate key 'a'; the first is on line 1"),
    (b"x: &x {a: 1}\ny:\n  <<: *x\n  a: 2\n", "GP1003", 4, 3, "duplicate key 'a'; the first is on line 1"),
    (b"x: &x {a: 1}\ny:\n  a: 2\n  <<: *x\n", "GP1003", 4, 3, "duplicate key 'a'; the first is on line 3"),
    (b"a: .inf\n", "GP1002", 1, 4, "'.inf' is not a finite number"),
    (b"~: a\n", "GP1002", 1, 1, "the key is null or missing"),
    (b"18446744073709551615: a\n", "GP1002", 1, 1, "has more than 64 bits"),
    (b"a: {<<: 1}\n", "GP1002", 1, 5, "the merge key `<<` requires a map"),
    (b"a: &b [{c: 1}]\nd: {<<: *b}\n", "GP1002", 2, 5, "the merge key `<<` requires a map"),
    (b"a: &b []\nd: {<<: *b}\n", "GP1002", 2, 5, "the merge key `<<` requires a map"),
    (b"? [a]\n: b\n", "GP1002", 1, 3, "a list can't be a key"),
    (b"a: !!int x\n", "GP1002", 1, 4, "'x' is not a valid !!int for kubectl"),
    (b"a: !!binary '*'\n", "GP1002", 1, 4, "the !!binary value is not base64"),
    (b"a: !!timestamp x\n", "GP1002", 1, 4, "is not a valid !!timestamp"),
    (b'{"a": 1e999}', "GP1002", 1, 7, "the number '1e999' is too large"),
    (b"a:\n\tb: c\n", "GP1002", 2, 1, "tab in the indentation"),
    (b"# x\n---\na: 1\n---\nb: 'c\n", "GP1002", 5, 4, "the quote ' is never closed"),
    (b"a: 1\n---\nb:\n    c: 1\n  d: 2\n", "GP1002", 5, 3, "the map that starts on line 3"),
    (b"a: 1\n---\nb: [1\nc: 2\n", "GP1002", 3, 4, "still open on line 4"),
    (b"a: 1\n--- b\n", "GP1002", 2, 1, "'b' after `---`"),
    (b"a: 1\n----\n", "GP1002", 2, 1, "'-' after `---`"),
    (b"# x\n%YAML 1.1\n---\na: 1\n", "GP1002", 2, 1, "a `%` directive"),
    (b"a: 1\n---\nb: \x01\n", "GP1002", 3, 4, "the control character U+0001"),
    (b"a: 1\n---\nb: 1\n\xef\xbb\xbfc: 2\n", "GP1002", 4, 1, "unexpected byte order mark"),
    (b'a: "b\\/c"\n', "GP1002", 1, 4, "kubectl does not support `\\/`"),
    (b"a: [http://x?y]\n", "GP1002", 1, 5, "contains `?` in brackets"),
    (b"a: *b\n", "GP1002", 1, 4, "the alias *b has no anchor above it"),
    (b"a: &b 1\n---\nc: *b\n", "GP1002", 3, 4, "the alias *b has no anchor above it"),
    (b"a: b\xff\n", "GP1001", 1, 5, "not UTF-8: invalid byte 0xff"),
    ("a: b".encode("utf-16"), "GP1001", 1, 1, "UTF-16, not UTF-8"),
    (b"[" * 17_000_000, "GP1001", 0, 0, "16.2 MiB"),
    (b"[" * 1000, "GP1002", 1, 201, "more than 200 nested maps and lists"),
    (b'{"a":' * 1000, "GP1002", 1, 1001, "more than 200 nested maps and lists"),
    (b"a: &a [" + b"1," * 1000 + b"]\nb: [" + b"*a," * 1000 + b"]", "GP1002", 2, 899, "more than 300,000 values"),
    (b'{"a":1}\n{"a":2}\n{"a":', "GP1002", 3, 6, "invalid JSON: expected a value"),
    (b'{"a":1}\n{"a":2}\n{"a" 1}', "GP1002", 3, 6, "invalid JSON: expected `:`"),
    (b'{"a":1}\n{"a":2}\n{"a\n', "GP1002", 3, 2, "invalid JSON: the string is not closed"),
    (b'{"a":1}\n{"a":2}\n{"\\q": 1}', "GP1002", 3, 2, "invalid JSON: unknown escape"),
    (b'{"a":1}\n{"a":2}\n{a: 1}', "GP1002", 3, 2, "invalid JSON: expected a string in double quotes"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "code", "line", "column", "words"), MISTAKES, ids=lambda value: repr(value)[:30]
)
def test_one_mistake_is_one_finding(text: bytes, code: str, line: int, column: int, words: str) -> None:
    (finding,) = [finding for document in documents(text) for finding in document.findings]

    assert (finding.code, finding.at) == (code, ("f", line, column))
    assert words in finding.message
    assert finding.severity is Severity.ERROR
    assert finding.fix


def test_a_broken_document_spoils_no_other() -> None:
    first, second, third = documents(b"a: [\n---\nb: 1\n---\nc: 'x\n")

    assert (first.node, third.node) == (None, None)
    assert second.node is not None
    assert plain(second.node) == {"b": 1}
    assert [document.at.line for document in (first, second, third)] == [1, 3, 5]


@pytest.mark.parametrize("text", [b"", b"\n", b"---\n---\n", b"# a\n---\n# b\n", b"null\n---\n~\n", b"   "])
def test_what_holds_nothing_is_no_document(text: bytes) -> None:
    assert documents(text) == []


@pytest.mark.parametrize("text", [b"a: 1\n...\nb: 2\n", b"{a: 1}\nb: 2\n", b"a: 1\n...\n# x\n\nb: '\n"])
def test_what_stands_behind_the_end_of_a_document_is_a_warning(text: bytes) -> None:
    (document,) = documents(text)

    (finding,) = document.findings
    assert document.node is not None
    assert plain(document.node) == {"a": 1}
    assert finding.severity is Severity.WARNING
    assert text.splitlines()[finding.at.line - 1].startswith(b"b:")


def test_places_are_those_of_the_file() -> None:
    first, second = documents(b"\xef\xbb\xbf# x\r\na: 1\r\n---\r\n\r\nb:\r\n  c: 2\r\n")

    assert first.at == ("f", 2, 1)
    inner = find(second.node, "b", "c")
    assert inner is not None
    assert (inner.at, inner.key) == (("f", 6, 6), ("f", 6, 3))


def test_places_in_json_are_those_of_the_file() -> None:
    first, second = documents(b'\n{"a": 1}\n{\n\t"b": {"c":\n2}}')

    assert first.at == ("f", 2, 1)
    inner = find(second.node, "b", "c")
    assert inner is not None
    assert (inner.at, inner.key, inner.text) == (("f", 5, 1), ("f", 4, 8), "2")


def test_of_two_equal_keys_the_last_one_counts_as_for_kubectl() -> None:
    for text in (b"a: 1\na: 2\n", b'{"a": 1, "a": 2}', b"x: 1\n<<: {a: 1}\na: 2\n"):
        node = documents(text)[0].node
        found = find(node, "a")
        assert found is not None
        assert found.value == 2


def test_a_json_text_of_nothing_but_mistakes_is_left_at_some_point() -> None:
    (document,) = documents(b'{"a":1' + b',"a":1' * 5_000 + b"}")

    assert document.node is None
    assert len(document.findings) == 1_001
    assert "the rest is not read" in document.findings[-1].message


def test_values_are_counted_in_json_too() -> None:
    (document,) = documents(b'{"a":[' + b"1," * 400_000 + b"1]}")

    assert [finding.message for finding in document.findings] == ["more than 300,000 values in the file"]


def test_values_are_counted_for_each_document_with_every_alias_written_out() -> None:
    part = b"a: &a [" + b"1," * 1000 + b"]\nb: [" + b"*a," * 200 + b"]\n"

    first, second = documents(part + b"---\n" + part)
    (third,) = documents(part.replace(b"*a," * 200, b"*a," * 300))

    assert (first.findings, second.findings) == ((), ())
    assert first.values == second.values == 1000 + 200 * 1001 + 3
    assert "more than 300,000 values" in third.findings[0].message


def test_a_file_of_very_many_documents_ends_with_a_finding() -> None:
    found = documents(b"a: 1\n---\n" * (MAX_DOCUMENTS + 5))

    assert len(found) == MAX_DOCUMENTS + 1
    assert "more than 20,000 documents" in found[-1].findings[0].message


def test_only_so_many_texts_with_a_colon_at_the_end_are_read() -> None:
    (document,) = documents(b"a: [" + b"x:, " * 60 + b"]")

    assert document.node is None
    assert "more than 50 escaped" in document.findings[0].message
