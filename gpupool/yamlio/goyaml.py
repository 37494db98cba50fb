"""Parsing of one YAML document as go-yaml does it, with libyaml and its differences to go-yaml."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from yaml import CSafeLoader, DocumentEndEvent, MarkedYAMLError, ScalarEvent
from yaml.events import CollectionEndEvent, CollectionStartEvent

from gpupool.codes import Code
from gpupool.findings import Finding, Location
from gpupool.yamlio.kubectl import KUBECTL
from gpupool.yamlio.scalars import quote_value
from gpupool.yamlio.syntax import Explainer
from gpupool.yamlio.tree import StopError, TreeBuilder

if TYPE_CHECKING:
    from collections.abc import Callable

    from yaml import Event

    from gpupool.yamlio.located import Located

MAX_STAND_INS = 50
"""Limit on texts that are replaced for libyaml; each requires another run of the parser."""

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_STAND_INS = {
    "found unknown escape character": ("\\'", "\uf8fd\uf8fe"),
    "found unexpected ':'": (":", "\uf8ff"),
}
"""Text that go-yaml reads and libyaml rejects, with a stand-in of equal length, so that locations stay right.

Without them 4 of 400 random manifests that kubectl accepts would be rejected
(tests/server/test_manifest_reading.py).
"""


class ParsedDocument(NamedTuple):
    """The first document of a text; go-yaml reads no others."""

    root: Located | None
    """None for an empty document, and for one that can't be read to its end."""

    findings: tuple[Finding, ...]
    end: int
    """The offset in the text where the document ends."""

    values: int
    """The number of values, with every alias expanded."""


def parse_document(text: str, file: str, first_line: int) -> ParsedDocument:
    """Parse the first document of a text that begins on `first_line` of a file."""
    patched = text
    for _ in range(MAX_STAND_INS):
        builder = TreeBuilder(file, KUBECTL, first_line)
        events = _Events(text, patched)
        try:
            builder.run(events)
        except StopError as problem:
            return _stop_parsing(builder, problem.finding)
        except _DifferenceError as problem:
            at = Location(file, first_line + problem.line, problem.column + 1)
            return _stop_parsing(builder, Finding(Code.MANIFEST_SYNTAX, problem.message, at, problem.fix))
        except MarkedYAMLError as problem:
            repatched = _insert_stand_in(patched, problem)
            if repatched == patched:
                explainer = Explainer(text, file, Code.MANIFEST_SYNTAX, first_line)
                return _stop_parsing(builder, explainer.explain(problem))
            patched = repatched
        else:
            return ParsedDocument(builder.root, tuple(builder.findings), events.end or 0, builder.count)
    fix = "put strings that end with `:` in quotes, and write `'` without a backslash"
    message = f"more than {MAX_STAND_INS} escaped `'`, or strings in brackets that end with `:`"
    finding = Finding(Code.MANIFEST_SYNTAX, message, Location(file, first_line, 1), fix)
    return ParsedDocument(None, (finding,), 0, 0)


def _stop_parsing(builder: TreeBuilder, last: Finding) -> ParsedDocument:
    return ParsedDocument(None, (*builder.findings, last), 0, builder.count)


def _insert_stand_in(text: str, problem: MarkedYAMLError) -> str:
    """Replace the text at which libyaml stopped; return it unchanged where go-yaml would stop too."""
    written, stand_in = _STAND_INS.get(problem.problem or "", ("", ""))
    offset = problem.problem_mark.index if problem.problem_mark else 0
    if not written or not text.startswith(written, offset):
        return text
    return text[:offset] + stand_in + text[offset + len(written) :]


class _DifferenceError(Exception):
    """Text that libyaml accepts and go-yaml rejects; line and column count from 0."""

    def __init__(self, event: Event, message: str, fix: str) -> None:
        super().__init__()
        self.message, self.fix = message, fix
        mark = event.start_mark
        self.line, self.column = (mark.line, mark.column) if mark else (0, 0)


class _Events:
    """The events of the first document in a text, adapted where go-yaml reads it differently."""

    def __init__(self, text: str, patched: str) -> None:
        self.end: int | None = None
        """The offset in the text where the document ends."""

        self._text = patched
        self._next_event: Callable[[], Event | None] = CSafeLoader(patched).get_event
        self._has_stand_ins = patched is not text
        self._has_slashes = "\\/" in text
        self._is_careful = self._has_stand_ins or self._has_slashes or "?" in text
        self._is_flow = [False]

    def __call__(self) -> Event | None:
        if self.end is not None:
            return None
        event = self._next_event()
        if type(event) is DocumentEndEvent:
            self.end = event.end_mark.index if event.end_mark else 0
        elif self._is_careful:
            self._adapt(event)
        return event

    def _adapt(self, event: Event | None) -> None:
        if isinstance(event, CollectionStartEvent):
            self._is_flow.append(bool(event.flow_style))
        elif isinstance(event, CollectionEndEvent):
            self._is_flow.pop()
        elif isinstance(event, ScalarEvent):
            self._adapt_scalar(event)

    def _adapt_scalar(self, event: ScalarEvent) -> None:
        if event.style == '"' and self._has_slashes:
            self._reject_escaped_slash(event)
        if self._is_flow[-1] and not event.style and "?" in event.value:
            message = (
                f"{quote_value(event.value)} contains `?` in brackets, where kubectl reads it as YAML syntax"
            )
            raise _DifferenceError(event, message, "put the string in quotes")
        if self._has_stand_ins:
            for written, stand_in in _STAND_INS.values():
                event.value = event.value.replace(stand_in, written.removeprefix("\\"))

    def _reject_escaped_slash(self, event: ScalarEvent) -> None:
        start, end = event.start_mark, event.end_mark
        written = self._text[start.index : end.index] if start and end else ""
        if any(match[1] == "/" for match in _ESCAPED.finditer(written)):
            message = "unknown escape in double quotes: kubectl does not support `\\/`"
            raise _DifferenceError(event, message, "write `/`")
