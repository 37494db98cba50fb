"""Secrets in messages: every part of one that the API server, or a webhook behind it, quotes is cut out."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PLACEHOLDER: Final = "(sensitive)"
_PART: Final = 8
"""So many characters of a secret in a row are a part of it; fewer appear everywhere by chance."""

_SHORTEST: Final = 4
"""A whole secret that is shorter appears everywhere by chance; to cut it out would hide all of a message."""

_FOUR_DIGITS: Final = 0xFFFF
_GO: Final = {
    "\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", '"': r"\"",
    "\\": r"\\",
}  # fmt: skip
"""How Go writes what it does not write as it is, or by its number."""

_GO_JSON: Final = {
    "<": r"\u003c", ">": r"\u003e", "&": r"\u0026", "\u2028": r"\u2028", "\u2029": r"\u2029", "\x08": r"\b",
    "\x0c": r"\f",
}  # fmt: skip
"""What Go's JSON escapes beyond what has to be."""


def redact_secrets(message: str, secrets: Iterable[str]) -> str:
    """Return a message without secrets: without any eight characters in a row that one of them has.

    A secret is looked for as it is, as JSON and Go quote it, and in base64. The time grows with the lengths
    of message and secrets, not with their product.
    """
    forms = {form for secret in secrets for form in _forms(secret) if len(form) >= _SHORTEST}
    if not forms or len(message) < _SHORTEST:
        return message
    parts = {message[at : at + _PART] for at in range(len(message) - _PART + 1)}
    quoted = {part for form in forms for part in _common(form, parts)}
    is_secret = bytearray(len(message))
    for at in range(len(message) - _PART + 1):
        if message[at : at + _PART] in quoted:
            is_secret[at : at + _PART] = b"\1" * _PART
    for form in forms:
        if len(form) < _PART:
            for found in re.finditer(re.escape(form), message):
                is_secret[found.start() : found.end()] = b"\1" * len(form)
    return _cut(message, is_secret)


def _common(form: str, parts: set[str]) -> Iterator[str]:
    return (part for at in range(len(form) - _PART + 1) if (part := form[at : at + _PART]) in parts)


def _cut(message: str, is_secret: bytearray) -> str:
    """Return the message with a word in place of what is marked; blanks at its ends stay."""
    shown, end = [], 0
    for found in re.finditer(rb"\x01+", is_secret):
        text = message[found.start() : found.end()]
        if not text.isspace():
            first, last = len(text) - len(text.lstrip()), len(text.rstrip())
            shown += [message[end : found.start()], text[:first], PLACEHOLDER, text[last:]]
            end = found.end()
    return "".join([*shown, message[end:]])


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret as it may be in a message: bare, quoted, quoted twice, in base64, and on one line."""
    for once in {secret, secret.strip(), *_quoted(secret)}:
        for form in {once, *_quoted(once)}:
            yield form
            yield " ".join(form.split())  # as messages are shown
    for text in (secret, secret.strip()):
        raw = text.encode("utf-8", "surrogatepass")
        for encoded in (base64.b64encode(raw), base64.urlsafe_b64encode(raw)):
            yield encoded.decode().rstrip("=")


def _quoted(text: str) -> set[str]:
    """Return a text as JSON quotes it, in ASCII and not, and as Go does, the API server's language."""
    in_json = json.dumps(text, ensure_ascii=False)[1:-1]
    return {
        json.dumps(text)[1:-1],
        in_json,
        "".join(_GO_JSON.get(character, character) for character in in_json),
        "".join(
            _GO.get(character) or (character if character.isprintable() else _by_number(character))
            for character in text
        ),
    }


def _by_number(character: str) -> str:
    number = ord(character)
    short = number < 0x80  # noqa: PLR2004 - the end of ASCII
    return (
        f"\\x{number:02x}" if short else f"\\u{number:04x}" if number <= _FOUR_DIGITS else f"\\U{number:08x}"
    )
