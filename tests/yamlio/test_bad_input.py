"""Bad input: each with its code, its place and the words that name the mistake."""

from __future__ import annotations

import pytest

from gpupool.yamlio.read import read

UNREADABLE = [
    (b"a: \xff\n", "GP0001", 1, 4, "not UTF-8: invalid byte 0xff"),
    ("größe: ä\nb: ".encode() + b"\xe4\n", "GP0001", 2, 4, "not UTF-8: invalid byte 0xe4"),
    ("a: b".encode("utf-16"), "GP0001", 1, 1, "UTF-16, not UTF-8"),
    ("a: b".encode("utf-32"), "GP0001", 1, 1, "UTF-32, not UTF-8"),
    (b"\xfe\xff\x00a", "GP0001", 1, 1, "UTF-16, not UTF-8"),
    (b"a: b\n\x00c: d\n", "GP0001", 2, 1, "NUL byte"),
    (b"a: b\r\nc: \x1b[0m\r\n", "GP0001", 2, 4, "control character U+001B"),
    (b"a: \x7f", "GP0001", 1, 4, "control character U+007F"),
    ("a: b\n\ufeffc: d\n".encode(), "GP0001", 2, 1, "byte order mark"),
    ("a: b\u2028c\n".encode(), "GP0004", 1, 5, "U+2028 ends a line for kubectl"),
    ("a: b\x85c\n".encode(), "GP0004", 1, 5, "U+0085 ends a line for kubectl"),
]

SYNTAX = [
    (b"a:\n\tb: c\n", "GP0002", 2, 1, "tab in the indentation"),
    (b"a:\n  b: 1\n  \tc: 2\n", "GP0002", 3, 3, "tab in the indentation"),
    (b"a: |\n\tfoo\n", "GP0002", 2, 1, "tab in the indentation"),
    (b"a: 'foo\nb: c\n", "GP0002", 1, 4, "the quote ' is never closed"),
    (b'a: ["x", "y]\nb: c\n', "GP0002", 1, 10, 'the quote " is never closed'),
    (b'a: "b\n---\n', "GP0002", 1, 4, 'the quote " is never closed'),
    (b"a: [1, 2\nb: 3\n", "GP0002", 1, 4, "the bracket `[` is still open on line 2, at `: 3`"),
    (b"a: {b: 1\nc: 2\n", "GP0002", 1, 4, "the bracket `{` is still open on line 2"),
    (b"a: [1, 2", "GP0002", 1, 4, "the bracket `[` is never closed"),
    (b'a: ["1" 2]\n', "GP0002", 1, 9, "expected `,` or `]`, not `2]`"),
    (b"{a: b: c}", "GP0002", 1, 6, "expected `,` or `}`, not `: c}`"),
    (b"a: ]\n", "GP0002", 1, 4, "expected a value, not `]`"),
    (b"{: x}\n", "GP0002", 1, 2, "expected a value, not `: x}`"),
    (b"a: {b: c,, d: e}\n", "GP0002", 1, 10, "expected a value, not "),
    (
        b"a:\n    b: 1\n  c: 2\n",
        "GP0002",
        3,
        3,
        "`c: 2` is not the next key of the map that starts on line 1",
    ),
    (b"a:\n    b: 1\n  c: 2\n", "GP0002", 3, 3, "it starts in column 1, this line in column 3"),
    (b"a: b\n- c\n", "GP0002", 2, 1, "`- c` is not the next key of the map that starts on line 1"),
    (b"- a\nb: c\n", "GP0002", 2, 1, "`b: c` is not the next `- ` item of the list that starts on line 1"),
    (b"a: 1\n  b: 2\n", "GP0002", 2, 4, "the line is indented too far"),
    (b"a:b\nc: d\n", "GP0002", 2, 2, "a key is not allowed here"),
    (b"a: b: c\n", "GP0002", 1, 5, "a second `: ` in the line"),
    (b"a: 1\nfoo\nb: 2\n", "GP0002", 2, 1, "`foo` is not a `key: value` pair"),
    (b'a: "b" c\n', "GP0002", 1, 8, "`c` after the end of the value"),
    (b"a: - b\n", "GP0002", 1, 4, "a `- ` item can't start on this line"),
    (b"a: ? b\n", "GP0002", 1, 4, "`? ` is not allowed here"),
    (b"{a: 1}\nb: 2\n", "GP0002", 2, 1, "`b: 2` does not belong to a map or list above it"),
    (b"a: b\n...\nc: d\n", "GP0002", 3, 1, "`c: d` is after the end of the document"),
    (b"a: @foo\n", "GP0002", 1, 4, "a value can't start with `@`"),
    (b"a: %foo\n", "GP0002", 1, 4, "a value can't start with `%`"),
    (b"a: * 9 * * *\n", "GP0002", 1, 4, "`*` starts an alias"),
    (b"a: & b\n", "GP0002", 1, 4, "`&` starts an anchor"),
    (b'a: "\\d"\n', "GP0002", 1, 5, "unknown escape in double quotes"),
    (b'a: "\\xZZ"\n', "GP0002", 1, 7, "too few hexadecimal digits"),
    (b'a: "\\ud83d"\n', "GP0002", 1, 7, "is not a valid character"),
    (b"a: |foo\n", "GP0002", 1, 4, "only a comment is allowed after the `|` or `>`"),
    (b"a: |0\n", "GP0002", 1, 5, "can't be indented by 0"),
    (b"a: !foo!bar x\n", "GP0002", 1, 4, "unknown tag: `!foo!bar x`"),
    (b"a: !{x} y\n", "GP0002", 1, 4, "invalid tag after `!`"),
    (b"%FOO\n---\na: b\n", "GP0002", 1, 1, "starts a directive"),
    (b"%YAML\n---\na: b\n", "GP0002", 1, 1, "invalid %YAML directive"),
    (b"%YAML 2.0\n---\na: b\n", "GP0002", 1, 1, "unsupported YAML version"),
    (b"%TAG\n---\na: b\n", "GP0002", 1, 1, "invalid %TAG directive"),
    (b"a: b\n" + b"%TAG !x! y\n" * 100_000, "GP0002", 1, 1, "more than 16 %TAG directives"),
]

