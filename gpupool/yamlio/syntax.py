"""Explanations of YAML syntax errors that libyaml reports."""

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


class _Explanation(NamedTuple):
    message: str
    fix: str


_INDENTATION = "indent the lines of one map or list equally, and nested lines further"
_QUOTE = "put the string in quotes"
_BY_PROBLEM = {
    "block sequence entries are not allowed in this context": _Explanation(
        "a `- ` item can't start on this line", "start the list on its own line under the key"
    ),
    "mapping keys are not allowed in this context": _Explanation("`? ` is not allowed here", _QUOTE),
    "found character that cannot start any token": _Explanation(
        "a value can't start with `{character}`", _QUOTE
    ),
    "did not find expected node content": _Explanation(
        "expected a value, not {text}", "write a value, or put it in quotes"
    ),
    "did not find expected <document start>": _Explanation(
        "{text} does not belong to a map or list above it", _INDENTATION
    ),
    "found unexpected ':'": _Explanation("a string in brackets ends with `:`", _QUOTE),
    "found unknown escape character": _Explanation(
        "unknown escape in double quotes", "double the backslash, or use single quotes"
    ),
    "did not find expected hexdecimal number": _Explanation(
        "an escape in double quotes has too few hexadecimal digits",
        "double the backslash, or use single quotes",
    ),
    "found invalid Unicode character escape code": _Explanation(
        "an escape in double quotes is not a valid character", "write the character itself"
    ),
    "found an indentation indicator equal to 0": _Explanation(
        "a block can't be indented by 0", "write 1 to 9, or nothing"
    ),
    "found undefined tag handle": _Explanation(
        "unknown tag: {text}", "remove the tag, or put the string in quotes"
    ),
    "found incompatible YAML document": _Explanation("unsupported YAML version", "remove the %YAML line"),
}
_NO_TAG = _Explanation("invalid %TAG directive", "remove the %TAG line")
_BY_CONTEXT = {
    "while scanning an alias": _Explanation("`*` starts an alias, but no name follows", _QUOTE),
    "while scanning an anchor": _Explanation("`&` starts an anchor, but no name follows", _QUOTE),
    "while scanning a block scalar": _Explanation(
        "only a comment is allowed after the `|` or `>` that starts a block",
        "start the text on the next line, or put it in quotes",
    ),
    "while scanning a directive": _Explanation("a `%` at the start of a line starts a directive", _QUOTE),
    "while scanning a %YAML directive": _Explanation("invalid %YAML directive", "remove the %YAML line"),
    "while scanning a %TAG directive": _NO_TAG,
    "while scanning a tag directive": _NO_TAG,
    "while parsing a %TAG directive": _NO_TAG,
    "while scanning a tag": _Explanation("invalid tag after `!`", _QUOTE),
    "while parsing a tag": _Explanation("invalid tag after `!`", _QUOTE),
}


class _Position(NamedTuple):
    """A position in the text; line and column count from 0."""

    line: int
    column: int


