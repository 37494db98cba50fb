"""Addresses of servers and proxies without the credentials that may be in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_HIDDEN: Final = "(hidden)"
_SHORTEST: Final = 4
"""A shorter password appears in a message by chance."""

_ANY: Final = re.compile(r"(?<=://)[^\s/@]+@")


def without_credentials(address: str) -> str:
    """Return an address without user, password, query and fragment, as it may be shown and compared."""
    scheme, separator, rest = address.rpartition("://")
    return f"{scheme}{separator}{re.split('[?#]', rest.rpartition('@')[2])[0]}"


def hide_credentials(text: str, addresses: Iterable[str | None]) -> str:
    """Return a text in which no credentials of these addresses appear, nor those of any other address."""
    secrets = {secret for address in addresses if address for secret in _credentials(address)}
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, _HIDDEN)
    return _ANY.sub("", text)


def _credentials(address: str) -> Iterator[str]:
    """Yield user and password of an address, and the password alone, as written and unquoted.

    A password may hold a character that ends a host's name; a message may quote the text before or after it.
    """
    user, at, _ = address.rpartition("://")[2].rpartition("@")
    password = user.partition(":")[2]
    for secret in (user, password, unquote(password), *re.split("[/?#@:]", password)) if at else ():
        if len(secret) >= _SHORTEST:
            yield secret
