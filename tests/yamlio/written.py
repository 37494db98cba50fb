"""Manifests as people and programs may write them, made at random from a seed."""

from __future__ import annotations

from random import Random

from tests.yamlio.texts import WORDS

NUMBERISH = "0019.7_e+-xXoObBaE:tTZ~yYn.N"
PLAIN = """
y n yes no on off true false null ~ 010 0o17 0b11 0x1F 1_000 1e3 1.0 -0 -0.0 .5 5. 1e21 1e-7 12e03 1e400
18446744073709551615 9223372036854775808 9223372036854775807 -9223372036854775809 123456789.5 .inf -.INF .nan
2001-01-01 2001-01-01T00:00:00Z 12:30:45 1:2 << = a:b -a ?a :a a#b a/b 100m 1Gi nvidia.com/gpu 08 1_ 0_7
"""
_SYNTAX = set("\"'#{}[],&*!|>%@`:?-\\")
PLAIN_WORDS = [
    *PLAIN.split(),
    *(word for word in WORDS if word.strip() and word.isascii() and word.isprintable()),
]
SCALARS = [word for word in PLAIN_WORDS if word in PLAIN.split() or not set(word) & _SYNTAX]
TAGS = [
    "!!str",
    "!!int",
    "!!float",
    "!!bool",
    "!!null",
    "!!map",
    "!!seq",
    "!!binary",
    "!!timestamp",
    "!",
    "!own",
    "!!set",
]
QUOTED = [
    "a",
    "",
    " ",
    "y",
    "1",
    "a: b",
    "# no",
    "é",
    "日本",
    "\\\\",
    "x y  z",
    "<<",
    "{{ x }}",
    "${X}",
    "---",
]
ESCAPED = [
    "\\n",
    "\\t",
    '\\"',
    "\\\\",
    "\\x41",
    "\\u00e9",
    "\\U0001f600",
    "\\/",
    "\\e",
    "\\_",
    "\\N",
    "\\ ",
    "\\ud83d",
    "\\q",
]
NOISE = [
    *"\t :,#-[]{}'\"|>&*!%@`?\n<~=0a",
    "<<: ",
    "\n  ",
    "\n---\n",
    "\n...\n",
    ": ",
    " #",
    "- ",
    "? ",
    "\r\n",
    "\u00a0",
    "\u2028",
    "\x85",
    "\ufeff",
    "\x01",
]


class Writer:
    """Writes random YAML; the same seed gives the same texts."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)  # noqa: S311 - test data, not a secret
        self.anchors = 0

    def manifest(self, name: str) -> str:
        """Write one object, some with a slip of the pen in its `spec`."""
        self.anchors = 0
        spec = self.block_map(1, 3)
        if self.chance.random() < 0.2:
            for _ in range(self.chance.randint(1, 2)):
                place = self.chance.randint(0, len(spec))
                spec = spec[:place] + self.chance.choice(NOISE) + spec[place + self.chance.randint(0, 1) :]
        return f"apiVersion: example.org/v1\nkind: Case\nmetadata: {{name: {name}}}\nspec:\n{spec}\n"

    def scalar(self) -> str:
        kind = self.chance.random()
        if kind < 0.5:
            return self.chance.choice(SCALARS)
        if kind < 0.7:
            return "".join(self.chance.choices(NUMBERISH, k=self.chance.randint(1, 6)))
        if kind < 0.8:
            return (
                "'"
                + "".join(self.chance.choices(QUOTED, k=self.chance.randint(0, 2))).replace("'", "''")
                + "'"
            )
        return (
            '"'
            + "".join(self.chance.choices([*QUOTED, *QUOTED, *ESCAPED], k=self.chance.randint(0, 3)))
            + '"'
        )

    def key(self) -> str:
        kind = self.chance.random()
        if kind < 0.6:
            return f"k{self.chance.randint(0, 6)}"
        return "<<" if kind < 0.62 else self.scalar()

    def prefix(self) -> str:
        """Write a tag or an anchor, now and then."""
        kind = self.chance.random()
        if kind < 0.03:
            return f"{self.chance.choice(TAGS)} "
        if kind < 0.15:
            self.anchors += 1
            return f"&a{self.anchors} "
        return ""

    def flow(self, depth: int) -> str:
        kind = self.chance.random()
        if self.anchors and kind < 0.2:
            return f"*a{self.chance.randint(1, self.anchors)} "
        if depth and kind < 0.35:
            return f"{self.prefix()}[{', '.join(self.flow(depth - 1) for _ in range(self.chance.randint(0, 3)))}]"
        if depth and kind < 0.55:
            return f"{self.prefix()}{{{', '.join(f'{self.key()}: {self.flow(depth - 1)}' for _ in range(self.chance.randint(0, 3)))}}}"
        return self.prefix() + self.scalar()

    def text_block(self, indent: str) -> str:
        """Write a text over several lines."""
        style = self.chance.choice(["|", ">", "|-", ">-", "|+", ">+", "|2"])
        lines = self.chance.choices(
            ["a", "b c", "", "  d", "- e", "f: g", "# h", "\tx"], k=self.chance.randint(1, 4)
        )
        return style + "".join(f"\n{indent}{line}" if line else "\n" for line in lines)

    def block_map(self, level: int, depth: int) -> str:
        indent = "  " * level
        entries = [
            f"{indent}{self.key()}:{self.value(level + 1, depth)}" for _ in range(self.chance.randint(1, 4))
        ]
        return "\n".join(entries)

    def value(self, level: int, depth: int) -> str:
        """Write what follows `key:`."""
        kind = self.chance.random()
        if depth and kind < 0.25:
            return f" {self.prefix()}\n{self.block_map(level, depth - 1)}"
        if depth and kind < 0.4:
            items = (
                f"{'  ' * level}-{self.value(level + 1, depth - 1)}" for _ in range(self.chance.randint(1, 3))
            )
            return " " + self.prefix() + "\n" + "\n".join(items)
        if kind < 0.47:
            return f" {self.text_block('  ' * level)}"
        if kind < 0.5:
            return "" if kind < 0.485 else " # nothing"
        return f" {self.flow(2)}"
