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
    from collections.abc import Iterator, Sequence

    from gpupool.planning.compare import Path
    from gpupool.yamlio.nodes import Plain

MARK: Final = "$sensitive"
_KEYED: Final = frozenset({"tags", "annotations"})
_HIDING: Final = frozenset({("spec",), *((key,) for key in _KEYED)})
"""The last step to a map in which something sensitive can stand."""

_SECRETS = re.compile(
    r"secret|token|passw(or)?d|credential|api[-_.]?key|private[-_.]?key|access[-_.]?key", re.IGNORECASE
)
_SHORTEST: Final = 4
"""Shorter texts stand everywhere by chance; to cut them out of a message would hide all of it."""


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
        if path[:1] == ("spec",) and key == "userData":
            return True
        if key == "context" and path == ("spec", "context"):
            return self._is_named(key)
        above = path[-2] if len(path) > 1 else ""
        return above in _KEYED and (self._is_named(key) or looks_secret(key))

    def digest(self, address: str, path: Path, value: Plain) -> str:
        """Give the digest that stands for a value in a plan."""
        said = json.dumps([self.salt, address, [*map(str, path)], value], sort_keys=True)
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
        elif isinstance(body, dict):
            for key, item in body.items():
                yield from self.values(item, (*path, key))

    def _is_named(self, key: str) -> bool:
        return any(fnmatchcase(key.lower(), pattern.lower()) for pattern in self.patterns)

    def _replaced(self, address: str, body: Plain, path: Path, *, for_people: bool) -> Plain:
        if path and self.is_sensitive(path):
            digest = self.digest(address, path, body)
            return f"(sensitive, {digest[:15]})" if for_people else {MARK: digest}
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


def without(message: str, secrets: Sequence[str]) -> str:
    """Give a message of the API server, which quotes what it refuses, without sensitive values."""
    for secret in sorted(secrets, key=len, reverse=True):
        quoted = json.dumps(secret)[1:-1]
        for form in (secret, quoted, json.dumps(quoted)[1:-1]):
            if len(secret) >= _SHORTEST:
                message = message.replace(form, "(sensitive)")
    return message


def is_sealed(body: Plain) -> bool:
    """Say whether anything in a plan's body stands as a digest."""
    if isinstance(body, dict):
        return MARK in body or any(map(is_sealed, body.values()))
    return isinstance(body, list) and any(map(is_sealed, body))
