"""How a blueprint's objects are in a cluster, for programs.

    cluster:    {context, server, uid}
    blueprint:  its name
    inventory:  {namespace, name, uid, serial, pending}; null where it can't be read
    objects, left, others:
                [{kind, name, exists, ready, reason, events, blueprint, pool}]
    notes:      [text]

The `events` of an object are its newest warnings, [{reason, message, count, last}]; they are asked for where
an object of the blueprint is not Ready.

A `pool`, null for other kinds and for what does not exist, is

    nodeClass:  name
    nodeClaims: {total, launched, registered, initialized, ready, drifted, outdated, leaving}
    machines:   [{instanceType, capacityType, zone, number}]
    resources:  [{name, used, limit}]; quantities as the server writes them
    notes:      [text]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from gpupool.rollout.watch.status import ObjectStatus, PoolStatus, Status

Json: TypeAlias = "str | int | bool | dict[str, Json] | list[Json] | None"


def plain(status: Status) -> dict[str, Json]:
    """Return the whole as values of JSON."""
    listed = status.inventory
    return {
        "cluster": {"context": status.context, "server": status.server, "uid": status.uid},
        "blueprint": status.blueprint,
        "inventory": None
        if listed is None
        else {
            "namespace": listed.place.namespace,
            "name": listed.place.name,
            "uid": listed.uid or None,
            "serial": listed.serial,
            "pending": status.is_pending,
        },
        "objects": [_thing(each) for each in status.objects],
        "left": [_thing(each) for each in status.left],
        "others": [_thing(each) for each in status.others],
        "notes": list(status.notes),
    }


def _thing(thing: ObjectStatus) -> Json:
    return {
        "kind": thing.kind,
        "name": thing.name,
        "exists": thing.exists,
        "ready": thing.readiness.is_ready,
        "reason": thing.readiness.reason,
        "events": [
            {"reason": each.reason, "message": each.message, "count": each.times, "last": each.last or None}
            for each in thing.events
        ],
        "blueprint": thing.owner or None,
        "pool": _pool(thing.pool) if thing.pool else None,
    }


def _pool(pool: PoolStatus) -> Json:
    nodes = pool.nodes
    counts: dict[str, Json] = {"total": nodes.total}
    counts |= {stage.lower(): number for stage, number in nodes.stages.items()}
    counts |= {"drifted": nodes.drifted, "outdated": nodes.outdated, "leaving": nodes.deleting}
    return {
        "nodeClass": pool.node_class,
        "nodeClaims": counts,
        "machines": [
            {
                "instanceType": machine.instance_type,
                "capacityType": machine.capacity_type,
                "zone": machine.zone,
                "number": number,
            }
            for machine, number in nodes.instances
        ],
        "resources": [
            {"name": each.resource, "used": each.used, "limit": each.limit or None} for each in pool.use
        ],
        "notes": list(pool.notes),
    }
