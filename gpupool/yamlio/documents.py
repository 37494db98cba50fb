"""Manifest files to their documents, read as kubectl reads them, each broken one by itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from gpupool.codes import Code
from gpupool.findings import Finding, Location, Severity, in_file_order
from gpupool.yamlio.decoding import UnreadableError, decode_text, find_kubectl_unsupported
from gpupool.yamlio.goyaml import parse_document
from gpupool.yamlio.json_text import JsonReader, NotJsonError
from gpupool.yamlio.scalars import quote_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.yamlio.located import Located

MAX_DOCUMENTS = 20_000
_FEWEST_JSON = 2
"""After so many JSON values kubectl no longer takes a stream for YAML."""

_FAR_ENOUGH = 4096
"""Where kubectl stops to look for the bracket that begins JSON."""

_REST_OF_LINE = re.compile(r"[^\S\n]*\n?")
_SEPARATOR = re.compile(r"^---([^\n]*)\n?", re.MULTILINE)
_LINE_BREAK = re.compile("\r\n|\r|\n")


class Document(NamedTuple):
    """One document of a manifest file; one with nothing in it is none."""

    node: Located | None
    """None for one that can't be read to its end; otherwise it is there even with findings."""

    at: Location
    """Where it begins."""

    findings: tuple[Finding, ...]
    """In file order."""

    text: str = ""
    """How it is written, for one in YAML."""

    first_line: int = 0
    """The line of the file on which `text` begins."""

    values: int = 0
    """How many values it holds, every alias written out, for one in YAML."""


class _Chunk(NamedTuple):
    """What stands between two separators."""

    text: str
    line: int
    problem: Finding | None = None
    """What is wrong with the separator after it."""


def read_documents(data: bytes, file: str) -> Iterator[Document]:
    """Read the documents of one file, or of a stream; `file` is only the name for the places.

    A file that is no text at all is one document with findings. kubectl stops at the first document that it
    can't read; here the others are read too.
    """
    try:
        text = decode_text(data, file, Code.MANIFEST_UNREADABLE)
    except UnreadableError as problem:
        yield Document(None, problem.findings[0].at, problem.findings)
        return
    is_json = text[:_FAR_ENOUGH].lstrip().startswith("{")
    documents = _json(text, file) if is_json else _yaml(text, file)
    for count, document in enumerate(documents, 1):
        if count > MAX_DOCUMENTS:
            message = f"more than {MAX_DOCUMENTS:,} documents in the file; the rest is not read"
            finding = Finding(Code.MANIFEST_SYNTAX, message, document.at, "split the file")
            yield Document(None, document.at, (finding,))
            return
        yield document


def _json(text: str, file: str) -> Iterator[Document]:
    """Read JSON values; where the first or second can't be read, the rest as YAML."""
    reader = JsonReader(text, file)
    values = 0
    while not reader.is_over():
        at, end, known = reader.at(), reader.end, len(reader.findings)
        try:
            node = reader.value()
        except NotJsonError as problem:
            if problem.is_too_much or values >= _FEWEST_JSON:
                yield Document(None, at, (*reader.findings[known:], problem.finding))
            else:
                begin = _after_line(text, end)
                yield from _yaml(text[begin:], file, text.count("\n", 0, begin) + 1)
            return
        values += 1
        yield Document(node, at, tuple(reader.findings[known:]))


def _after_line(text: str, offset: int) -> int:
    """Skip the blanks behind a JSON value to the end of its line."""
    found = _REST_OF_LINE.match(text, offset)
    return found.end() if found else offset


def _yaml(text: str, file: str, first_line: int = 1) -> Iterator[Document]:
    """Read YAML documents, split at the separators before anything is parsed, as kubectl does."""
    for chunk in _chunks(text, file, first_line):
        document = _document(chunk, file)
        if document is not None:
            yield document


def _chunks(text: str, file: str, line: int) -> Iterator[_Chunk]:
    start = 0
    for separator in _SEPARATOR.finditer(text):
        chunk = text[start : separator.start()]
        end = line + _line_breaks(chunk)
        problem = _separator_problem(separator[1].strip(), Location(file, end, 1))
        if problem or chunk.strip():
            yield _Chunk(chunk, line, problem)
        line, start = end + 1, separator.end()
    yield _Chunk(text[start:], line)


