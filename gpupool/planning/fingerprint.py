"""Fingerprints of live objects: digests that show whether an object changed after the plan was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpupool.objects import digest
from gpupool.planning.compare import cut_at_list
from gpupool.yamlio.located import plain_map

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpupool.planning.compare import LeafPath
    from gpupool.yamlio.located import Plain


def calculate_fingerprint(body: Plain, paths: Iterable[tuple[str, ...]]) -> str:
    """Calculate a digest of a stripped object's labels and annotations and of the values at `paths`."""
    metadata = plain_map(plain_map(body).get("metadata"))
    return digest(
        [
            metadata.get("labels"),
            metadata.get("annotations"),
            *([*path, _at(body, path)] for path in paths),
        ]
    )


def collect_planned_paths(paths: Iterable[LeafPath]) -> tuple[tuple[str, ...], ...]:
    """Collect the paths that a fingerprint covers.

    A path through a list is cut to the list: the index of an item changes when another is added or removed.
    """
    return tuple(sorted({cut_at_list(path) for path in paths}))


def _at(body: Plain, path: tuple[str, ...]) -> Plain:
    for key in path:
        body = plain_map(body).get(key)
    return body
