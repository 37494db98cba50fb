"""Plain data made of texts that some reader of YAML takes for something else."""

from __future__ import annotations

from hypothesis import strategies as st

_WITHOUT_SPACES = r"""
y Y yes Yes YES n N no No NO on On ON off Off OFF true True TRUE false False FALSE null Null NULL ~
0 00 010 08 0o17 0O17 0x1f 0X1F -0x1f 0b11 1_000 _1 1_ 0_7 1e3 1e5_0 1e_3 1e 0x 0b 12 +12 -0 1e999
1. .5 +.5 ._5 .5_0 1.5 0.1.2 . .. + .inf -.inf .Inf .nan .NaN 12:30 190:20:30 1:30 012345678901
2026-08-10 2026-08-10T00:00:00Z 2001-12-14t21:59:43.10-05:00 = << ! !! !x & &a * *a | > % @ ` ' "
- -- --- ... -a ? ?a : :: :a a: a:b # #a a#b , [ ] { } {} [] \ \n 30s 14d 2000Gi 10% 720h 1/2 $x <a>
é 日本 😀
"""

# fmt: off
WORDS = (
    *_WITHOUT_SPACES.split(),
    "", " ", "  ", "a: b", "a #b", "- a", "? a", " a", "a ", "a  b", "{{ x }}", "{a: 1}", "[a]", "%YAML 1.1",
    "0 9 * * mon-fri", "0 9 * * *", "key: value\nother: 1\n", "#!/bin/sh\nset -e\n", "arn:aws:iam::1:role/x",
    "\n", "\n\n", "a\n", "a\n\n", "\na", " \na", "a\n b", " a\nb", "a\nb", "a\n\nb", "a \nb", "a\n ", "a\n \nb",
    "\t", "\ta", "a\t", "a\tb", "\ta\nb", "a\n\tb", "\n\ta", "a\n\t\nb", "\r", "a\rb", "a\r\nb", "---\na",
    "a\n---\nb", "a\n...\n", "#\na", "a\n# b\n", "%a\nb", "a: |\n  b", "- a\n- b\n", "größe\n", "😀\n😀",
    "\x00", "\x07", "\x1b[0m", "\x7f", "\x80", "\x85", "a\x85b", "a\n\x85", "\x9f", "\xa0", "\xad", "\u200b",
    "\u2028", "a\u2028b", "\u2029", "\ufeff", "a\ufeff", "\ue000", "\ufffd", "\uffff", "\U000e0001", "\U0010ffff",
)
# fmt: on
"""Texts known to be read in different ways, alone or in a line."""

_PIECES = " \t\n\r\x00\x1b\x85\xa0\u2028\ufeffabyYnN019_.,:;#-?!&*|>%@`'\"\\[]{}()=+~<^$/é日😀xeo"
_NUMBERISH = "0123456789._+-eExXoObBTtZz:/ yn"

texts = st.one_of(
    st.sampled_from(WORDS),
    st.lists(st.sampled_from(WORDS), min_size=2, max_size=3).map("".join),
    st.text(_PIECES, max_size=8),
    st.text(_NUMBERISH, min_size=1, max_size=6),
    st.lists(st.text("a \tb#-:", max_size=3), min_size=2, max_size=4).map("\n".join),
    st.text(max_size=4),
)

numbers = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63)]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1.5, 1e16, 1e-7, 1e300, 5e-324, 0.1, 1e22]),
)
scalars = st.one_of(texts, texts, texts, numbers, st.sampled_from([True, False, None]))
values = st.one_of(
    scalars,
    scalars,
    st.lists(
        scalars | st.lists(scalars, max_size=2) | st.dictionaries(texts, scalars, max_size=2), max_size=3
    ),
    st.dictionaries(texts, scalars | st.lists(scalars, max_size=2), max_size=3),
)
maps = st.dictionaries(texts, values, min_size=1, max_size=3)
