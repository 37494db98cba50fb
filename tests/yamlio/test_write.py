"""Tests of what written YAML looks like; that it is read back the same is in test_laws.py."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import pytest
import yaml

from gpupool.yamlio.quoting import format_string
from gpupool.yamlio.write import dump, dump_all

if TYPE_CHECKING:
    from gpupool.yamlio.located import Plain

NODE_POOL: dict[str, Plain] = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "chat", "labels": {}},
    "spec": {
        "weight": 10,
        "requirements": [
            {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"]},
            {"key": "karpenter.k8s.aws/instance-gpu-count", "operator": "Gt", "values": ["0"]},
        ],
        "taints": [],
        "limits": {"cpu": "1000", "nvidia.com/gpu": 8},
        "userData": "#!/bin/bash\nset -e\n",
        "nested": [[1, [2.5, None]], [], [{}]],
        "on": True,
    },
}

WRITTEN = """\
# made by a test
#
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: chat
  labels: {}
spec:
  weight: 10
  requirements:
    - key: karpenter.sh/capacity-type
      operator: In
      values:
        - spot
        - on-demand
    - key: karpenter.k8s.aws/instance-gpu-count
      operator: Gt
      values:
        - "0"
  taints: []
  limits:
    cpu: "1000"
    nvidia.com/gpu: 8
  userData: |
    #!/bin/bash
    set -e
  nested:
    - - 1
      - - 2.5
        - null
    - []
    - - {}
  "on": true
