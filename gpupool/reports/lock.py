"""Who holds a lock, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.reports.escaping import one_line
from gpupool.reports.tables import aligned
from gpupool.rollout.lock.lock_owner import read_holder

if TYPE_CHECKING:
    from gpupool.cluster.lease import Lease

_A_MINUTE: Final = 60


def nobody(namespace: str, name: str) -> str:
    """Say that a lock is free."""
    return f"the lock {namespace}/{name} is free\n"


def held(found: Lease) -> str:
    """Say who holds a lock, since when, and whether that run seems to live."""
    holder = read_holder(found.holder)
    rows = [
        ("lock", found.title),
        ("holder", holder.who + (f", process {holder.process}" if holder.process else "")),
        ("id", holder.id),
        ("run", holder.run),
        ("since", found.acquired),
        ("renewed", _renewed(found)),
    ]
    return "".join(f"{line}\n" for line in aligned([(key, one_line(said)) for key, said in rows if said]))


def deleted(found: Lease) -> str:
    """Say whose lock was deleted, and what it means where that run may be alive."""
    holder = read_holder(found.holder)
    said = f"deleted the lock {found.title} of {one_line(holder.who)} ({one_line(holder.id)})\n"
    if is_alive(found):
        said += f"it was renewed {_ago(found)}: if that run is alive, it ends before its next write\n"
    return said


def is_alive(found: Lease) -> bool:
    """Return whether it was renewed lately, as far as the two clocks agree."""
    age = found.age
    return age is not None and age < found.seconds


def _renewed(found: Lease) -> str:
    if not found.renewed:
        return ""
    state = f"it holds for {found.seconds} s" if is_alive(found) else "which is too long: that run seems dead"
    return f"{found.renewed}, {_ago(found)}; {state}"


def _ago(found: Lease) -> str:
    seconds = round(max(0.0, found.age or 0.0))
    if seconds < 2 * _A_MINUTE:
        return f"{seconds} s ago"
    minutes = seconds // _A_MINUTE
    return f"{minutes} min ago" if minutes < 2 * _A_MINUTE else f"{minutes // _A_MINUTE} h ago"
