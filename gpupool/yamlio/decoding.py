"""Decoding of a file's bytes to text that is allowed in YAML."""

from __future__ import annotations

import codecs
import re
from itertools import islice
from typing import TYPE_CHECKING

from gpupool.codes import Code
from gpupool.findings import Finding, Location

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES = 4 * 1024 * 1024
MAX_MANIFEST_BYTES = 4 * MAX_BYTES
"""Manifests are read document by document, and the output of a chart may be long."""

MAX_TAG_DIRECTIVES = 16
"""libyaml compares each directive with all before it: a file of directives alone would take minutes."""

_MAX_BAD_CHARACTERS = 20
_OTHER_ENCODINGS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
_LINES_AND_TABS = "\t\n\r"
_LINE_BREAK = re.compile("\r\n|\r|\n")
_BAD_CHARACTER = "[^\t\n\r -~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
_BAD_TO_KUBECTL = "[^\t\n\r -~\x85\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_BREAKS_TO_SOME = frozenset("\u0085\u2028\u2029")


class UnreadableError(Exception):
    """Bytes that are not YAML text; `findings` holds the reasons."""

    def __init__(self, *findings: Finding) -> None:
        """Store the findings."""
        super().__init__()
        self.findings = findings


def decode(data: bytes, file: str) -> str:
    """Decode the text of a YAML file, and drop its byte order mark.

    Raises:
        UnreadableError: for too many bytes, another encoding than UTF-8, or characters that YAML forbids.
    """
    text = decode_text(data, file, Code.UNREADABLE, MAX_BYTES)
    if text.count("\n%TAG") > MAX_TAG_DIRECTIVES:
        message = f"more than {MAX_TAG_DIRECTIVES} %TAG directives"
        finding = Finding(Code.NOT_YAML, message, Location(file, 1, 1), "remove the %TAG directives")
        raise UnreadableError(finding)
    bad = _find_characters(_BAD_CHARACTER, text, file)
    if bad:
        raise UnreadableError(*(_explain_character(character, at) for character, at in bad))
    return text


def decode_text(data: bytes, file: str, code: Code, limit: int = MAX_MANIFEST_BYTES) -> str:
    """Decode UTF-8 text with any characters, and drop its byte order mark.

    Raises:
        UnreadableError: with `code`, for too many bytes or another encoding than UTF-8.
    """
    if len(data) > limit:
        raise UnreadableError(_report_size(len(data), limit, file)._replace(code=code))
    try:
        return _decode_utf8(data, file)
    except UnreadableError as problem:
        raise UnreadableError(*(finding._replace(code=code) for finding in problem.findings)) from None


def find_kubectl_unsupported(text: str, file: str, code: Code) -> tuple[Finding, ...]:
    """Find the characters that kubectl can't read in YAML."""
    bad = _find_characters(_BAD_TO_KUBECTL, text, file)
    return tuple(_explain_character(character, at)._replace(code=code) for character, at in bad)


def _find_characters(pattern: str, text: str, file: str) -> list[tuple[str, Location]]:
    matches = islice(_match_characters(pattern, text), _MAX_BAD_CHARACTERS)
    return [(match[0], locate_offset(text, match.start(), file)) for match in matches]


def _match_characters(pattern: str, text: str) -> Iterator[re.Match[str]]:
    """Find the characters that match a pattern of what YAML forbids.

    The pattern covers all of Unicode and is slow to compile, so it is used only where a character is suspect.
    """
    if all(_is_common(character) for character in set(text)):
        return iter(())
    return re.finditer(pattern, text)


def _is_common(character: str) -> bool:
    return " " <= character <= "~" or character in _LINES_AND_TABS or "\u00a0" <= character <= "\u2027"


def locate_offset(text: str, offset: int, file: str) -> Location:
    """Return the line and column of a character; CR LF, CR and LF end a line."""
    line, start = 1, 0
    for match in _LINE_BREAK.finditer(text, 0, offset):
        line, start = line + 1, match.end()
    return Location(file, line, offset - start + 1)


def _report_size(size: int, limit: int, file: str) -> Finding:
    most = limit // 1024 // 1024
    message = f"the file is {size / 1024 / 1024:.1f} MiB; files over {most} MiB are not read"
    return Finding(Code.UNREADABLE, message, Location(file), "check that this is the right file, or split it")


def _decode_utf8(data: bytes, file: str) -> str:
    for mark, name in _OTHER_ENCODINGS.items():
        if data.startswith(mark):
            message = f"the file is {name}, not UTF-8"
            raise UnreadableError(Finding(Code.UNREADABLE, message, Location(file, 1, 1), "save it as UTF-8"))
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as problem:
        readable = problem.object[: problem.start].decode()
        message = f"the file is not UTF-8: invalid byte 0x{problem.object[problem.start]:02x}"
        at = locate_offset(readable, len(readable), file)
        raise UnreadableError(Finding(Code.UNREADABLE, message, at, "save it as UTF-8")) from None


def _explain_character(character: str, at: Location) -> Finding:
    name = f"U+{ord(character):04X}"
    escape = f"\\u{ord(character):04x}"
    if character in _BREAKS_TO_SOME:
        message = f"{name} ends a line for kubectl and Helm but not in YAML 1.2"
        fix = f'write `"{escape}"` if the character is intended'
        return Finding(Code.AMBIGUOUS_SCALAR, message, at, fix)
    if character == "\ufeff":
        message = "unexpected byte order mark (U+FEFF) inside the file; two files may have been joined"
        return Finding(Code.UNREADABLE, message, at, "remove the invisible character")
    kind = (
        "a NUL byte (the file may be UTF-16 or binary)"
        if character == "\0"
        else f"the control character {name}"
    )
    message = f"{kind} is not allowed in YAML"
    fix = f'remove it, or write `"{escape}"` if the character is intended'
    return Finding(Code.UNREADABLE, message, at, fix)
