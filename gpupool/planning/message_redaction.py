"""Redaction of secrets in messages of the API server and of webhooks, which may quote parts of them."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PLACEHOLDER: Final = "(sensitive)"
_PART_LENGTH: Final = 8
"""The length of a part of a secret that is redacted; shorter parts appear by chance."""

_MIN_LENGTH: Final = 4
"""The shortest secret that is redacted; shorter ones appear by chance, and would hide a whole message."""

_FOUR_DIGITS: Final = 0xFFFF
_GO_ESCAPES: Final = {
    "\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", '"': r"\"",
    "\\": r"\\",
}  # fmt: skip
"""Go's escapes of characters that it writes neither as they are nor by number."""

_GO_JSON_ESCAPES: Final = {
    "<": r"\u003c", ">": r"\u003e", "&": r"\u0026", "\u2028": r"\u2028", "\u2029": r"\u2029", "\x08": r"\b",
    "\x0c": r"\f",
}  # fmt: skip
"""The escapes of Go's JSON beyond the required ones."""


def redact_secrets(message: str, secrets: Iterable[str]) -> str:
    """Return a message without any eight consecutive characters of a secret.

    A secret is searched as it is, as JSON and Go quote it, and in base64. The time grows with the lengths of
    message and secrets, not with their product.
    """
    forms = {form for secret in secrets for form in _forms(secret) if len(form) >= _MIN_LENGTH}
    if not forms or len(message) < _MIN_LENGTH:
        return message
    parts = {message[at : at + _PART_LENGTH] for at in range(len(message) - _PART_LENGTH + 1)}
    quoted = {part for form in forms for part in _find_common(form, parts)}
    is_secret = bytearray(len(message))
    for at in range(len(message) - _PART_LENGTH + 1):
        if message[at : at + _PART_LENGTH] in quoted:
            is_secret[at : at + _PART_LENGTH] = b"\1" * _PART_LENGTH
    for form in forms:
        if len(form) < _PART_LENGTH:
            for match in re.finditer(re.escape(form), message):
                is_secret[match.start() : match.end()] = b"\1" * len(form)
    return _replace_marked(message, is_secret)


def _find_common(form: str, parts: set[str]) -> Iterator[str]:
    return (
        part for at in range(len(form) - _PART_LENGTH + 1) if (part := form[at : at + _PART_LENGTH]) in parts
    )


def _replace_marked(message: str, is_secret: bytearray) -> str:
    """Return the message with a placeholder for each marked part; spaces at its ends stay."""
    pieces, end = [], 0
    for match in re.finditer(rb"\x01+", is_secret):
        text = message[match.start() : match.end()]
        if not text.isspace():
            first, last = len(text) - len(text.lstrip()), len(text.rstrip())
            pieces += [message[end : match.start()], text[:first], PLACEHOLDER, text[last:]]
            end = match.end()
    return "".join([*pieces, message[end:]])


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret as it may appear in a message: bare, quoted once or twice, in base64, on one line."""
    for once in {secret, secret.strip(), *_quote(secret)}:
        for form in {once, *_quote(once)}:
            yield form
            yield " ".join(form.split())  # as in output
    for text in (secret, secret.strip()):
        raw = text.encode("utf-8", "surrogatepass")
        for encoded in (base64.b64encode(raw), base64.urlsafe_b64encode(raw)):
            yield encoded.decode().rstrip("=")


def _quote(text: str) -> set[str]:
    """Return a text as quoted by JSON (in ASCII and in Unicode), by Go's JSON and by Go."""
    in_json = json.dumps(text, ensure_ascii=False)[1:-1]
    return {
        json.dumps(text)[1:-1],
        in_json,
        "".join(_GO_JSON_ESCAPES.get(character, character) for character in in_json),
        "".join(
            _GO_ESCAPES.get(character)
            or (character if character.isprintable() else _escape_by_number(character))
            for character in text
        ),
    }


def _escape_by_number(character: str) -> str:
    number = ord(character)
    short = number < 0x80  # noqa: PLR2004 - the end of ASCII
    return (
        f"\\x{number:02x}" if short else f"\\u{number:04x}" if number <= _FOUR_DIGITS else f"\\U{number:08x}"
    )
