"""Which values nobody is to see: they stand as digests in plans and as `(sensitive …)` in what is printed.

A digest is salted with the cluster and the place, so that equal secrets do not look equal, and a list of
likely ones can't be looked up once for all.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpupool.planning.compare import Path
    from gpupool.yamlio.nodes import Plain

MARK: Final = "$sensitive"
_KEYED: Final = frozenset({"tags", "annotations"})
_HIDING: Final = frozenset({("spec",), *((key,) for key in _KEYED)})
"""The last step to a map in which something sensitive can stand."""

_SECRETS = re.compile(
    r"secret|token|passw(or)?d|credential|api[-_.]?key|private[-_.]?key|access[-_.]?key", re.IGNORECASE
)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_TEXT = re.compile(r"\(sensitive, sha256:[0-9a-f]{8}\)")
"""What stands for a sensitive value where people read it."""

_SHORTEST, _LINE = 4, 8
"""Shorter texts stand everywhere by chance; to cut them out of a message would hide all of it."""

_FOUR_DIGITS: Final = 0xFFFF
_GO: Final = {
    "\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", '"': r"\"",
    "\\": r"\\",
}  # fmt: skip
"""How Go writes what it does not write as it is, or by its number."""


@dataclass(frozen=True, slots=True)
class Masker:
    """What is sensitive in the objects of one blueprint for one cluster."""

    patterns: tuple[str, ...]
    """As in the blueprint's `sensitive`."""

    salt: str
    """The cluster's uid."""

    def is_sensitive(self, path: Path) -> bool:
        """Say whether the value at a path of an object is one that nobody is to see."""
        key = str(path[-1]) if path else ""
        if path == ("spec", "userData"):
            return True
        if key == "context" and path == ("spec", "context"):
            return self._is_named(key)
        above = path[-2] if len(path) > 1 else ""
        return above in _KEYED and (self._is_named(key) or looks_secret(key))

    def digest(self, address: str, path: Path, value: Plain) -> str:
        """Give the digest that stands for a value in a plan."""
        # Without numbers: an item of a list that has moved is still the same, as `compare` takes it.
        keys: list[Plain] = [key for key in path if isinstance(key, str)]
        said = json.dumps([self.salt, address, keys, value], sort_keys=True)
        return f"sha256:{hashlib.sha256(said.encode()).hexdigest()}"

    def shown(self, address: str, body: Plain, path: Path = ()) -> Plain:
        """Give a body in which every sensitive value is a text that says so."""
        return self._replaced(address, body, path, for_people=True)

    def sealed(self, address: str, body: Plain) -> Plain:
        """Give a body in which every sensitive value is `{"$sensitive": DIGEST}`."""
        return self._replaced(address, body, (), for_people=False)

    def values(self, body: Plain, path: Path = ()) -> Iterator[str]:
        """Give every sensitive text of a body."""
        if self.is_sensitive(path):
            yield str(body)
        elif isinstance(body, dict | list):
            for key, item in body.items() if isinstance(body, dict) else enumerate(body):
                yield from self.values(item, (*path, key))

    def _is_named(self, key: str) -> bool:
        return any(fnmatchcase(key.lower(), pattern.lower()) for pattern in self.patterns)

    def _replaced(self, address: str, body: Plain, path: Path, *, for_people: bool) -> Plain:
        if path and self.is_sensitive(path):
            digest = self.digest(address, path, body)
            return _text_for(digest) if for_people else {MARK: digest}
        if isinstance(body, dict):
            # Of the many leaves of an object only a few stand where something sensitive can.
            may_hide = path[-1:] in _HIDING
            return {
                key: self._replaced(address, item, (*path, key), for_people=for_people)
                if may_hide or isinstance(item, (dict, list))
                else item
                for key, item in body.items()
            }
        if isinstance(body, list):
            return [
                self._replaced(address, item, (*path, index), for_people=for_people)
                if isinstance(item, (dict, list))
                else item
                for index, item in enumerate(body)
            ]
        return body


