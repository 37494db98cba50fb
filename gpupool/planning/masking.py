"""Masking of sensitive values: digests in plan files, `(sensitive …)` in output.

Digests are keyed with a secret that stays in the cluster, so that a value can't be guessed from a plan alone.
They cover the cluster and the path too, so that equal secrets have different digests.
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
_KEY_VALUE_MAPS: Final = frozenset({"tags", "annotations", "labels"})
_SENSITIVE_PARENTS: Final = frozenset({("spec",), *((key,) for key in _KEY_VALUE_MAPS)})
"""The last key of the paths of maps that can hold a sensitive value."""

_SECRETS = re.compile(
    r"secret|token|passw(or)?d|pwd|credential|(api|private|access)[-_.]?key|conn(ection)?[-_.]?str(ing)?"
    r"|auth(?!or(?!i[sz]))",
    re.IGNORECASE,
)
"""`auth` is part of authorization and OAuth, and not of author or authority."""

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_MASK = re.compile(r"\(sensitive, sha256:[0-9a-f]{8}\)")
"""The text in place of a sensitive value in output."""


@dataclass(frozen=True, slots=True)
class Masker:
    """The rules and the key that mask the objects of one blueprint in one cluster."""

    patterns: tuple[str, ...]
    """The blueprint's `sensitive`."""

    cluster: str
    """The cluster's uid."""

    key: bytes
    """The key of the digests; with it, values can be guessed from them."""

    @property
    def key_digest(self) -> str:
        """Return a digest that identifies the key and reveals nothing of it."""
        return hashlib.sha256(b"gpupool's key: " + self.key).hexdigest()[:16]

    def is_sensitive(self, path: LeafPath) -> bool:
        """Return whether the value at a path of an object is sensitive."""
        return is_sensitive(self.patterns, path)

    def calculate_digest(self, address: str, path: LeafPath, value: Plain) -> str:
        """Calculate the digest that replaces a value in a plan."""
        # Without indexes: an item that moved within a list is still the same, as in `compare`.
        keys: list[Plain] = [key for key in path if isinstance(key, str)]
        return f"sha256:{self._calculate_keyed_digest([self.cluster, address, keys, value])}"

    def calculate_file_digest(self, name: str, digest: str) -> str:
        """Calculate the keyed digest that replaces the plain one of a file with sensitive values."""
        return self._calculate_keyed_digest(["file", self.cluster, name, digest])

    def mask(self, address: str, body: Plain, path: LeafPath = ()) -> Plain:
        """Return a body with the text `(sensitive, DIGEST)` in place of every sensitive value."""
        return _replace_sensitive(
            self.patterns,
            body,
            path,
            lambda at, value: f"(sensitive, {self.calculate_digest(address, at, value)[:15]})",
        )

    def seal(self, address: str, body: Plain) -> Plain:
        """Return a body with `{"$sensitive": DIGEST}` in place of every sensitive value."""
        return _replace_sensitive(
            self.patterns, body, (), lambda at, value: {MARK: self.calculate_digest(address, at, value)}
        )

    def find_values(self, body: Plain, path: LeafPath = ()) -> Iterator[str]:
        """Yield every sensitive value of a body as text."""
        return find_sensitive_values(self.patterns, body, path)

    def has_sensitive(self, body: Plain, path: LeafPath = ()) -> bool:
        """Return whether a body has a sensitive value."""
        return any(True for _ in self.find_values(body, path))

    def _calculate_keyed_digest(self, value: Plain) -> str:
        return hmac.digest(self.key, json.dumps(value, sort_keys=True).encode(), "sha256").hex()


def is_sensitive(patterns: Sequence[str], path: LeafPath) -> bool:
    """Return whether the value at a path of an object is sensitive."""
    if len(path) < 2:  # noqa: PLR2004 - a sensitive value has a key in a map
        return False
    above, key = path[-2], str(path[-1])
    if above in _KEY_VALUE_MAPS:
        return is_secret_name(key) or _is_named(patterns, key)
    return path == ("spec", "userData") or (path == ("spec", "context") and _is_named(patterns, key))


