"""Report of `gpupool status` as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpupool.reports.escaping import one_line
from gpupool.reports.lock import is_alive
from gpupool.reports.tables import align_rows
from gpupool.rollout.lock.lock import describe_holder
from gpupool.rollout.watch.nodeclaims import STAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.rollout.watch.nodeclaims import LaunchedInstance
    from gpupool.rollout.watch.status import NodeCounts, ObjectStatus, PoolStatus, ResourceUse, Status

_INDENT = "  "
_OWNER, _CLAIMS = 1, 3
_LESS_IMPORTANT = (_CLAIMS, _OWNER)
"""Columns of the other NodePools that a narrow terminal leaves out, the first one first."""


def render_text(status: Status, width: int | None = None) -> str:
    """Return the cluster, each object with its nodes, and the other NodePools."""
    return "".join(f"{one_line(line)}\n" for line in _lines(status, width))


def _lines(status: Status, width: int | None) -> Iterator[str]:
    yield f"{status.blueprint} on {status.context} ({status.server}, uid {status.uid})"
    yield from _applied(status)
    yield from (f"note: {note}" for note in status.notes)
    yield ""
    for entry in status.objects:
        yield from _object(entry, status.blueprint)
    if status.left:
        yield ""
        yield "No longer in the blueprint; `gpupool apply --prune` deletes:"
        for entry in status.left:
            yield from _object(entry, status.blueprint, _INDENT)
    if status.others:
        yield ""
        yield "Other NodePools:"
        rows = [_other(entry) for entry in status.others]
        for row in align_rows(rows, width=width, less_important=_LESS_IMPORTANT):
            yield from row.splitlines()


def _applied(status: Status) -> Iterator[str]:
    inventory = status.inventory
    if inventory is None:
        return
    if not inventory.uid:
        yield "never applied: there is no inventory; run `gpupool apply`"
        return
    yield f"inventory {'/'.join(inventory.place)}, serial {inventory.serial}"
    if status.is_pending and status.lock is not None and is_alive(status.lock):
        yield f"an apply is in progress; the lock is {describe_holder(status.lock)}"
    elif status.is_pending:
        yield "an apply was interrupted: run `gpupool apply` again"


def _object(entry: ObjectStatus, blueprint: str, indent: str = "") -> Iterator[str]:
    yield f"{indent}{entry.address}: {_state(entry)}{_owner(entry, blueprint)}"
    yield from (f"{indent}{_INDENT}event {event.text}" for event in entry.events)
    if entry.pool:
        yield from (f"{indent}{_INDENT}{line}" for line in _pool(entry.pool))


def _state(entry: ObjectStatus) -> str:
    if not entry.exists:
        return "is not in the cluster: run `gpupool apply`"
    readiness = entry.readiness
    if readiness.is_ready:
        return f"Ready{' (' * bool(readiness.reason)}{readiness.reason}{')' * bool(readiness.reason)}"
    return readiness.reason if readiness.is_hopeless else f"not Ready: {readiness.reason}"


def _owner(entry: ObjectStatus, blueprint: str) -> str:
    if not entry.exists or entry.owner == blueprint:
        return ""
    return f"; it belongs to blueprint {entry.owner}" if entry.owner else "; gpupool has not applied it"


def _pool(pool: PoolStatus) -> Iterator[str]:
    yield f"class {pool.node_class}; {_nodes(pool.nodes)}"
    if pool.nodes.instances:
        yield ", ".join(_instance(instance, number) for instance, number in pool.nodes.instances)
    if pool.use:
        yield ", ".join(map(_resource_use, pool.use))
    yield from pool.notes


def _nodes(nodes: NodeCounts) -> str:
    if not nodes.total:
        return "no NodeClaims"
    counts = [f"{nodes.stages[stage]} {stage}" for stage in STAGES]
    marks = [
        (nodes.drifted, "Drifted"),
        (nodes.outdated - nodes.drifted, "created before the last change"),
        (nodes.deleting, "being drained"),
    ]
    counts += [f"{number} {mark}" for number, mark in marks if number]
    return f"{nodes.total} NodeClaim{'s' * (nodes.total != 1)}: {', '.join(counts)}"


def _instance(instance: LaunchedInstance, number: int) -> str:
    details = ", ".join(part for part in instance[1:] if part)
    return f"{number} {instance.instance_type or 'of no type yet'}{f' ({details})' if details else ''}"


def _resource_use(use: ResourceUse) -> str:
    if not use.limit:
        return f"{use.resource} {use.used}"
    return f"{use.resource} {use.used} of {use.limit}{' (full)' * use.is_full}"


def _other(entry: ObjectStatus) -> tuple[str, ...]:
    owner = f"blueprint {entry.owner}" if entry.owner else "not gpupool's"
    nodes = _nodes(entry.pool.nodes) if entry.pool else ""
    return _INDENT + entry.name, owner, _state(entry), nodes
