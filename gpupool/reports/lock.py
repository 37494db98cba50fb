"""Holder and age of a lock as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.reports.escaping import one_line
from gpupool.reports.tables import align_rows
from gpupool.rollout.lock.lock_owner import read_holder

if TYPE_CHECKING:
    from gpupool.cluster.lease import Lease

_MINUTE: Final = 60


def render_free(namespace: str, name: str) -> str:
    """Return the text for a lock that is not held."""
    return f"the lock {namespace}/{name} is free\n"


def render_held(lease: Lease) -> str:
    """Return who holds a lock, since when, and whether that run seems to be alive."""
    holder = read_holder(lease.holder)
    rows = [
        ("lock", lease.title),
        ("holder", holder.who + (f", process {holder.process}" if holder.process else "")),
        ("id", holder.id),
        ("run", holder.run),
        ("since", lease.acquired),
        ("renewed", _format_renewal(lease)),
    ]
    return "".join(
        f"{line}\n" for line in align_rows([(key, one_line(value)) for key, value in rows if value])
    )


def render_deleted(lease: Lease) -> str:
    """Return whose lock was deleted, and what that means where the run may be alive."""
    holder = read_holder(lease.holder)
    text = f"deleted the lock {lease.title} of {one_line(holder.who)} ({one_line(holder.id)})\n"
    if is_alive(lease):
        text += f"it was renewed {_format_age(lease)}: if that run is alive, it ends before its next write\n"
    return text


def is_alive(lease: Lease) -> bool:
    """Return whether a lock was renewed lately, as far as the two clocks agree."""
    age = lease.age
    return age is not None and age < lease.seconds


def _format_renewal(lease: Lease) -> str:
    if not lease.renewed:
        return ""
    state = f"it holds for {lease.seconds} s" if is_alive(lease) else "which is too long: that run seems dead"
    return f"{lease.renewed}, {_format_age(lease)}; {state}"


def _format_age(lease: Lease) -> str:
    seconds = round(max(0.0, lease.age or 0.0))
    if seconds < 2 * _MINUTE:
        return f"{seconds} s ago"
    minutes = seconds // _MINUTE
    return f"{minutes} min ago" if minutes < 2 * _MINUTE else f"{minutes // _MINUTE} h ago"
