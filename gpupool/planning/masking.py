"""Which values nobody is to see: they stand as digests in plans and as `(sensitive …)` in what is printed.

A digest is keyed with a secret that stays in the cluster, so that whoever holds only a plan can't try words
until one fits. It is of the cluster and the place too, so that equal secrets do not look equal.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gpupool.planning.compare import LeafPath
    from gpupool.yamlio.located import Plain

MARK: Final = "$sensitive"
_KEYED: Final = frozenset({"tags", "annotations", "labels"})
_HIDING: Final = frozenset({("spec",), *((key,) for key in _KEYED)})
"""The last step to a map in which something sensitive can stand."""

_SECRETS = re.compile(
    r"secret|token|passw(or)?d|pwd|credential|(api|private|access)[-_.]?key|conn(ection)?[-_.]?str(ing)?"
    r"|auth(?!or(?!i[sz]))",
    re.IGNORECASE,
)
"""`auth` is part of authorization and OAuth, and not of author or authority."""

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_TEXT = re.compile(r"\(sensitive, sha256:[0-9a-f]{8}\)")
"""What stands for a sensitive value where people read it."""


@dataclass(frozen=True, slots=True)
class Masker:
    """What is sensitive in the objects of one blueprint for one cluster."""

    patterns: tuple[str, ...]
    """As in the blueprint's `sensitive`."""

    cluster: str
    """The cluster's uid."""

    key: bytes
    """What digests are keyed with; whoever has it can try words against them."""

    @property
    def key_digest(self) -> str:
        """Return what tells two keys apart; nothing of a key can be learned from it."""
        return hashlib.sha256(b"gpupool's key: " + self.key).hexdigest()[:16]

    def is_sensitive(self, path: LeafPath) -> bool:
        """Return whether the value at a path of an object is one that nobody is to see."""
        return is_sensitive(self.patterns, path)

    def digest(self, address: str, path: LeafPath, value: Plain) -> str:
        """Return the digest that stands for a value in a plan."""
        # Without numbers: an item of a list that has moved is still the same, as `compare` takes it.
        keys: list[Plain] = [key for key in path if isinstance(key, str)]
        return f"sha256:{self._keyed([self.cluster, address, keys, value])}"

    def file_digest(self, name: str, digest: str) -> str:
        """Return what stands for the digest of a file that holds something sensitive."""
        return self._keyed(["file", self.cluster, name, digest])

    def shown(self, address: str, body: Plain, path: LeafPath = ()) -> Plain:
        """Return a body in which every sensitive value is a text that says so."""
        return _replaced(
            self.patterns,
            body,
            path,
            lambda at, value: f"(sensitive, {self.digest(address, at, value)[:15]})",
        )

    def sealed(self, address: str, body: Plain) -> Plain:
        """Return a body in which every sensitive value is `{"$sensitive": DIGEST}`."""
        return _replaced(self.patterns, body, (), lambda at, value: {MARK: self.digest(address, at, value)})

    def values(self, body: Plain, path: LeafPath = ()) -> Iterator[str]:
        """Yield every sensitive text of a body."""
        return find_sensitive_values(self.patterns, body, path)

    def has_sensitive(self, body: Plain, path: LeafPath = ()) -> bool:
        """Return whether anything in a body is sensitive."""
        return any(True for _ in self.values(body, path))

    def _keyed(self, value: Plain) -> str:
        return hmac.digest(self.key, json.dumps(value, sort_keys=True).encode(), "sha256").hex()


def is_sensitive(patterns: Sequence[str], path: LeafPath) -> bool:
    """Return whether the value at a path of an object is one that nobody is to see."""
    if len(path) < 2:  # noqa: PLR2004 - whatever is sensitive has a key and what that is a key of
        return False
    above, key = path[-2], str(path[-1])
    if above in _KEYED:
        return is_secret_name(key) or _is_named(patterns, key)
    return path == ("spec", "userData") or (path == ("spec", "context") and _is_named(patterns, key))


