"""What is told while objects are waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpupool.reports.escaping import one_line

if TYPE_CHECKING:
    from gpupool.rollout.watch.waiting import Progress


def address(progress: Progress) -> str:
    """Return `KIND/NAME`."""
    return f"{progress.kind}/{progress.name}"


def line(progress: Progress) -> str:
    """Return one line for a log: what is new, or that nothing is."""
    name, readiness = address(progress), progress.readiness
    if readiness.is_ready:
        return f"{name}: {one_line(readiness.reason) or 'Ready'}"
    if readiness.is_hopeless:
        return f"{name}: not waited for: {one_line(readiness.reason)}"
    if progress.is_news:
        return f"{name}: {one_line(readiness.reason)}"
    return f"still waiting for {name} after {progress.seconds:.0f} s: {one_line(readiness.reason)}"


def live_line(progress: Progress, column: int, width: int) -> str:
    """Return one line of a terminal for an object, its name in a column of a width, and not too wide itself."""
    readiness = progress.readiness
    state = (
        (readiness.reason or "Ready") if readiness.is_ready else "-" if readiness.is_hopeless else "waiting"
    )
    said = f"{state:<8}{address(progress).ljust(column)}  {one_line(readiness.reason)}".rstrip()
    return said if len(said) <= width else said[: max(0, width - 1)] + "…"