NOT_IN_A_BLUEPRINT = [
    (b"a: !Ref x\n", "GP0002", 1, 4, "unsupported tag !Ref"),
    (b"a: !!python/object:os.system x\n", "GP0002", 1, 4, "unsupported tag !!python/object:os.system;"),
    (b"a: !!set {x}\n", "GP0002", 1, 4, "unsupported tag !!set"),
    (b"a: !!binary aGk=\n", "GP0002", 1, 4, "unsupported tag !!binary"),
    (b"a: ! x\n", "GP0002", 1, 4, "unsupported tag !"),
    (b"a: !!int 1.5\n", "GP0002", 1, 4, "'1.5' is not a valid !!int"),
    (b"a: !!int true\n", "GP0002", 1, 4, "'true' is not a valid !!int"),
    (b"a: !!bool yes\n", "GP0002", 1, 4, "'yes' is not a valid !!bool"),
    (b"a: !!map x\n", "GP0002", 1, 4, "'x' is not a valid !!map"),
    (b"a: !!map [x]\n", "GP0002", 1, 4, "a list is not a valid !!map"),
    (b"a: !!str {x: z}\n", "GP0002", 1, 4, "a map is not a valid !!str"),
    (b"a: *b\n", "GP0002", 1, 4, "the alias *b has no anchor above it"),
    (b"a: &b\n  c: *b\n", "GP0002", 2, 6, "the alias *b refers to the map or list that contains it"),
    (b"x: &b z\n---\na: *b\n", "GP0002", 2, 1, "a second document"),
    (b"a: b\n---\nc: d\n", "GP0002", 2, 1, "a second document in the file"),
    (b"&a b\n--- *a\n", "GP0002", 2, 1, "a second document in the file"),
    (b"a: b\n--- c: d\n", "GP0002", 2, 1, "a second document in the file"),
    (b"a: &b {}\nc:\n  <<: *b\n", "GP0002", 3, 3, "the merge key `<<` does not exist"),
    (b"{a: b}: c\n", "GP0002", 1, 1, "a map can't be a key"),
    (b"? - a\n: b\n", "GP0002", 1, 3, "a list can't be a key"),
    (b"a: {{ .Values.x }}\n", "GP0002", 1, 4, "`{{` starts a map inside a map"),
    (b"1: x\n", "GP0002", 1, 1, "the key '1' is a number"),
    (b"1.30: x\n", "GP0002", 1, 1, "the key '1.30' is a number"),
    (b"true: x\n", "GP0002", 1, 1, "the key 'true' is a boolean"),
    (b"~: x\n", "GP0002", 1, 1, "the key is null or missing"),
    (b"a: &b [x]\n*b : c\n", "GP0002", 2, 1, "a list can't be a key"),
    (b"a: &b 1\n*b : c\n", "GP0002", 2, 1, "the key '1' is a number"),
    ("a:\n\u00a0\u00a0b: c\n".encode(), "GP0002", 2, 1, "invisible space U+00A0"),
    (b"a: b\nc: d\na: e\n", "GP0003", 3, 1, "duplicate key 'a'; the first is on line 1"),
    (b"- {a: b, 'a': c}\n", "GP0003", 1, 10, "duplicate key 'a'; the first is on line 1"),
    (b"a: no\n", "GP0004", 1, 4, "'no' is a string in YAML 1.2, but false for kubectl and Helm"),
    (b"- [x, on]\n", "GP0004", 1, 7, "'on' is a string in YAML 1.2, but true for kubectl and Helm"),
    (
        b"a: 010\n",
        "GP0004",
        1,
        4,
        "'010' is the number 10 in YAML 1.2, but the number 8 for kubectl and Helm",
    ),
    (
        b"a: 1_000\n",
        "GP0004",
        1,
        4,
        "'1_000' is a string in YAML 1.2, but the number 1000 for kubectl and Helm",
    ),
    (b"account: 012345678901\n", "GP0004", 1, 10, "'012345678901' has a leading zero"),
    (b"y: b\n", "GP0004", 1, 1, "'y' is a string in YAML 1.2, but true for kubectl and Helm"),
    (b"a: .inf\n", "GP0004", 1, 4, "'.inf' is not a finite number"),
    (b"a: !!float .nan\n", "GP0004", 1, 4, "'.nan' is not a finite number"),
]

