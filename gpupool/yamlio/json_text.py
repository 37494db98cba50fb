"""JSON text to Nodes that know their places, as Go reads JSON.

Python's own reader first and this one only for mistakes would save 0.8 of 2.1 seconds for 14 MB of 8,500
objects, and no line here: the places, the duplicate keys and the streams are needed either way.
"""

from __future__ import annotations

import json
import math
import re
from typing import NoReturn

from gpupool.codes import Code
from gpupool.findings import Finding, Location
from gpupool.yamlio.kubectl import KUBECTL, convert_float, convert_int
from gpupool.yamlio.located import Located
from gpupool.yamlio.scalars import quote_value
from gpupool.yamlio.tree import MAX_FINDINGS

_BLANKS = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORD = re.compile(r"true|false|null")
_WORDS = {"true": True, "false": False, "null": None}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_DIGITS = 1000


class NotJsonError(Exception):
    """What comes next is no JSON, or too much of it; `finding` says why."""

    def __init__(self, finding: Finding, *, is_too_much: bool = False) -> None:
        """Keep what is wrong; what is too much as JSON is too much in any way."""
        super().__init__()
        self.finding = finding
        self.is_too_much = is_too_much


class JsonReader:
    """Reads one JSON value after the other; `findings` are those mistakes that a value can be read with."""

    def __init__(self, text: str, file: str) -> None:
        """Begin at the start of the text."""
        self.findings: list[Finding] = []
        self.offset = 0
        """How much was read, with the blanks after it."""

        self.end = 0
        """How much was read, without the blanks after it."""

        self._count = 0
        self._text = text
        self._file = file
        self._line = 1
        self._line_start = 0
        self._skip()

    def is_over(self) -> bool:
        """Return whether nothing comes any more."""
        return self.offset >= len(self._text)

    def at(self) -> Location:
        """Return the place of what comes next."""
        return Location._make((self._file, self._line, self.offset - self._line_start + 1))

    def value(self, depth: int = 0, key: Location | None = None) -> Located:
        """Read the next value and the blanks after it; of two equal keys the last one counts.

        Raises:
            NotJsonError: where there is none, or too much.
        """
        at = self.at()
        self._count_up()
        begin = self._text[self.offset : self.offset + 1]
        if begin == "{":
            return Located(self._map(depth + 1), at, key)
        if begin == "[":
            return Located(self._list(depth + 1), at, key)
        if begin == '"':
            return Located(self._string(), at, key)
        return self._scalar(at, key)

    def _count_up(self) -> None:
        self._count += 1
        if self._count > KUBECTL.limits.nodes:
            self._stop(f"more than {KUBECTL.limits.nodes:,} values in the file", "split the file")

    def _begin(self, bracket: str, depth: int) -> None:
        if depth > KUBECTL.limits.depth:
            message = f"more than {KUBECTL.limits.depth} nested maps and lists"
            self._stop(message, "reduce the nesting")
        self._take(bracket)

    def _map(self, depth: int) -> dict[str, Located]:
        entries: dict[str, Located] = {}
        self._begin("{", depth)
        if not self._takes("}"):
            self._entry(entries, depth)
            while self._takes(","):
                self._entry(entries, depth)
            self._take("}")
        return entries

    def _entry(self, entries: dict[str, Located], depth: int) -> None:
        at = self.at()
        name = self._string()
        if name in entries:
            first = entries[name].key or at
            message = f"duplicate key {quote_value(name)}; the first is on line {first.line}"
            self._say(Finding(Code.MANIFEST_KEY_TWICE, message, at, "remove one of them"))
        self._take(":")
        entries[name] = self.value(depth, at)

    def _list(self, depth: int) -> list[Located]:
        items: list[Located] = []
        self._begin("[", depth)
        if not self._takes("]"):
            items.append(self.value(depth))
            while self._takes(","):
                items.append(self.value(depth))
            self._take("]")
        return items

    def _string(self) -> str:
        if not self._text.startswith('"', self.offset):
            self._expected("a string in double quotes")
        found = _STRING.match(self._text, self.offset)
        if not found:
            self._fail("invalid JSON: the string is not closed on its line", 'close it with `"`')
        value = found[0][1:-1]
        if "\\" in value:
            value = self._unescaped(found[0])
        self._go_to(found.end())
        return value

    def _unescaped(self, literal: str) -> str:
        try:
            value: str = json.loads(literal)
        except json.JSONDecodeError:
            self._fail("invalid JSON: unknown escape in the string", "double the backslash")
        return _LONE_SURROGATE.sub("\ufffd", value)

    def _scalar(self, at: Location, key: Location | None) -> Located:
        word = _WORD.match(self._text, self.offset)
        if word:
            self._go_to(word.end())
            return Located(_WORDS[word[0]], at, key, word[0])
        found = _NUMBER.match(self._text, self.offset)
        if not found:
            self._expected("a value")
        number = self._number(found, at)
        self._go_to(found.end())
        return Located(number, at, key, found[0])

    def _number(self, found: re.Match[str], at: Location) -> int | float | None:
        if found[1] is None and found[2] is None and len(found[0]) <= _MAX_DIGITS:
            return convert_int(int(found[0]))
        value = float(found[0])
        if math.isfinite(value):
            return convert_float(value)
        message = f"the number {quote_value(found[0])} is too large"
        self._say(Finding(Code.MANIFEST_SYNTAX, message, at, "use a smaller number"))
        return None

    def _takes(self, character: str) -> bool:
        if not self._text.startswith(character, self.offset):
            return False
        self._go_to(self.offset + 1)
        return True

    def _take(self, character: str) -> None:
        if not self._takes(character):
            self._expected(f"`{character}`")

    def _go_to(self, offset: int) -> None:
        self.offset = self.end = offset
        self._skip()

    def _skip(self) -> None:
        """Go over blanks, and count the lines: only blanks hold line breaks."""
        start = self.offset
        found = _BLANKS.match(self._text, start)
        self.offset = found.end() if found else start
        lines = self._text.count("\n", start, self.offset)
        if lines:
            self._line += lines
            self._line_start = self._text.rindex("\n", start, self.offset) + 1

    def _say(self, finding: Finding) -> None:
        self.findings.append(finding)
        if len(self.findings) >= MAX_FINDINGS:
            self._stop(f"more than {MAX_FINDINGS:,} errors; the rest is not read", "fix these first")

    def _stop(self, message: str, fix: str) -> NoReturn:
        raise NotJsonError(Finding(Code.MANIFEST_SYNTAX, message, self.at(), fix), is_too_much=True)

    def _expected(self, what: str) -> NoReturn:
        self._fail(f"invalid JSON: expected {what}", "fix the JSON")

    def _fail(self, message: str, fix: str) -> NoReturn:
        raise NotJsonError(Finding(Code.MANIFEST_SYNTAX, message, self.at(), fix))
