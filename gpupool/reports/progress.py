"""What is told while objects are waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.reports.escaping import one_line

if TYPE_CHECKING:
    from gpupool.rollout.waiting import Progress

_ADDRESS_WIDTH: Final = 40


def line(progress: Progress) -> str:
    """Give one line for a log: what is new, or that nothing is."""
    address, readiness = f"{progress.kind}/{progress.name}", progress.readiness
    if readiness.is_ready:
        return f"{address}: {one_line(readiness.reason) or 'Ready'}"
    if readiness.is_hopeless:
        return f"{address}: not waited for: {one_line(readiness.reason)}"
    if progress.is_news:
        return f"{address}: {one_line(readiness.reason)}"
    return f"still waiting for {address} after {progress.seconds:.0f} s: {one_line(readiness.reason)}"


def live_line(progress: Progress, width: int) -> str:
    """Give one line of a terminal, which stands for an object as long as it is waited for."""
    readiness = progress.readiness
    state = "Ready" if readiness.is_ready else "-" if readiness.is_hopeless else "waiting"
    address = f"{progress.kind}/{progress.name}".ljust(_ADDRESS_WIDTH)
    said = f"{state:<8}{address}  {one_line(readiness.reason)}".rstrip()
    return said if len(said) <= width else said[: max(0, width - 1)] + "…"
