"""Helm releases beside what the blueprint renders, in words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from gpupool.reports.escaping import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpupool.rollout.helm_releases import ReleaseDiff


def render_releases(found: Iterable[ReleaseDiff]) -> str:
    """Return each release with what an upgrade would change."""
    return "".join(f"{one_line(line)}\n" for each in found for line in _lines(each))


def _lines(found: ReleaseDiff) -> Iterator[str]:
    head = f"Helm release {found.release} of {found.chart}"
    if found.installed is None:
        yield f"{head}: not installed, {found.desired} is wanted"
    elif not found.differs:
        yield f"{head}: {found.installed}, with the values that the blueprint renders"
    else:
        other = "" if found.installed == found.desired else f", {found.desired} is wanted"
        yield f"{head}: {found.installed}{other}{', values differ' * bool(found.values)}"
        for each in found.values:
            yield f"    {each.path}: {json.dumps(each.before)} -> {json.dumps(each.after)}"
