"""How a blueprint's objects are in a cluster, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpupool.reports.escaping import one_line
from gpupool.reports.lock import is_alive
from gpupool.reports.tables import aligned
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


def text(status: Status, width: int | None = None) -> str:
    """Return which cluster it is, each object with its nodes, and the other NodePools."""
    return "".join(f"{one_line(line)}\n" for line in _lines(status, width))


def _lines(status: Status, width: int | None) -> Iterator[str]:
    yield f"{status.blueprint} on {status.context} ({status.server}, uid {status.uid})"
    yield from _applied(status)
    yield from (f"note: {each}" for each in status.notes)
    yield ""
    for each in status.objects:
        yield from _thing(each, status.blueprint)
    if status.left:
        yield ""
        yield "No longer in the blueprint; `gpupool apply --prune` deletes:"
        for each in status.left:
            yield from _thing(each, status.blueprint, _INDENT)
    if status.others:
        yield ""
        yield "Other NodePools:"
        rows = [_other(each) for each in status.others]
        for row in aligned(rows, width=width, less_important=_LESS_IMPORTANT):
            yield from row.splitlines()


def _applied(status: Status) -> Iterator[str]:
    listed = status.inventory
    if listed is None:
        return
    if not listed.uid:
        yield "never applied: there is no inventory; run `gpupool apply`"
        return
    yield f"inventory {'/'.join(listed.place)}, serial {listed.serial}"
    if status.is_pending and status.lock is not None and is_alive(status.lock):
        yield f"an apply is in progress; the lock is {describe_holder(status.lock)}"
    elif status.is_pending:
        yield "an apply was interrupted: run `gpupool apply` again"


def _thing(thing: ObjectStatus, blueprint: str, indent: str = "") -> Iterator[str]:
    yield f"{indent}{thing.address}: {_state(thing)}{_whose(thing, blueprint)}"
    yield from (f"{indent}{_INDENT}event {event.text}" for event in thing.events)
    if thing.pool:
        yield from (f"{indent}{_INDENT}{line}" for line in _pool(thing.pool))


def _state(thing: ObjectStatus) -> str:
    if not thing.exists:
        return "is not in the cluster: run `gpupool apply`"
    said = thing.readiness
    if said.is_ready:
        return f"Ready{' (' * bool(said.reason)}{said.reason}{')' * bool(said.reason)}"
    return said.reason if said.is_hopeless else f"not Ready: {said.reason}"


def _whose(thing: ObjectStatus, blueprint: str) -> str:
    if not thing.exists or thing.owner == blueprint:
        return ""
    return f"; it belongs to blueprint {thing.owner}" if thing.owner else "; gpupool has not applied it"


def _pool(pool: PoolStatus) -> Iterator[str]:
    yield f"class {pool.node_class}; {_nodes(pool.nodes)}"
    if pool.nodes.instances:
        yield ", ".join(_instance(*each) for each in pool.nodes.instances)
    if pool.use:
        yield ", ".join(map(_used, pool.use))
    yield from pool.notes


def _nodes(nodes: NodeCounts) -> str:
    if not nodes.total:
        return "no NodeClaims"
    said = [f"{nodes.stages[stage]} {stage}" for stage in STAGES]
    marks = [
        (nodes.drifted, "Drifted"),
        (nodes.outdated - nodes.drifted, "created before the last change"),
        (nodes.deleting, "being drained"),
    ]
    said += [f"{number} {word}" for number, word in marks if number]
    return f"{nodes.total} NodeClaim{'s' * (nodes.total != 1)}: {', '.join(said)}"


def _instance(instance: LaunchedInstance, number: int) -> str:
    where = ", ".join(part for part in instance[1:] if part)
    return f"{number} {instance.instance_type or 'of no type yet'}{f' ({where})' if where else ''}"


def _used(use: ResourceUse) -> str:
    if not use.limit:
        return f"{use.resource} {use.used}"
    return f"{use.resource} {use.used} of {use.limit}{' (full)' * use.is_full}"


def _other(thing: ObjectStatus) -> tuple[str, ...]:
    owner = f"blueprint {thing.owner}" if thing.owner else "not gpupool's"
    nodes = _nodes(thing.pool.nodes) if thing.pool else ""
    return _INDENT + thing.name, owner, _state(thing), nodes
