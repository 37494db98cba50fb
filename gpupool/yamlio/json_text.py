"""JSON parser with the location of every value, as Go reads JSON.

Python's own parser first and this one only for errors would save 0.8 of 2.1 seconds for 14 MB of 8,500
objects, and no line here: the locations, the duplicate keys and the streams are needed either way.
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
_LITERAL = re.compile(r"true|false|null")
_LITERALS = {"true": True, "false": False, "null": None}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_DIGITS = 1000


class NotJsonError(Exception):
    """The next text is not JSON, or exceeds a limit; `finding` holds the reason."""

    def __init__(self, finding: Finding, *, is_too_much: bool = False) -> None:
        """Store the reason; `is_too_much` where a limit is exceeded, which applies to YAML as well."""
        super().__init__()
        self.finding = finding
        self.is_too_much = is_too_much


class JsonReader:
    """A reader of consecutive JSON values; `findings` are the errors that do not stop it."""

    def __init__(self, text: str, file: str) -> None:
        """Start at the beginning of the text."""
        self.findings: list[Finding] = []
        self.offset = 0
        """The offset up to which the text was read, with the blanks after the value."""

        self.end = 0
        """The offset up to which the text was read, without the blanks after the value."""

        self._count = 0
        self._text = text
        self._file = file
        self._line = 1
        self._line_start = 0
        self._skip_blanks()

    def is_at_end(self) -> bool:
        """Return whether all of the text was read."""
        return self.offset >= len(self._text)

    def location(self) -> Location:
        """Return the location of the next value."""
        return Location._make((self._file, self._line, self.offset - self._line_start + 1))

    def read_value(self, depth: int = 0, key: Location | None = None) -> Located:
        """Read the next value and the blanks after it; of two equal keys the last one counts.

        Raises:
            NotJsonError: where the next text is not a value, or exceeds a limit.
        """
        at = self.location()
        self._count_value()
        character = self._text[self.offset : self.offset + 1]
        if character == "{":
            return Located(self._read_map(depth + 1), at, key)
        if character == "[":
            return Located(self._read_list(depth + 1), at, key)
        if character == '"':
            return Located(self._read_string(), at, key)
        return self._read_scalar(at, key)

    def _count_value(self) -> None:
        self._count += 1
        if self._count > KUBECTL.limits.nodes:
            self._stop(f"more than {KUBECTL.limits.nodes:,} values in the file", "split the file")

    def _open(self, bracket: str, depth: int) -> None:
        if depth > KUBECTL.limits.depth:
            message = f"more than {KUBECTL.limits.depth} nested maps and lists"
            self._stop(message, "reduce the nesting")
        self._require(bracket)

    def _read_map(self, depth: int) -> dict[str, Located]:
        entries: dict[str, Located] = {}
        self._open("{", depth)
        if not self._accept("}"):
            self._read_entry(entries, depth)
            while self._accept(","):
                self._read_entry(entries, depth)
            self._require("}")
        return entries

    def _read_entry(self, entries: dict[str, Located], depth: int) -> None:
        at = self.location()
        name = self._read_string()
        if name in entries:
            first = entries[name].key or at
            message = f"duplicate key {quote_value(name)}; the first is on line {first.line}"
            self._report(Finding(Code.MANIFEST_KEY_TWICE, message, at, "remove one of them"))
        self._require(":")
        entries[name] = self.read_value(depth, at)

    def _read_list(self, depth: int) -> list[Located]:
        items: list[Located] = []
        self._open("[", depth)
        if not self._accept("]"):
            items.append(self.read_value(depth))
            while self._accept(","):
                items.append(self.read_value(depth))
            self._require("]")
        return items

    def _read_string(self) -> str:
        if not self._text.startswith('"', self.offset):
            self._fail_expected("a string in double quotes")
        match = _STRING.match(self._text, self.offset)
        if not match:
            self._fail("invalid JSON: the string is not closed on its line", 'close it with `"`')
        value = match[0][1:-1]
        if "\\" in value:
            value = self._unescape(match[0])
        self._move_to(match.end())
        return value

    def _unescape(self, literal: str) -> str:
        try:
            value: str = json.loads(literal)
        except json.JSONDecodeError:
            self._fail("invalid JSON: unknown escape in the string", "double the backslash")
        return _LONE_SURROGATE.sub("\ufffd", value)

    def _read_scalar(self, at: Location, key: Location | None) -> Located:
        literal = _LITERAL.match(self._text, self.offset)
        if literal:
            self._move_to(literal.end())
            return Located(_LITERALS[literal[0]], at, key, literal[0])
        match = _NUMBER.match(self._text, self.offset)
        if not match:
            self._fail_expected("a value")
        number = self._convert_number(match, at)
        self._move_to(match.end())
        return Located(number, at, key, match[0])

    def _convert_number(self, match: re.Match[str], at: Location) -> int | float | None:
        if match[1] is None and match[2] is None and len(match[0]) <= _MAX_DIGITS:
            return convert_int(int(match[0]))
        value = float(match[0])
        if math.isfinite(value):
            return convert_float(value)
        message = f"the number {quote_value(match[0])} is too large"
        self._report(Finding(Code.MANIFEST_SYNTAX, message, at, "use a smaller number"))
        return None

    def _accept(self, character: str) -> bool:
        if not self._text.startswith(character, self.offset):
            return False
        self._move_to(self.offset + 1)
        return True

    def _require(self, character: str) -> None:
        if not self._accept(character):
            self._fail_expected(f"`{character}`")

    def _move_to(self, offset: int) -> None:
        self.offset = self.end = offset
        self._skip_blanks()

    def _skip_blanks(self) -> None:
        """Skip blanks and count their lines; no other text has line breaks."""
        start = self.offset
        blanks = _BLANKS.match(self._text, start)
        self.offset = blanks.end() if blanks else start
        lines = self._text.count("\n", start, self.offset)
        if lines:
            self._line += lines
            self._line_start = self._text.rindex("\n", start, self.offset) + 1

    def _report(self, finding: Finding) -> None:
        self.findings.append(finding)
        if len(self.findings) >= MAX_FINDINGS:
            self._stop(f"more than {MAX_FINDINGS:,} errors; the rest is not read", "fix these first")

    def _stop(self, message: str, fix: str) -> NoReturn:
        raise NotJsonError(Finding(Code.MANIFEST_SYNTAX, message, self.location(), fix), is_too_much=True)

    def _fail_expected(self, expected: str) -> NoReturn:
        self._fail(f"invalid JSON: expected {expected}", "fix the JSON")

    def _fail(self, message: str, fix: str) -> NoReturn:
        raise NotJsonError(Finding(Code.MANIFEST_SYNTAX, message, self.location(), fix))
