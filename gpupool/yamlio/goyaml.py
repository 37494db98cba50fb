"""One YAML document as go-yaml parses it, by libyaml, with what these two see differently."""

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
"""So many places that libyaml does not read are helped; it has to begin anew for each."""

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_STAND_INS = {
    "found unknown escape character": ("\\'", "\uf8fd\uf8fe"),
    "found unexpected ':'": (":", "\uf8ff"),
}
"""What go-yaml reads and libyaml does not, with something as long in its place, so that places stay right.

Without them 4 of 400 random manifests that kubectl accepts are refused: tests/server/test_manifest_reading.py
"""


class ParsedDocument(NamedTuple):
    """What the first document of a text says; go-yaml takes no others."""

    root: Located | None
    """None for nothing, and for a document that can't be read to its end."""

    findings: tuple[Finding, ...]
    is_whole: bool
    """It was read to its end."""

    end: int
    """The offset in the text where the document ends."""

    values: int
    """How many values it has, every alias written out."""


def parse_document(text: str, file: str, first_line: int) -> ParsedDocument:
    """Read the first document of a text that begins on `first_line` of a file."""
    helped = text
    for _ in range(MAX_STAND_INS):
        builder = TreeBuilder(file, KUBECTL, first_line)
        events = _Events(text, helped)
        try:
            builder.run(events)
        except StopError as problem:
            return _broken(builder, problem.finding)
        except _DifferenceError as problem:
            at = Location(file, first_line + problem.line, problem.column + 1)
            return _broken(builder, Finding(Code.MANIFEST_SYNTAX, problem.message, at, problem.fix))
        except MarkedYAMLError as problem:
            more = _with_stand_in(helped, problem)
            if more == helped:
                explainer = Explainer(text, file, Code.MANIFEST_SYNTAX, first_line)
                return _broken(builder, explainer.explain(problem))
            helped = more
        else:
            return ParsedDocument(builder.root, tuple(builder.findings), True, events.end or 0, builder.count)
    fix = "put strings that end with `:` in quotes, and write `'` without a backslash"
    message = f"more than {MAX_STAND_INS} escaped `'`, or strings in brackets that end with `:`"
    finding = Finding(Code.MANIFEST_SYNTAX, message, Location(file, first_line, 1), fix)
    return ParsedDocument(None, (finding,), False, 0, 0)


def _broken(builder: TreeBuilder, last: Finding) -> ParsedDocument:
    return ParsedDocument(None, (*builder.findings, last), False, 0, builder.count)


def _with_stand_in(text: str, problem: MarkedYAMLError) -> str:
    """Replace what libyaml stopped at; give the same text where go-yaml would stop too."""
    written, stand_in = _STAND_INS.get(problem.problem or "", ("", ""))
    offset = problem.problem_mark.index if problem.problem_mark else 0
    if not written or not text.startswith(written, offset):
        return text
    return text[:offset] + stand_in + text[offset + len(written) :]


class _DifferenceError(Exception):
    """Something that libyaml reads and go-yaml does not; line and column count from 0."""

    def __init__(self, event: Event, message: str, fix: str) -> None:
        super().__init__()
        self.message, self.fix = message, fix
        mark = event.start_mark
        self.line, self.column = (mark.line, mark.column) if mark else (0, 0)


class _Events:
    """The events of the first document in a text, those for which go-yaml has others looked at again."""

    def __init__(self, text: str, helped: str) -> None:
        self.end: int | None = None
        """The offset in the text where the document ends."""

        self._text = helped
        self._next_event: Callable[[], Event | None] = CSafeLoader(helped).get_event
        self._has_stand_ins = helped is not text
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
            self._look_at(event)
        return event

    def _look_at(self, event: Event | None) -> None:
        if isinstance(event, CollectionStartEvent):
            self._is_flow.append(bool(event.flow_style))
        elif isinstance(event, CollectionEndEvent):
            self._is_flow.pop()
        elif isinstance(event, ScalarEvent):
            self._scalar(event)

    def _scalar(self, event: ScalarEvent) -> None:
        if event.style == '"' and self._has_slashes:
            self._refuse_slash(event)
        if self._is_flow[-1] and not event.style and "?" in event.value:
            message = (
                f"{quote_value(event.value)} contains `?` in brackets, where kubectl reads it as YAML syntax"
            )
            raise _DifferenceError(event, message, "put the string in quotes")
        if self._has_stand_ins:
            for written, stand_in in _STAND_INS.values():
                event.value = event.value.replace(stand_in, written.removeprefix("\\"))

    def _refuse_slash(self, event: ScalarEvent) -> None:
        start, end = event.start_mark, event.end_mark
        written = self._text[start.index : end.index] if start and end else ""
        if any(match[1] == "/" for match in _ESCAPED.finditer(written)):
            message = "unknown escape in double quotes: kubectl does not support `\\/`"
            raise _DifferenceError(event, message, "write `/`")
