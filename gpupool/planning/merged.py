"""What an apply would make of an object, worked out here: for users who may read and not even try."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpupool.planning import ownership
from gpupool.yamlio.nodes import plain_map

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpupool.yamlio.nodes import Plain


def merged(live: Mapping[str, Plain], body: Mapping[str, Plain]) -> dict[str, Plain]:
    """Give the object as it would be, as far as that can be said without the server.

    Left out are what the server fills in, and what it would refuse.
    """
    own = ownership.applied(live)
    kept = dict(live) if own is None else _without(dict(live), own.fields, dict(body))
    return _over(kept, body)


def _without(
    live: dict[str, Plain], fields: Mapping[str, Plain], body: Mapping[str, Plain]
) -> dict[str, Plain]:
    """Give an object without what gpupool once applied and the new body does not say."""
    kept = {}
    for key, value in live.items():
        owned = fields.get(f"f:{key}")
        if owned is None or key == "metadata":
            kept[key] = value
        elif key in body:
            said, below = body[key], plain_map(owned)
            deeper = isinstance(value, dict) and isinstance(said, dict) and set(below) - {"."}
            kept[key] = _without(value, below, said) if deeper else value  # type: ignore[arg-type] # both are maps
        elif set(plain_map(owned)) - {"."} and isinstance(value, dict):
            left = _without(value, plain_map(owned), {})
            if left:
                kept[key] = left
    return kept


def _over(below: Mapping[str, Plain], above: Mapping[str, Plain]) -> dict[str, Plain]:
    found = dict(below)
    for key, value in above.items():
        there = found.get(key)
        both = isinstance(value, dict) and isinstance(there, dict)
        found[key] = _over(there, value) if both else value  # type: ignore[arg-type] # both are maps
    return found
