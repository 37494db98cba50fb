"""Report of `gpupool status` as JSON.

    cluster:    {context, server, uid}
    blueprint:  its name
    inventory:  {namespace, name, uid, serial, pending}; null where it can't be read
    objects, left, others:
                [{kind, name, exists, ready, reason, events, blueprint, pool}]
    notes:      [text]

The `events` of an object are its newest warnings, [{reason, message, count, last}]; they are read where an
object of the blueprint is not Ready.

A `pool`, null for other kinds and for what does not exist, is

    nodeClass:  name
    nodeClaims: {total, launched, registered, initialized, ready, drifted, outdated, leaving}
    machines:   [{instanceType, capacityType, zone, number}]
    resources:  [{name, used, limit}]; quantities as the server writes them
    notes:      [text]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpupool.rollout.watch.status import ObjectStatus, PoolStatus, Status
    from gpupool.yamlio.located import Plain


def to_json(status: Status) -> dict[str, Plain]:
    """Return the status as values of JSON."""
    inventory = status.inventory
    return {
        "cluster": {"context": status.context, "server": status.server, "uid": status.uid},
        "blueprint": status.blueprint,
        "inventory": None
        if inventory is None
        else {
            "namespace": inventory.place.namespace,
            "name": inventory.place.name,
            "uid": inventory.uid or None,
            "serial": inventory.serial,
            "pending": status.is_pending,
        },
        "objects": [_object(entry) for entry in status.objects],
        "left": [_object(entry) for entry in status.left],
        "others": [_object(entry) for entry in status.others],
        "notes": list(status.notes),
    }


def _object(entry: ObjectStatus) -> Plain:
    return {
        "kind": entry.kind,
        "name": entry.name,
        "exists": entry.exists,
        "ready": entry.readiness.is_ready,
        "reason": entry.readiness.reason,
        "events": [
            {
                "reason": event.reason,
                "message": event.message,
                "count": event.times,
                "last": event.last or None,
            }
            for event in entry.events
        ],
        "blueprint": entry.owner or None,
        "pool": _pool(entry.pool) if entry.pool else None,
    }


def _pool(pool: PoolStatus) -> Plain:
    nodes = pool.nodes
    counts: dict[str, Plain] = {"total": nodes.total}
    counts |= {stage.lower(): number for stage, number in nodes.stages.items()}
    counts |= {"drifted": nodes.drifted, "outdated": nodes.outdated, "leaving": nodes.deleting}
    return {
        "nodeClass": pool.node_class,
        "nodeClaims": counts,
        "machines": [
            {
                "instanceType": instance.instance_type,
                "capacityType": instance.capacity_type,
                "zone": instance.zone,
                "number": number,
            }
            for instance, number in nodes.instances
        ],
        "resources": [
            {"name": use.resource, "used": use.used, "limit": use.limit or None} for use in pool.use
        ],
        "notes": list(pool.notes),
    }