def looks_secret(key: str) -> bool:
    """Say whether a key looks like that of a secret."""
    return _SECRETS.search(key) is not None


def without(message: str, secrets: Iterable[str]) -> str:
    """Give a message of the API server, which quotes what it refuses, without sensitive values."""
    forms = {form for secret in secrets for form in _forms(secret) if len(form) >= _SHORTEST}
    if not forms:
        return message
    # The longest first, and in one go: what stands for one secret may look like another.
    return re.sub("|".join(map(re.escape, sorted(forms, key=len, reverse=True))), "(sensitive)", message)


def _forms(secret: str) -> Iterator[str]:
    """Give a text, and each long line of it, as it may stand in a message: bare, quoted, quoted twice."""
    for said in (secret, *(line.strip() for line in secret.splitlines() if len(line.strip()) >= _LINE)):
        for once in (said, *_quoted(said)):
            for form in (once, *_quoted(once)):
                yield form
                yield " ".join(form.split())  # as messages are shown


def _quoted(text: str) -> Iterator[str]:
    """Give a text as JSON quotes it, in ASCII and not, and as Go does, in which the API server is written."""
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield "".join(_GO.get(each) or (each if each.isprintable() else _by_number(each)) for each in text)


def _by_number(character: str) -> str:
    number = ord(character)
    short = number < 0x80  # noqa: PLR2004 - the end of ASCII
    return (
        f"\\x{number:02x}" if short else f"\\u{number:04x}" if number <= _FOUR_DIGITS else f"\\U{number:08x}"
    )


def is_sealed(body: Plain) -> bool:
    """Say whether anything in a plan's body stands as a digest."""
    if isinstance(body, dict):
        return MARK in body or any(map(is_sealed, body.values()))
    return isinstance(body, list) and any(map(is_sealed, body))


def sealed_as_shown(body: Plain) -> Plain:
    """Return a body of a plan file as people see it: a text in place of each digest."""
    if isinstance(body, dict):
        if _is_digest(body):
            return _text_for(str(body[MARK]))
        return {key: sealed_as_shown(item) for key, item in body.items()}
    return [sealed_as_shown(item) for item in body] if isinstance(body, list) else body


def unsealed(body: Plain, path: Path = ()) -> Iterator[Path]:
    """Yield the path of each value of a plan's body that should be a digest and is none.

    Those are values that are sensitive in every blueprint, and texts that only look like a hidden value.
    """
    if _is_digest(body):
        return
    if (path and _ALWAYS.is_sensitive(path)) or (isinstance(body, str) and _TEXT.fullmatch(body)):
        yield path
    elif isinstance(body, dict | list):
        for key, item in body.items() if isinstance(body, dict) else enumerate(body):
            yield from unsealed(item, (*path, key))


def hidden_paths(shown: Plain, path: Path = ()) -> Iterator[Path]:
    """Yield the path of each hidden value in a body as people see it."""
    if isinstance(shown, str):
        if _TEXT.fullmatch(shown):
            yield path
    elif isinstance(shown, dict | list):
        for key, item in shown.items() if isinstance(shown, dict) else enumerate(shown):
            yield from hidden_paths(item, (*path, key))


def is_hidden_by_name(shown: Plain) -> bool:
    """Return whether a body, as people see it, hides a value that only the blueprint's `sensitive` names."""
    return any(not _ALWAYS.is_sensitive(path) for path in hidden_paths(shown))


def _text_for(digest: str) -> str:
    return f"(sensitive, {digest[:15]})"


def _is_digest(value: Plain) -> bool:
    if not isinstance(value, dict) or value.keys() != {MARK}:
        return False
    digest = value[MARK]
    return isinstance(digest, str) and _DIGEST.fullmatch(digest) is not None


_ALWAYS: Final = Masker((), "")
"""What is sensitive whatever the blueprint says."""