def find_sensitive_values(patterns: Sequence[str], body: Plain, path: LeafPath = ()) -> Iterator[str]:
    """Yield every sensitive value of a body as text."""
    if is_sensitive(patterns, path):
        yield str(body)
    elif isinstance(body, dict | list):
        can_hold_sensitive = path[-1:] in _SENSITIVE_PARENTS
        for key, item in body.items() if isinstance(body, dict) else enumerate(body):
            if can_hold_sensitive or isinstance(item, (dict, list)):
                yield from find_sensitive_values(patterns, item, (*path, key))


def blank_sensitive_values(patterns: Sequence[str], body: Plain) -> Plain:
    """Return a body with the same mark in place of every sensitive value, so that its digest reveals none."""
    return _replace_sensitive(patterns, body, (), lambda _at, _value: MARK)


def _is_named(patterns: Sequence[str], key: str) -> bool:
    return any(fnmatchcase(key.lower(), pattern.lower()) for pattern in patterns)


def _replace_sensitive(
    patterns: Sequence[str], body: Plain, path: LeafPath, replace: Callable[[LeafPath, Plain], Plain]
) -> Plain:
    if path and is_sensitive(patterns, path):
        return replace(path, body)
    if isinstance(body, dict):
        # Only a few of the many leaves of an object are where a sensitive value can be.
        can_hold_sensitive = path[-1:] in _SENSITIVE_PARENTS
        return {
            key: _replace_sensitive(patterns, item, (*path, key), replace)
            if can_hold_sensitive or isinstance(item, (dict, list))
            else item
            for key, item in body.items()
        }
    if isinstance(body, list):
        return [
            _replace_sensitive(patterns, item, (*path, index), replace)
            if isinstance(item, (dict, list))
            else item
            for index, item in enumerate(body)
        ]
    return body


@lru_cache(maxsize=4096)  # most keys of all objects are the same few
def is_secret_name(key: str) -> bool:
    """Return whether a key looks like the name of a secret."""
    return _SECRETS.search(key) is not None


def is_sealed(body: Plain) -> bool:
    """Return whether a body of a plan file has a digest in place of a value."""
    if isinstance(body, dict):
        return MARK in body or any(map(is_sealed, body.values()))
    return isinstance(body, list) and any(map(is_sealed, body))


def show_sealed(body: Plain) -> Plain:
    """Return a body of a plan file as in output: a text in place of each digest."""
    if isinstance(body, dict):
        if _is_digest(body):
            return _mask_text(str(body[MARK]))
        return {key: show_sealed(item) for key, item in body.items()}
    return [show_sealed(item) for item in body] if isinstance(body, list) else body


def find_unsealed_paths(body: Plain, path: LeafPath = ()) -> Iterator[LeafPath]:
    """Yield the path of each value of a plan's body that should be a digest but is not.

    These are values that are sensitive in every blueprint, and texts that only look like a masked value.
    """
    if _is_digest(body):
        return
    if (path and _DEFAULT_MASKER.is_sensitive(path)) or (isinstance(body, str) and _MASK.fullmatch(body)):
        yield path
    elif isinstance(body, dict | list):
        for key, item in body.items() if isinstance(body, dict) else enumerate(body):
            yield from find_unsealed_paths(item, (*path, key))


def find_hidden_paths(body: Plain, path: LeafPath = ()) -> Iterator[LeafPath]:
    """Yield the path of each masked value in a body as in output."""
    if isinstance(body, str):
        if _MASK.fullmatch(body):
            yield path
    elif isinstance(body, dict | list):
        for key, item in body.items() if isinstance(body, dict) else enumerate(body):
            yield from find_hidden_paths(item, (*path, key))


def _mask_text(digest: str) -> str:
    return f"(sensitive, {digest[:15]})"


def _is_digest(value: Plain) -> bool:
    if not isinstance(value, dict) or value.keys() != {MARK}:
        return False
    digest = value[MARK]
    return isinstance(digest, str) and _DIGEST.fullmatch(digest) is not None


_DEFAULT_MASKER: Final = Masker((), "", b"")
"""Masks what is sensitive in every blueprint."""
