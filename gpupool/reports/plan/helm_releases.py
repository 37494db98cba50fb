"""Differences between installed Helm releases and the blueprint as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from gpupool.reports.escaping import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpupool.rollout.helm_releases import ReleaseDiff


def render_releases(releases: Iterable[ReleaseDiff]) -> str:
    """Return each release with the values that an upgrade would change."""
    return "".join(f"{one_line(line)}\n" for release in releases for line in _lines(release))


def _lines(release: ReleaseDiff) -> Iterator[str]:
    head = f"Helm release {release.release} of {release.chart}"
    if release.installed is None:
        yield f"{head}: not installed, {release.desired} is wanted"
    elif not release.differs:
        yield f"{head}: {release.installed}, with the values that the blueprint renders"
    else:
        upgrade = "" if release.installed == release.desired else f", {release.desired} is wanted"
        yield f"{head}: {release.installed}{upgrade}{', values differ' * bool(release.values)}"
        for change in release.values:
            yield f"    {change.path}: {json.dumps(change.before)} -> {json.dumps(change.after)}"
