"""Emulated server-side apply, for users who may read objects but not run a dry run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpupool.planning import ownership
from gpupool.yamlio.located import plain_map

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpupool.yamlio.located import Plain


def emulate_apply(live: Mapping[str, Plain], body: Mapping[str, Plain]) -> dict[str, Plain]:
    """Return the object that an apply would store, as far as that is known without the server.

    Defaults, and rejections by the server, are not emulated.
    """
    own = ownership.find_applied_entry(live)
    if own is None:
        return _merge(live, body, ())
    others = [entry.fields for entry in ownership.parse_entries(live) if entry != own]
    return _merge(_remove_dropped(live, own.fields, body, others), body, ())


def _remove_dropped(
    live: Mapping[str, Plain],
    fields: Mapping[str, Plain],
    body: Mapping[str, Plain],
    others: Sequence[Mapping[str, Plain]],
) -> dict[str, Plain]:
    """Return an object without the fields that only gpupool applied and the new body does not set."""
    kept = {}
    for key, value in live.items():
        name = f"f:{key}"
        own, theirs = fields.get(name), [plain_map(other[name]) for other in others if name in other]
        is_owned_map = isinstance(value, dict) and isinstance(own, dict) and own
        if own is None or (key in body and not (is_owned_map and isinstance(body[key], dict))):
            kept[key] = value
        elif is_owned_map:
            left = _remove_dropped(plain_map(value), plain_map(own), plain_map(body.get(key)), theirs)
            if left or key in body or theirs:
                kept[key] = left
        elif theirs:
            kept[key] = value
    return kept


def _merge(below: Mapping[str, Plain], above: Mapping[str, Plain], path: tuple[str, ...]) -> dict[str, Plain]:
    merged = dict(below)
    for key, value in above.items():
        old, at = merged.get(key), (*path, key)
        can_merge = isinstance(value, dict) and isinstance(old, dict) and at != ownership.ATOMIC_MAP
        merged[key] = _merge(plain_map(old), plain_map(value), at) if can_merge else value
    return merged
