"""What libyaml says of text that is no YAML, in words that say what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from gpupool.codes import Code
from gpupool.findings import Finding, Location

if TYPE_CHECKING:
    from yaml import MarkedYAMLError
    from yaml._yaml import Mark as CMark
    from yaml.error import Mark

_CLOSERS = {"[": "]", "{": "}"}
_FLOW = frozenset({"while parsing a flow sequence", "while parsing a flow mapping"})
_FEWEST_FLAT_LINES = 4
_LONGEST_SHOWN = 40


class _Words(NamedTuple):
    message: str
    fix: str


_INDENTATION = "indent the lines of one map or list equally, and nested lines further"
_QUOTE = "put the string in quotes"
_WORDS = {
    "block sequence entries are not allowed in this context": _Words(
        "a `- ` item can't start on this line", "start the list on its own line under the key"
    ),
    "mapping keys are not allowed in this context": _Words("`? ` is not allowed here", _QUOTE),
    "found character that cannot start any token": _Words("a value can't start with `{character}`", _QUOTE),
    "did not find expected node content": _Words(
        "expected a value, not {found}", "write a value, or put it in quotes"
    ),
    "did not find expected <document start>": _Words(
        "{found} does not belong to a map or list above it", _INDENTATION
    ),
    "found unexpected ':'": _Words("a string in brackets ends with `:`", _QUOTE),
    "found unknown escape character": _Words(
        "unknown escape in double quotes", "double the backslash, or use single quotes"
    ),
    "did not find expected hexdecimal number": _Words(
        "an escape in double quotes has too few hexadecimal digits",
        "double the backslash, or use single quotes",
    ),
    "found invalid Unicode character escape code": _Words(
        "an escape in double quotes is not a valid character", "write the character itself"
    ),
    "found an indentation indicator equal to 0": _Words(
        "a block can't be indented by 0", "write 1 to 9, or nothing"
    ),
    "found undefined tag handle": _Words(
        "unknown tag: {found}", "remove the tag, or put the string in quotes"
    ),
    "found incompatible YAML document": _Words("unsupported YAML version", "remove the %YAML line"),
}
_NO_TAG = _Words("invalid %TAG directive", "remove the %TAG line")
_WORDS_BY_CONTEXT = {
    "while scanning an alias": _Words("`*` starts an alias, but no name follows", _QUOTE),
    "while scanning an anchor": _Words("`&` starts an anchor, but no name follows", _QUOTE),
    "while scanning a block scalar": _Words(
        "only a comment is allowed after the `|` or `>` that starts a block",
        "start the text on the next line, or put it in quotes",
    ),
    "while scanning a directive": _Words("a `%` at the start of a line starts a directive", _QUOTE),
    "while scanning a %YAML directive": _Words("invalid %YAML directive", "remove the %YAML line"),
    "while scanning a %TAG directive": _NO_TAG,
    "while scanning a tag directive": _NO_TAG,
    "while parsing a %TAG directive": _NO_TAG,
    "while scanning a tag": _Words("invalid tag after `!`", _QUOTE),
    "while parsing a tag": _Words("invalid tag after `!`", _QUOTE),
}


class _Spot(NamedTuple):
    """A place in the text; line and column count from 0."""

    line: int
    column: int


class Explainer:
    """Explains the syntax errors of one file."""

    def __init__(self, text: str, file: str, code: str = Code.NOT_YAML, first_line: int = 1) -> None:
        """Keep the text that libyaml read, its name, and on which line of the file it begins."""
        self._file = file
        self._code = code
        self._first_line = first_line
        self._lines = re.split("\r\n|\r|\n", text)

    def explain(self, error: MarkedYAMLError) -> Finding:
        """Turn libyaml's error into a finding at the place that has to be changed."""
        problem = _spot(error.problem_mark) or _Spot(0, 0)
        start = _spot(error.context_mark) or problem
        tab = self._tab(problem) or self._tab(start)
        if tab:
            message = "tab in the indentation; YAML allows only spaces"
            return self._finding(tab, _Words(message, "indent with spaces"))
        spot, words = self._words(error, start, problem)
        if self._is_flat():
            hint = "; no line of the file is indented, so the indentation may be lost"
            words = _Words(words.message + hint, words.fix)
        return self._finding(spot, words)

    def _words(self, error: MarkedYAMLError, start: _Spot, problem: _Spot) -> tuple[_Spot, _Words]:
        what, context = error.problem or "", error.context or ""
        if context == "while scanning a quoted scalar":
            quote = self._rest(start)[:1]
            return start, _Words(f"the quote {quote} is never closed", f"close it with `{quote}`")
        if context in _FLOW and what.startswith("did not find expected ','"):
            return self._bracket(start, problem)
        if what == "mapping values are not allowed in this context":
            return problem, self._stray_colon(problem)
        if what == "could not find expected ':'":
            message = f"{self._found(start)} is not a `key: value` pair"
            return start, _Words(message, "write `key: value`, or indent it under its key")
        if what in {"did not find expected key", "did not find expected '-' indicator"}:
            return problem, self._stray_line(start, problem, is_map=what.endswith("key"))
        return self._from_table(what, context, start, problem)

    def _from_table(self, what: str, context: str, start: _Spot, problem: _Spot) -> tuple[_Spot, _Words]:
        if what == "did not find expected <document start>" and self._is_after_end(problem):
            message = f"{self._found(problem)} is after the end of the document, `...`"
            return problem, _Words(message, "keep one document, and remove what follows it")
        if what not in _WORDS and context in _WORDS_BY_CONTEXT:
            return start, _WORDS_BY_CONTEXT[context]
        words = _WORDS.get(what, _Words("invalid YAML: {problem}", "fix the YAML here"))
        message = words.message.format(
            problem=what, found=self._found(problem), character=self._rest(problem)[:1]
        )
        return problem, _Words(message, words.fix)

    def _bracket(self, start: _Spot, problem: _Spot) -> tuple[_Spot, _Words]:
        """Point at a bracket that is not closed; or, on its own line, at what is wrong inside."""
        opener = self._rest(start)[:1]
        closer = _CLOSERS.get(opener, "]")
        fix = f"write `,` between items and `{closer}` at the end"
        if start.line == problem.line:
            return problem, _Words(f"expected `,` or `{closer}`, not {self._found(problem)}", fix)
        if not self._rest(problem).strip() and problem.line >= len(self._lines) - 1:
            return start, _Words(f"the bracket `{opener}` is never closed", fix)
        line = problem.line + self._first_line
        message = f"the bracket `{opener}` is still open on line {line}, at {self._found(problem)}"
        return start, _Words(message, fix)

    def _stray_colon(self, problem: _Spot) -> _Words:
        before = self._line(problem)[: problem.column]
        if re.search(r":\s", before):
            return _Words("a second `: ` in the line", "quote the value if the `:` is part of it")
        message = "a key is not allowed here: the value above continues, or the line is indented too far"
        return _Words(message, "align the key with the others of its map")

    def _stray_line(self, start: _Spot, problem: _Spot, *, is_map: bool) -> _Words:
        """Word what stands where the next entry of a map or list should."""
        found = self._found(problem)
        if self._line(problem)[: problem.column].strip():
            return _Words(f"{found} after the end of the value", "put the whole value in quotes")
        entry, whole = ("key", "map") if is_map else ("`- ` item", "list")
        first = start.line + self._first_line
        message = f"{found} is not the next {entry} of the {whole} that starts on line {first}"
        if problem.column != start.column:
            message += f": it starts in column {start.column + 1}, this line in column {problem.column + 1}"
        return _Words(message, _INDENTATION)

    def _is_after_end(self, problem: _Spot) -> bool:
        return any(line.rstrip() == "..." for line in self._lines[: problem.line])

    def _finding(self, spot: _Spot, words: _Words) -> Finding:
        at = Location(self._file, spot.line + self._first_line, spot.column + 1)
        return Finding(self._code, words.message, at, words.fix)

    def _tab(self, spot: _Spot) -> _Spot | None:
        line = self._line(spot)
        blank = line[: len(line) - len(line.lstrip(" \t"))]
        return _Spot(spot.line, blank.index("\t")) if "\t" in blank else None

    def _line(self, spot: _Spot) -> str:
        return self._lines[spot.line] if spot.line < len(self._lines) else ""

    def _rest(self, spot: _Spot) -> str:
        return self._line(spot)[spot.column :]

    def _found(self, spot: _Spot) -> str:
        rest = self._rest(spot).strip()
        if not rest:
            return "the end of the line" if spot.line < len(self._lines) - 1 else "the end of the file"
        return f"`{rest}`" if len(rest) <= _LONGEST_SHOWN else f"`{rest[:_LONGEST_SHOWN]}…`"

    def _is_flat(self) -> bool:
        """Return whether keys have nothing on their line, but no line is indented."""
        lines = [line for line in self._lines if line.strip()]
        return (
            len(lines) >= _FEWEST_FLAT_LINES
            and not any(line[0] in " \t" for line in lines)
            and any(line.endswith(":") for line in lines)
        )


def _spot(mark: Mark | CMark | None) -> _Spot | None:
    return _Spot(mark.line, mark.column) if mark is not None else None