def find_sensitive_values(patterns: Sequence[str], body: Plain, path: LeafPath = ()) -> Iterator[str]:
    """Yield every sensitive text of a body."""
    if is_sensitive(patterns, path):
        yield str(body)
    elif isinstance(body, dict | list):
        may_hide = path[-1:] in _HIDING
        for key, item in body.items() if isinstance(body, dict) else enumerate(body):
            if may_hide or isinstance(item, (dict, list)):
                yield from find_sensitive_values(patterns, item, (*path, key))


def blank_sensitive_values(patterns: Sequence[str], body: Plain) -> Plain:
    """Return a body in which every sensitive value is the same mark, so that no digest of it tells of any."""
    return _replaced(patterns, body, (), lambda _at, _value: MARK)


def _is_named(patterns: Sequence[str], key: str) -> bool:
    return any(fnmatchcase(key.lower(), pattern.lower()) for pattern in patterns)


def _replaced(
    patterns: Sequence[str], body: Plain, path: LeafPath, replace: Callable[[LeafPath, Plain], Plain]
) -> Plain:
    if path and is_sensitive(patterns, path):
        return replace(path, body)
    if isinstance(body, dict):
        # Of the many leaves of an object only a few stand where something sensitive can.
        may_hide = path[-1:] in _HIDING
        return {
            key: _replaced(patterns, item, (*path, key), replace)
            if may_hide or isinstance(item, (dict, list))
            else item
            for key, item in body.items()
        }
    if isinstance(body, list):
        return [
            _replaced(patterns, item, (*path, index), replace) if isinstance(item, (dict, list)) else item
            for index, item in enumerate(body)
        ]
    return body


@lru_cache(maxsize=4096)  # most keys of all objects are the same few
def is_secret_name(key: str) -> bool:
    """Return whether a key looks like that of a secret."""
    return _SECRETS.search(key) is not None


def is_sealed(body: Plain) -> bool:
    """Return whether anything in a plan's body stands as a digest."""
    if isinstance(body, dict):
        return MARK in body or any(map(is_sealed, body.values()))
    return isinstance(body, list) and any(map(is_sealed, body))


def show_sealed(body: Plain) -> Plain:
    """Return a body of a plan file as people see it: a text in place of each digest."""
    if isinstance(body, dict):
        if _is_digest(body):
            return _text_for(str(body[MARK]))
        return {key: show_sealed(item) for key, item in body.items()}
    return [show_sealed(item) for item in body] if isinstance(body, list) else body


def find_unsealed_paths(body: Plain, path: LeafPath = ()) -> Iterator[LeafPath]:
    """Yield the path of each value of a plan's body that should be a digest and is none.

    Those are values that are sensitive in every blueprint, and texts that only look like a hidden value.
    """
    if _is_digest(body):
        return
    if (path and _ALWAYS.is_sensitive(path)) or (isinstance(body, str) and _TEXT.fullmatch(body)):
        yield path
    elif isinstance(body, dict | list):
        for key, item in body.items() if isinstance(body, dict) else enumerate(body):
            yield from find_unsealed_paths(item, (*path, key))


def find_hidden_paths(shown: Plain, path: LeafPath = ()) -> Iterator[LeafPath]:
    """Yield the path of each hidden value in a body as people see it."""
    if isinstance(shown, str):
        if _TEXT.fullmatch(shown):
            yield path
    elif isinstance(shown, dict | list):
        for key, item in shown.items() if isinstance(shown, dict) else enumerate(shown):
            yield from find_hidden_paths(item, (*path, key))


def _text_for(digest: str) -> str:
    return f"(sensitive, {digest[:15]})"


def _is_digest(value: Plain) -> bool:
    if not isinstance(value, dict) or value.keys() != {MARK}:
        return False
    digest = value[MARK]
    return isinstance(digest, str) and _DIGEST.fullmatch(digest) is not None


_ALWAYS: Final = Masker((), "", b"")
"""What is sensitive whatever the blueprint says."""