class Explainer:
    """Converts the syntax errors of one file to findings."""

    def __init__(self, text: str, file: str, code: str = Code.NOT_YAML, first_line: int = 1) -> None:
        """Store the text that libyaml read, its name, and the line of the file on which it begins."""
        self._file = file
        self._code = code
        self._first_line = first_line
        self._lines = re.split("\r\n|\r|\n", text)

    def explain(self, error: MarkedYAMLError) -> Finding:
        """Convert libyaml's error to a finding at the location that has to be changed."""
        problem = _to_position(error.problem_mark) or _Position(0, 0)
        start = _to_position(error.context_mark) or problem
        tab = self._find_tab(problem) or self._find_tab(start)
        if tab:
            message = "tab in the indentation; YAML allows only spaces"
            return self._build_finding(tab, _Explanation(message, "indent with spaces"))
        position, explanation = self._explain(error, start, problem)
        if self._is_flat():
            hint = "; no line of the file is indented, so the indentation may be lost"
            explanation = _Explanation(explanation.message + hint, explanation.fix)
        return self._build_finding(position, explanation)

    def _explain(
        self, error: MarkedYAMLError, start: _Position, problem: _Position
    ) -> tuple[_Position, _Explanation]:
        text, context = error.problem or "", error.context or ""
        if context == "while scanning a quoted scalar":
            quote = self._rest(start)[:1]
            return start, _Explanation(f"the quote {quote} is never closed", f"close it with `{quote}`")
        if context in _FLOW and text.startswith("did not find expected ','"):
            return self._explain_bracket(start, problem)
        if text == "mapping values are not allowed in this context":
            return problem, self._explain_colon(problem)
        if text == "could not find expected ':'":
            message = f"{self._quote_rest(start)} is not a `key: value` pair"
            return start, _Explanation(message, "write `key: value`, or indent it under its key")
        if text in {"did not find expected key", "did not find expected '-' indicator"}:
            return problem, self._explain_line(start, problem, is_map=text.endswith("key"))
        return self._look_up(text, context, start, problem)

    def _look_up(
        self, text: str, context: str, start: _Position, problem: _Position
    ) -> tuple[_Position, _Explanation]:
        if text == "did not find expected <document start>" and self._is_after_end(problem):
            message = f"{self._quote_rest(problem)} is after the end of the document, `...`"
            return problem, _Explanation(message, "keep one document, and remove what follows it")
        if text not in _BY_PROBLEM and context in _BY_CONTEXT:
            return start, _BY_CONTEXT[context]
        explanation = _BY_PROBLEM.get(text, _Explanation("invalid YAML: {problem}", "fix the YAML here"))
        message = explanation.message.format(
            problem=text, text=self._quote_rest(problem), character=self._rest(problem)[:1]
        )
        return problem, _Explanation(message, explanation.fix)

    def _explain_bracket(self, start: _Position, problem: _Position) -> tuple[_Position, _Explanation]:
        """Explain a bracket that is not closed; an error on its own line is reported where it is."""
        opener = self._rest(start)[:1]
        closer = _CLOSERS.get(opener, "]")
        fix = f"write `,` between items and `{closer}` at the end"
        if start.line == problem.line:
            return problem, _Explanation(f"expected `,` or `{closer}`, not {self._quote_rest(problem)}", fix)
        if not self._rest(problem).strip() and problem.line >= len(self._lines) - 1:
            return start, _Explanation(f"the bracket `{opener}` is never closed", fix)
        line = problem.line + self._first_line
        message = f"the bracket `{opener}` is still open on line {line}, at {self._quote_rest(problem)}"
        return start, _Explanation(message, fix)

    def _explain_colon(self, problem: _Position) -> _Explanation:
        before = self._line(problem)[: problem.column]
        if re.search(r":\s", before):
            return _Explanation("a second `: ` in the line", "quote the value if the `:` is part of it")
        message = "a key is not allowed here: the value above continues, or the line is indented too far"
        return _Explanation(message, "align the key with the others of its map")

    def _explain_line(self, start: _Position, problem: _Position, *, is_map: bool) -> _Explanation:
        """Explain a line that is not the next entry of a map or list."""
        text = self._quote_rest(problem)
        if self._line(problem)[: problem.column].strip():
            return _Explanation(f"{text} after the end of the value", "put the whole value in quotes")
        entry, collection = ("key", "map") if is_map else ("`- ` item", "list")
        first = start.line + self._first_line
        message = f"{text} is not the next {entry} of the {collection} that starts on line {first}"
        if problem.column != start.column:
            message += f": it starts in column {start.column + 1}, this line in column {problem.column + 1}"
        return _Explanation(message, _INDENTATION)

    def _is_after_end(self, problem: _Position) -> bool:
        return any(line.rstrip() == "..." for line in self._lines[: problem.line])

    def _build_finding(self, position: _Position, explanation: _Explanation) -> Finding:
        at = Location(self._file, position.line + self._first_line, position.column + 1)
        return Finding(self._code, explanation.message, at, explanation.fix)

    def _find_tab(self, position: _Position) -> _Position | None:
        line = self._line(position)
        blank = line[: len(line) - len(line.lstrip(" \t"))]
        return _Position(position.line, blank.index("\t")) if "\t" in blank else None

    def _line(self, position: _Position) -> str:
        return self._lines[position.line] if position.line < len(self._lines) else ""

    def _rest(self, position: _Position) -> str:
        return self._line(position)[position.column :]

    def _quote_rest(self, position: _Position) -> str:
        rest = self._rest(position).strip()
        if not rest:
            return "the end of the line" if position.line < len(self._lines) - 1 else "the end of the file"
        return f"`{rest}`" if len(rest) <= _LONGEST_SHOWN else f"`{rest[:_LONGEST_SHOWN]}…`"

    def _is_flat(self) -> bool:
        """Return whether keys have no value on their line, but no line is indented."""
        lines = [line for line in self._lines if line.strip()]
        return (
            len(lines) >= _FEWEST_FLAT_LINES
            and not any(line[0] in " \t" for line in lines)
            and any(line.endswith(":") for line in lines)
        )


def _to_position(mark: Mark | CMark | None) -> _Position | None:
    return _Position(mark.line, mark.column) if mark is not None else None