"""


def test_an_object_is_written_as_people_write_it() -> None:
    assert dump(NODE_POOL, ["made by a test", ""]) == WRITTEN


def test_documents_are_kept_apart_by_three_dashes() -> None:
    assert dump_all([{"a": 1}, {"b": 2}], ["above"]) == "# above\na: 1\n---\nb: 2\n"
    assert dump_all([]) == ""


CERTAIN = """
spot p5.48xlarge 30s 720h 14d 2000Gi 10% us-east-1a karpenter.sh/v1 nvidia.com/gpu /dev/xvda
al2023@latest 4xlarge arn:aws:iam::1:role/x 10.0.0.0/16 a+b _x nan inf e5 v1.30 true:NoSchedule a-b
"""


@pytest.mark.parametrize(
    "text", [*CERTAIN.split(), "0 9 * * mon-fri", "0 9 * * *", "a sentence, with (brackets) and it's fine"]
)
def test_a_text_that_nobody_mistakes_has_no_quotes(text: str) -> None:
    assert format_string(text) == text


MISTAKEN = """
y Y n no NO on oFF True null Null ~ 0 010 1_000 0x1f 0o7 0b1 1e3 1e5_0 1. .5 +1 -1 .inf .nan 1.30
1:30 12:30:00 2026-08-10 2001-12-14T21:59:43Z = << - -- --- ... ? : & * ! | > % @ ` ' [ ] { } , #
0.1.2 1e a: :a é -x 08 0xf 0fd 1b
"""


@pytest.mark.parametrize(
    "text",
    [
        *MISTAKEN.split(),
        "",
        " ",
        " a",
        "a ",
        "a: b",
        "a #b",
        "- a",
        "? a",
        "*a",
        "&a",
        "!a",
        "{a}",
        "[a]",
        "1 2",
    ],
)
def test_a_text_that_somebody_mistakes_has_double_quotes(text: str) -> None:
    assert format_string(text) == f'"{text}"'


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('"', r'"\""'),
        ("\\", r'"\\"'),
        ("a\tb", r'"a\tb"'),
        ("\x00", r'"\u0000"'),
        ("\x85", r'"\u0085"'),
        ("\xa0", r'"\u00a0"'),
        ("\u2028", r'"\u2028"'),
        ("\ufeff", r'"\ufeff"'),
        ("\uffff", r'"\uffff"'),
        ("\U000e0001", r'"\U000e0001"'),
        ("日本😀", '"日本😀"'),
    ],
)
def test_what_one_cannot_see_is_escaped(text: str, written: str) -> None:
    assert format_string(text) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("x\ny", "|-\n  x\n  y"),
        ("x\n", "|\n  x"),
        ("x\n\n\n", "|+\n  x\n\n"),
        ("x\n\ny\n", "|\n  x\n\n  y"),
        ("  x\ny\n", "|2\n    x\n  y"),
        ("\nx", "|2-\n\n  x"),
        ("\tx\n", "|2\n  \tx"),
        ("x\n\ty\n", "|\n  x\n  \ty"),
        ("x  \ny\n", "|\n  x  \n  y"),
        ("# x\n--- y\n", "|\n  # x\n  --- y"),
        ("größe\n", "|\n  größe"),
        ("\n", r'"\n"'),
        ("\n\n", r'"\n\n"'),
        (" \n", r'" \n"'),
        ("x\n ", r'"x\n "'),
        ("x\r\ny\r\n", r'"x\r\ny\r\n"'),
        ("x\x85\ny", r'"x\u0085\ny"'),
        ("x\n\u2028", r'"x\n\u2028"'),
        ("\x1b[0m\n", r'"\u001b[0m\n"'),
    ],
)
def test_several_lines_are_a_block_where_a_block_can_hold_them(text: str, written: str) -> None:
    assert dump({"a": text, "b": 1}) == f"a: {written}\nb: 1\n"
    assert dump([text]) == f"- {written}\n"


def test_long_lines_are_never_folded() -> None:
    assert dump({"a": "word " * 500 + "end", "b": "é " * 500}).count("\n") == 2


def test_a_long_key_is_written_so_that_every_reader_takes_it() -> None:
    data: dict[str, Plain] = {"k" * 5000: {"a": [1]}, "é\n" * 900: ["x\ny\n"], "k" * 1000: 1}
    written = dump([data])

    assert written.startswith("- ? k")
    assert yaml.load(written, Loader=yaml.CSafeLoader) == [data]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        *(
            (True, "true"),
            (False, "false"),
            (None, "null"),
            (0, "0"),
            (-7, "-7"),
            (2**64 - 1, "18446744073709551615"),
        ),
        *(
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (1e16, "1.0e+16"),
            (1.5e-7, "1.5e-07"),
            (5e-324, "5.0e-324"),
        ),
        *(([], "[]"), ({}, "{}"), ("", '""')),
    ],
)
def test_scalars_are_spelled_one_way(value: str | float | None, written: str) -> None:
    assert dump(value) == f"{written}\n"
    assert dump({"a": value}) == f"a: {written}\n"


class Capacity(StrEnum):
    SPOT = "spot"


def test_an_enumeration_of_texts_is_text() -> None:
    assert dump({Capacity.SPOT: [Capacity.SPOT]}) == "spot:\n  - spot\n"


@pytest.mark.parametrize(
    "value", [float("inf"), float("-inf"), float("nan"), 2**64, -(2**63) - 1, "\ud800", "\ud800\n"]
)
def test_what_cannot_be_written_exactly_is_refused(value: str | float) -> None:
    with pytest.raises(ValueError, match=r"is not a finite number|64 bits|surrogate"):
        dump({"a": value})


@pytest.mark.parametrize("value", [(1,), {1}, b"x", object(), {1: "a"}, {None: "a"}])
def test_what_is_no_plain_data_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match=r"is not plain data|is not a string"):
        dump(value)  # type: ignore[arg-type]  # on purpose


def test_a_header_can_break_nothing() -> None:
    written = dump({"a": 1}, ["one\ntwo\u2028three", "\x00\ufeff", "# four"])

    assert written == "# one\n# two\n# three\n# ??\n# # four\na: 1\n"


def test_the_same_data_is_written_the_same() -> None:
    assert dump(NODE_POOL) == dump(NODE_POOL)
    assert dump({"b": 1, "a": 2}) == "b: 1\na: 2\n"