def _separator_problem(rest: str, at: Location) -> Finding | None:
    """Refuse what stands behind `---` on its line: kubectl drops the document above it, and stops."""
    if not rest or rest.startswith("#"):
        return None
    message = f"{quote_value(rest)} after `---`, where kubectl accepts only a comment"
    return Finding(Code.MANIFEST_SYNTAX, message, at, "start the document on the next line")


def _line_breaks(text: str) -> int:
    return sum(1 for _ in _LINE_BREAK.finditer(text)) if "\r" in text else text.count("\n")


def _document(chunk: _Chunk, file: str) -> Document | None:
    """Read one document; None where nothing is in it."""
    found = [chunk.problem] if chunk.problem else []
    found += _unparsable(chunk, file)
    if len(found) > bool(chunk.problem):
        at = _first_place(chunk, file)
        return Document(None, at, in_file_order(found), chunk.text, chunk.line)
    parsed = parse_document(chunk.text, file, chunk.line)
    found += [*parsed.findings, *_rest(chunk, file, parsed.end)]
    node = parsed.root
    if not found and (node is None or node.value is None):
        return None
    at = node.at if node is not None else _first_place(chunk, file)
    ordered = in_file_order(found) if found else ()
    return Document(node, at, ordered, chunk.text, chunk.line, parsed.values)


def _unparsable(chunk: _Chunk, file: str) -> Iterator[Finding]:
    """Yield what can't stand in a text that kubectl reads, before it is parsed."""
    for finding in find_kubectl_unsupported(chunk.text, file, Code.MANIFEST_SYNTAX):
        yield finding._replace(at=_below(finding.at, chunk.line))
    yield from _inner_marks(chunk, file)
    yield from _directives(chunk, file)


def _inner_marks(chunk: _Chunk, file: str) -> Iterator[Finding]:
    """Refuse a byte order mark at the start of a line, which go-yaml counts as a column of indentation."""
    place = chunk.text.find("\n\ufeff")
    if place >= 0:
        at = Location(file, chunk.line + _line_breaks(chunk.text[: place + 1]), 1)
        message = "unexpected byte order mark (U+FEFF) inside the document; two files may have been joined"
        yield Finding(Code.MANIFEST_SYNTAX, message, at, "remove the invisible character")


def _below(at: Location, first_line: int) -> Location:
    return at._replace(line=at.line + first_line - 1)


def _first_place(chunk: _Chunk, file: str) -> Location:
    blank = chunk.text[: len(chunk.text) - len(chunk.text.lstrip())]
    return Location(file, chunk.line + _line_breaks(blank), 1)


def _directives(chunk: _Chunk, file: str) -> Iterator[Finding]:
    """Refuse a directive: the separator that has to follow ends the document for kubectl."""
    if not (chunk.text.startswith("%") or "\n%" in chunk.text):
        return
    for index, line in enumerate(_LINE_BREAK.split(chunk.text)):
        if line.startswith("%"):
            message = "kubectl can't parse a `%` directive: it splits the file at `---` first"
            at = Location(file, chunk.line + index, 1)
            yield Finding(Code.MANIFEST_SYNTAX, message, at, "remove the line")
            return
        if line.strip() and not line.lstrip().startswith("#"):
            return


def _rest(chunk: _Chunk, file: str, end: int) -> Iterator[Finding]:
    """Warn of what stands behind the end of a document, which kubectl never sees."""
    rest = chunk.text[end:] if end else ""
    if not rest or rest.isspace():
        return
    line = chunk.line + _line_breaks(chunk.text[:end])
    for index, content in enumerate(_LINE_BREAK.split(rest)):
        shown_part = content.strip()
        if shown_part and not shown_part.startswith("#"):
            message = f"kubectl ignores {quote_value(shown_part)} and all below: the document ends above"
            at = Location(file, line + index, 1)
            fix = "start a new document with `---`, or remove it"
            yield Finding(Code.MANIFEST_SYNTAX, message, at, fix, Severity.WARNING)
            return
