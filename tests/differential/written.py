"""Manifests as text, with values and lines as careless people write them: YAML 1.1 decides what they mean."""

import random
import re
from collections.abc import Iterator

from gpupool.yamlio.write import dump
from tests.differential.seeds import seeds

_SCALARS = (
    "y", "n", "yes", "No", "on", "OFF", "true", "TRUE", "~", "null", "", "0", "1", "010", "0o10", "0x10", "0b11",
    "1e3", "1E3", "1.0", "1.5", ".5", "5.", "+5", "-1", "-0", "1_000", "1__0", "190:20:30", "12:30", "2026-08-20",
    "2026-08-20T12:00:00Z", ".inf", ".nan", "9223372036854775807", "9223372036854775808", "1e400", "720h", "10%",
    "'5'", '"5"', '"\\x35"', "!!str 5", "!!int '5'", "!!float 5", "{}", "[]", "{a: b}", "[a]", "|\n{indent}  x",
    ">-\n{indent}  x\n{indent}  y", "'yes'", "Never", "0s", "x # a comment", "x#y", '"a: b"', "\ta", "é",
)  # fmt: skip
_VALUE = re.compile(r"^(\s*(?:- )*)([^\s:#]+: )(.+)$")
_ITEM = re.compile(r"^(\s*)(- )([^:]+)$")


def manifests(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Yield so many different texts, each of one object, with their kinds."""
    chance = random.Random(seed)  # noqa: S311 - a fixed sequence is what we want
    texts = [(str(body["kind"]), dump(body)) for body in seeds()]
    known: set[str] = set()
    while len(known) < count:
        kind, text = chance.choice(texts)
        for _ in range(chance.choice((1, 1, 1, 2))):
            text = _changed(text, chance)
        if text not in known:
            known.add(text)
            yield kind, text.encode()


def _changed(text: str, chance: random.Random) -> str:
    lines = text.splitlines()
    number = chance.randrange(3, len(lines))
    dice = chance.random()
    if dice < 0.08:
        lines.insert(number, lines[number])
    elif dice < 0.12:
        del lines[number]
    elif dice < 0.15:
        lines[number] = f"{lines[number]}  # {chance.choice(_SCALARS).splitlines() or ['']}"
    else:
        lines[number] = _other_value(lines[number], chance)
    return "\n".join(lines) + "\n"


def _other_value(line: str, chance: random.Random) -> str:
    match = _VALUE.match(line) or _ITEM.match(line)
    if match is None:
        return line
    blank = " " * (len(match[1]) if ":" in match[2] else len(match[1]) + 2)
    return f"{match[1]}{match[2]}{chance.choice(_SCALARS).replace('{indent}', blank)}"