INPUTS = UNREADABLE + SYNTAX + NOT_IN_A_BLUEPRINT


@pytest.mark.parametrize(
    ("text", "code", "line", "column", "words"), INPUTS, ids=lambda value: repr(value)[:40]
)
def test_one_mistake_is_one_finding(text: bytes, code: str, line: int, column: int, words: str) -> None:
    (finding,) = read(text, "pools.yaml").findings

    assert (finding.code, finding.at) == (code, ("pools.yaml", line, column))
    assert words in finding.message
    assert finding.fix
    assert len(finding.message) < 300


@pytest.mark.parametrize("text", [text for text, *_ in UNREADABLE + SYNTAX])
def test_what_cannot_be_read_to_its_end_is_nothing(text: bytes) -> None:
    assert read(text, "f").node is None


def test_the_fix_of_an_ambiguous_value_names_each_meaning_and_that_of_a_key_only_the_quotes() -> None:
    value, key = read(b"a: 010\n010: b\n", "f").findings

    assert value.fix == 'write `8` or `10`, or put it in quotes: `"010"`'
    assert key.fix == 'put it in quotes: `"010"`'


def test_all_mistakes_are_found_in_one_pass_and_in_file_order() -> None:
    text = b"a: no\nb: [!Ref x, 010]\na: c\n1: d\n<<: {e: on}\nf: 'open\n"

    findings = read(text, "f").findings

    assert [(finding.code, *finding.at[1:]) for finding in findings] == [
        ("GP0004", 1, 4),
        ("GP0002", 2, 5),
        ("GP0004", 2, 13),
        ("GP0003", 3, 1),
        ("GP0002", 4, 1),
        ("GP0002", 5, 1),
        ("GP0004", 5, 9),
        ("GP0002", 6, 4),
    ]


def test_all_control_characters_are_found_up_to_twenty() -> None:
    findings = read(b"a: \x01\x02\nb: \x03\n" + b"\x04" * 100, "f").findings

    assert [finding.at[1:] for finding in findings[:4]] == [(1, 4), (1, 5), (2, 4), (3, 1)]
    assert len(findings) == 20


FLAT = b"""\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
name: gpu
spec:
template:
metadata:
labels:
node-type: gpu
spec:
requirements:
- key: kubernetes.io/arch
operator: In
values: ["amd64"]
- key: karpenter.sh/capacity-type
operator: In
"""


def test_a_manifest_without_its_indentation_is_named_as_such() -> None:
    findings = read(FLAT, "f").findings

    assert [(finding.code, finding.at.line) for finding in findings] == [
        ("GP0003", 7),
        ("GP0003", 10),
        ("GP0002", 15),
    ]
    assert "`- key: karpenter.sh/capacity-type` is not the next key" in findings[-1].message
    assert "no line of the file is indented, so the indentation may be lost" in findings[-1].message


@pytest.mark.parametrize("text", [b"a: b\n- c\n", FLAT.replace(b"\nname", b"\n  name")])
def test_other_mistakes_say_nothing_of_lost_indentation(text: bytes) -> None:
    assert "lost in copying" not in read(text, "f").findings[-1].message
