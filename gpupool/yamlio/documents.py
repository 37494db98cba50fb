"""Documents of manifest files in YAML or JSON, split and parsed as kubectl does."""

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
_MIN_JSON_VALUES = 2
"""After so many JSON values kubectl no longer reads the rest of a stream as YAML."""

_JSON_PREFIX = 4096
"""How many characters kubectl searches for the bracket that begins JSON."""

_REST_OF_LINE = re.compile(r"[^\S\n]*\n?")
_SEPARATOR = re.compile(r"^---([^\n]*)\n?", re.MULTILINE)
_LINE_BREAK = re.compile("\r\n|\r|\n")


class Document(NamedTuple):
    """One document of a manifest file; empty documents are skipped."""

    node: Located | None
    """The value; None only where the document can't be read to its end."""

    at: Location
    """The location where it begins."""

    findings: tuple[Finding, ...]
    """In file order."""

    text: str = ""
    """Its text, for one in YAML."""

    first_line: int = 0
    """The line of the file on which `text` begins."""

    values: int = 0
    """The number of values with every alias expanded, for one in YAML."""


class _Chunk(NamedTuple):
    """The text between two separators."""

    text: str
    line: int
    problem: Finding | None = None
    """The error in the separator after it."""


def read_documents(data: bytes, file: str) -> Iterator[Document]:
    """Yield the documents of one file, or of a stream; `file` is only the name in locations.

    A file that is not text is one document with findings. kubectl stops at the first document that it
    can't read; this function reads the others too.
    """
    try:
        text = decode_text(data, file, Code.MANIFEST_UNREADABLE)
    except UnreadableError as problem:
        yield Document(None, problem.findings[0].at, problem.findings)
        return
    is_json = text[:_JSON_PREFIX].lstrip().startswith("{")
    documents = _read_json(text, file) if is_json else _read_yaml(text, file)
    for count, document in enumerate(documents, 1):
        if count > MAX_DOCUMENTS:
            message = f"more than {MAX_DOCUMENTS:,} documents in the file; the rest is not read"
            finding = Finding(Code.MANIFEST_SYNTAX, message, document.at, "split the file")
            yield Document(None, document.at, (finding,))
            return
        yield document


def _read_json(text: str, file: str) -> Iterator[Document]:
    """Yield JSON values; where the first or second can't be read, the rest is read as YAML."""
    reader = JsonReader(text, file)
    values = 0
    while not reader.is_at_end():
        at, end, reported = reader.location(), reader.end, len(reader.findings)
        try:
            node = reader.read_value()
        except NotJsonError as problem:
            if problem.is_too_much or values >= _MIN_JSON_VALUES:
                yield Document(None, at, (*reader.findings[reported:], problem.finding))
            else:
                begin = _skip_blanks(text, end)
                yield from _read_yaml(text[begin:], file, text.count("\n", 0, begin) + 1)
            return
        values += 1
        yield Document(node, at, tuple(reader.findings[reported:]))


def _skip_blanks(text: str, offset: int) -> int:
    """Return the offset after the blanks that follow a JSON value on its line."""
    blanks = _REST_OF_LINE.match(text, offset)
    return blanks.end() if blanks else offset


def _read_yaml(text: str, file: str, first_line: int = 1) -> Iterator[Document]:
    """Yield YAML documents, split at the separators before they are parsed, as kubectl does."""
    for chunk in _split_chunks(text, file, first_line):
        document = _read_document(chunk, file)
        if document is not None:
            yield document


def _split_chunks(text: str, file: str, line: int) -> Iterator[_Chunk]:
    start = 0
    for separator in _SEPARATOR.finditer(text):
        chunk = text[start : separator.start()]
        end = line + _count_line_breaks(chunk)
        problem = _check_separator(separator[1].strip(), Location(file, end, 1))
        if problem or chunk.strip():
            yield _Chunk(chunk, line, problem)
        line, start = end + 1, separator.end()
    yield _Chunk(text[start:], line)


def _check_separator(rest: str, at: Location) -> Finding | None:
    """Reject text after `---` on its line: kubectl drops the document above it, and stops."""
    if not rest or rest.startswith("#"):
        return None
    message = f"{quote_value(rest)} after `---`, where kubectl accepts only a comment"
    return Finding(Code.MANIFEST_SYNTAX, message, at, "start the document on the next line")


def _count_line_breaks(text: str) -> int:
    return sum(1 for _ in _LINE_BREAK.finditer(text)) if "\r" in text else text.count("\n")


def _read_document(chunk: _Chunk, file: str) -> Document | None:
    """Read one document; return None for an empty one."""
    findings = [chunk.problem] if chunk.problem else []
    findings += _check_before_parsing(chunk, file)
    if len(findings) > bool(chunk.problem):
        at = _locate_start(chunk, file)
        return Document(None, at, in_file_order(findings), chunk.text, chunk.line)
    parsed = parse_document(chunk.text, file, chunk.line)
    findings += [*parsed.findings, *_check_rest(chunk, file, parsed.end)]
    node = parsed.root
    if not findings and (node is None or node.value is None):
        return None
    at = node.at if node is not None else _locate_start(chunk, file)
    ordered = in_file_order(findings) if findings else ()
    return Document(node, at, ordered, chunk.text, chunk.line, parsed.values)


def _check_before_parsing(chunk: _Chunk, file: str) -> Iterator[Finding]:
    """Check for text that kubectl can't read, before the document is parsed."""
    for finding in find_kubectl_unsupported(chunk.text, file, Code.MANIFEST_SYNTAX):
        yield finding._replace(at=_shift_lines(finding.at, chunk.line))
    yield from _check_inner_marks(chunk, file)
    yield from _check_directives(chunk, file)


def _check_inner_marks(chunk: _Chunk, file: str) -> Iterator[Finding]:
    """Reject a byte order mark at the start of a line, which go-yaml counts as a column of indentation."""
    offset = chunk.text.find("\n\ufeff")
    if offset >= 0:
        at = Location(file, chunk.line + _count_line_breaks(chunk.text[: offset + 1]), 1)
        message = "unexpected byte order mark (U+FEFF) inside the document; two files may have been joined"
        yield Finding(Code.MANIFEST_SYNTAX, message, at, "remove the invisible character")


def _shift_lines(at: Location, first_line: int) -> Location:
    return at._replace(line=at.line + first_line - 1)


def _locate_start(chunk: _Chunk, file: str) -> Location:
    blank = chunk.text[: len(chunk.text) - len(chunk.text.lstrip())]
    return Location(file, chunk.line + _count_line_breaks(blank), 1)


def _check_directives(chunk: _Chunk, file: str) -> Iterator[Finding]:
    """Reject a directive: the separator that has to follow it ends the document for kubectl."""
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


def _check_rest(chunk: _Chunk, file: str, end: int) -> Iterator[Finding]:
    """Warn of text after the end of a document, which kubectl never reads."""
    rest = chunk.text[end:] if end else ""
    if not rest or rest.isspace():
        return
    line = chunk.line + _count_line_breaks(chunk.text[:end])
    for index, content in enumerate(_LINE_BREAK.split(rest)):
        stripped = content.strip()
        if stripped and not stripped.startswith("#"):
            message = f"kubectl ignores {quote_value(stripped)} and all below: the document ends above"
            at = Location(file, line + index, 1)
            fix = "start a new document with `---`, or remove it"
            yield Finding(Code.MANIFEST_SYNTAX, message, at, fix, Severity.WARNING)
            return
