"""What an apply would make of an object, worked out here: for users who may read and not even try."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpupool.planning import ownership
from gpupool.yamlio.located import plain_map

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpupool.yamlio.located import Plain


def emulate_apply(live: Mapping[str, Plain], body: Mapping[str, Plain]) -> dict[str, Plain]:
    """Return the object as it would be, as far as that can be said without the server.

    Left out are what the server fills in, and what it would refuse.
    """
    own = ownership.find_applied_entry(live)
    if own is None:
        return _over(live, body, ())
    others = [each.fields for each in ownership.parse_entries(live) if each != own]
    return _over(_without(live, own.fields, body, others), body, ())


def _without(
    live: Mapping[str, Plain],
    fields: Mapping[str, Plain],
    body: Mapping[str, Plain],
    others: Sequence[Mapping[str, Plain]],
) -> dict[str, Plain]:
    """Return an object without what gpupool alone applied once and the new body does not say."""
    kept = {}
    for key, value in live.items():
        name = f"f:{key}"
        own, theirs = fields.get(name), [plain_map(each[name]) for each in others if name in each]
        inside = isinstance(value, dict) and isinstance(own, dict) and own
        if own is None or (key in body and not (inside and isinstance(body[key], dict))):
            kept[key] = value
        elif inside:
            left = _without(plain_map(value), plain_map(own), plain_map(body.get(key)), theirs)
            if left or key in body or theirs:
                kept[key] = left
        elif theirs:
            kept[key] = value
    return kept


def _over(below: Mapping[str, Plain], above: Mapping[str, Plain], path: tuple[str, ...]) -> dict[str, Plain]:
    found = dict(below)
    for key, value in above.items():
        there, at = found.get(key), (*path, key)
        both = isinstance(value, dict) and isinstance(there, dict) and at != ownership.WHOLE
        found[key] = _over(plain_map(there), plain_map(value), at) if both else value
    return found
