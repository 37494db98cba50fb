"""Progress lines while an apply waits for objects to be Ready."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpupool.reports.escaping import one_line

if TYPE_CHECKING:
    from gpupool.rollout.watch.waiting import Progress


def format_address(progress: Progress) -> str:
    """Return `KIND/NAME`."""
    return f"{progress.kind}/{progress.name}"


def format_line(progress: Progress) -> str:
    """Return one line for a log: the new state, or how long the wait has lasted."""
    name, readiness = format_address(progress), progress.readiness
    if readiness.is_ready:
        return f"{name}: {one_line(readiness.reason) or 'Ready'}"
    if readiness.is_hopeless:
        return f"{name}: not waited for: {one_line(readiness.reason)}"
    if progress.is_news:
        return f"{name}: {one_line(readiness.reason)}"
    return f"still waiting for {name} after {progress.seconds:.0f} s: {one_line(readiness.reason)}"
