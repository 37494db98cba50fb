"""Status of a blueprint's objects in a cluster, and of their NodeClaims."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from gpupool.cluster.listing import list_if_served
from gpupool.cluster.parallel import map_parallel
from gpupool.cluster.resources import EC2_NODE_CLASS, KINDS, NODE_CLAIM, NODE_OVERLAY, NODE_POOL
from gpupool.errors import ClusterError
from gpupool.karpenter.quantities import parse_amount
from gpupool.objects import Ref, is_pool, labels_of
from gpupool.planning.foreign_fields import PART_OF
from gpupool.planning.masking import Masker
from gpupool.planning.pruning import read_node_class
from gpupool.rollout.inventory import store
from gpupool.rollout.live_state import by_ref, name_of, uid_of
from gpupool.rollout.lock.unlock import find_lock
from gpupool.rollout.redaction import collect_secrets
from gpupool.rollout.watch.events import SECONDS, read_warnings
from gpupool.rollout.watch.nodeclaims import STAGES, explain_outdated, group_by_pool, wait_rolled
from gpupool.rollout.watch.waiting import (
    GONE,
    INFORMATIONAL,
    READY,
    Readiness,
    read_conditions,
    read_readiness,
    wait_ready,
)
from gpupool.scheduling.types.capacity import DEVICES
from gpupool.yamlio.located import plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Literal

    from gpupool.cluster.lease import Lease
    from gpupool.rollout.connection import ReachedCluster
    from gpupool.rollout.desired_state import DesiredState
    from gpupool.rollout.inventory.store import Inventory
    from gpupool.rollout.watch.events import WarningEvent
    from gpupool.rollout.watch.nodeclaims import LaunchedInstance, NodeClaim
    from gpupool.rollout.watch.waiting import Progress
    from gpupool.yamlio.located import Plain


class ResourceUse(NamedTuple):
    """The amount of a resource that a pool's nodes have, and its limit; as the server writes them."""

    resource: str
    used: str
    limit: str
    """The limit; empty without one."""

    @property
    def is_full(self) -> bool:
        """Return whether the limit is reached."""
        try:
            return bool(self.limit) and parse_amount(self.used) >= parse_amount(self.limit)
        except ValueError:
            return False


class NodeCounts(NamedTuple):
    """The NodeClaims of a pool."""

    total: int
    stages: Mapping[str, int]
    """The numbers of Launched, Registered, Initialized and Ready NodeClaims."""

    drifted: int
    outdated: int
    """The number of NodeClaims that Karpenter will replace, including the drifted ones."""

    deleting: int
    instances: tuple[tuple[LaunchedInstance, int], ...]
    """The number of each type, the largest first."""


class PoolStatus(NamedTuple):
    """The status of a NodePool beyond that of other objects."""

    node_class: str
    nodes: NodeCounts
    use: tuple[ResourceUse, ...]
    notes: tuple[str, ...]
    """False conditions that Ready does not depend on."""


class ObjectStatus(NamedTuple):
    """The status of one object."""

    kind: str
    name: str
    readiness: Readiness
    owner: str
    """The blueprint that applied it; empty without one."""

    pool: PoolStatus | None
    """None for another kind, or where it does not exist."""

    events: tuple[WarningEvent, ...] = ()
    """Warnings about an object that is not Ready; the newest first."""

    @property
    def ref(self) -> Ref:
        """Return the kind and the name."""
        return Ref(self.kind, self.name)

    @property
    def address(self) -> str:
        """Return `KIND/NAME`."""
        return str(self.ref)

    @property
    def exists(self) -> bool:
        """Return whether it is in the cluster."""
        return self.readiness is not GONE


class Status(NamedTuple):
    """The status of a blueprint in a cluster."""

    context: str
    server: str
    uid: str
    blueprint: str
    inventory: Inventory | None
    """None where it can't be read."""

    objects: tuple[ObjectStatus, ...]
    """The blueprint's objects."""

    left: tuple[ObjectStatus, ...]
    """Live objects that the blueprint had and no longer has."""

    others: tuple[ObjectStatus, ...]
    """NodePools of others."""

    notes: tuple[str, ...]
    lock: Lease | None = None
    """The lock, which is read only where an apply is in progress or was interrupted."""

    @property
    def is_pending(self) -> bool:
        """Return whether an apply is in progress or was interrupted."""
        listed = self.inventory
        return listed is not None and bool(listed.pending or listed.pending_plan)


class _LiveObjects(NamedTuple):
    """The live objects at one moment."""

    live: Mapping[Ref, Mapping[str, Plain]]
    claims: Mapping[str, list[NodeClaim]]
    missing: tuple[str, ...]
    """Kinds that the server does not serve."""


def read_status(reached: ReachedCluster, desired: DesiredState) -> Status:
    """Read the status of a blueprint's objects.

    Raises:
        ClusterError: where the server rejects a request, or does not answer.
    """
    observed = _read_live(reached)
    place = store.InventoryRef(desired.namespace, desired.inventory)
    notes = [
        f"the API server does not serve {kind}; Karpenter's CRDs may be missing" for kind in observed.missing
    ]
    inventory: Inventory | None = None
    try:
        inventory = store.read(reached.cluster, place)
    except ClusterError as problem:
        notes.append(str(problem))
    own = [manifest.ref for manifest in desired.manifests]
    left = [ref for ref in (inventory.entries if inventory else {}) if ref not in own]
    others = [ref for ref in sorted(observed.live) if ref not in {*own, *left} and is_pool(ref)]
    status = Status(
        context=reached.context,
        server=reached.server,
        uid=reached.uid,
        blueprint=desired.blueprint,
        inventory=inventory,
        objects=tuple(_object(observed, ref, desired) for ref in own),
        left=tuple(_object(observed, ref, desired) for ref in left if ref in observed.live),
        others=tuple(_object(observed, ref, desired) for ref in others),
        notes=tuple(notes),
    )
    status = _with_events(reached, observed, status, desired)
    return status._replace(lock=_lock(reached, place)) if status.is_pending else status


def _with_events(
    reached: ReachedCluster, observed: _LiveObjects, status: Status, desired: DesiredState
) -> Status:
    """Add the warning events of the blueprint's objects that are not Ready."""
    unready = [item.ref for item in status.objects if item.exists and not item.readiness.is_ready]
    if not unready:
        return status
    secrets = collect_secrets(Masker(desired.sensitive, "", b""), observed.live.values())
    cluster = reached.cluster.with_deadline(min(SECONDS, reached.deadline.left))
    warnings = read_warnings(cluster, {ref: uid_of(observed.live[ref]) for ref in unready}, secrets)
    objects = (item._replace(events=warnings.events.get(item.ref, ())) for item in status.objects)
    return status._replace(objects=tuple(objects), notes=(*status.notes, *filter(None, [warnings.note])))


def _lock(reached: ReachedCluster, place: store.InventoryRef) -> Lease | None:
    try:
        return find_lock(reached.cluster, *place)
    except ClusterError:
        # A user who can only plan has no permission to read Leases.
        return None


def list_awaited(desired: DesiredState) -> dict[str, list[str]]:
    """Return the names of a blueprint's objects that get Ready, by kind."""
    names: dict[str, list[str]] = {}
    for manifest in desired.manifests:
        if manifest.ref.kind != NODE_OVERLAY.name or desired.is_overlay_gate_on:
            names.setdefault(manifest.ref.kind, []).append(manifest.ref.name)
    return names


def _read_live(reached: ReachedCluster) -> _LiveObjects:
    kinds = [*KINDS.values(), NODE_CLAIM]
    lists = map_parallel(
        reached.options.concurrency, lambda kind: list_if_served(reached.cluster, kind), kinds
    )
    bodies_by_kind = dict(zip((kind.name for kind in kinds), lists, strict=True))
    claims = bodies_by_kind.pop(NODE_CLAIM.name) or []
    live = by_ref(bodies_by_kind)
    # NodeOverlays exist since Karpenter 1.7: their absence is not an error.
    missing = tuple(
        kind for kind, bodies in bodies_by_kind.items() if bodies is None and kind != NODE_OVERLAY.name
    )
    return _LiveObjects(live, group_by_pool(claims), missing)


def _object(observed: _LiveObjects, ref: Ref, desired: DesiredState) -> ObjectStatus:
    body = observed.live.get(ref)
    if body is None:
        return ObjectStatus(*ref, GONE, "", None)
    labels = labels_of(body)
    readiness = read_readiness(body, desired.sensitive)
    if ref.kind == NODE_OVERLAY.name and not readiness.is_hopeless and not desired.is_overlay_gate_on:
        readiness = Readiness(is_ready=True, reason="not judged: the feature gate NodeOverlay is off")
    owner = plain_text(labels.get(store.BLUEPRINT)) if labels.get(PART_OF) else ""
    pool = _pool(observed, body, desired.sensitive) if is_pool(ref) else None
    return ObjectStatus(*ref, readiness, owner, pool)


def _pool(observed: _LiveObjects, body: Mapping[str, Plain], sensitive: Sequence[str]) -> PoolStatus:
    class_ref = read_node_class(body)
    node_class = observed.live.get(class_ref, {})
    claims = observed.claims.get(name_of(body), [])
    notes = [
        condition.text
        for condition in read_conditions(body, sensitive)
        if condition.status == "False" and _is_note(condition.type)
    ]
    return PoolStatus(
        node_class=class_ref.name if class_ref.kind == EC2_NODE_CLASS.name else str(class_ref),
        nodes=_nodes(claims, sum(bool(explain_outdated(claim, body, node_class)) for claim in claims)),
        use=tuple(_use(body)),
        notes=tuple(notes),
    )


def _is_note(condition: str) -> bool:
    return condition in INFORMATIONAL and condition != READY


def _nodes(claims: list[NodeClaim], old: int) -> NodeCounts:
    instances = Counter(claim.instance for claim in claims if any(claim.instance))
    return NodeCounts(
        total=len(claims),
        stages={stage: sum(claim.has(stage) for claim in claims) for stage in (*STAGES, READY)},
        drifted=sum(bool(claim.drift) for claim in claims),
        outdated=old,
        deleting=sum(bool(claim.deleted_since) for claim in claims),
        instances=tuple(sorted(instances.items(), key=lambda item: (-item[1], item[0]))),
    )


def _use(body: Mapping[str, Plain]) -> Iterator[ResourceUse]:
    """Yield each resource that has a limit, and each accelerator, in the order of their names."""
    limits = plain_map(plain_map(body.get("spec")).get("limits"))
    used = plain_map(plain_map(body.get("status")).get("resources"))
    for resource in sorted({*limits, *(device for device in DEVICES if device in used)}):
        yield ResourceUse(resource, _text(used.get(resource)) or "0", _text(limits.get(resource)))


def _text(value: Plain) -> str:
    return "" if value is None else str(value)


def wait_until(
    reached: ReachedCluster,
    desired: DesiredState,
    state: Literal["ready", "rollout"],
    report: Callable[[Progress], None],
) -> list[str]:
    """Wait until all is Ready, or rolled out; return what is not at the timeout, each with its reason."""
    names = list_awaited(desired)
    readiness = wait_ready(reached.cluster, reached.deadline, names, report, sensitive=desired.sensitive)
    if state == "rollout" and all(item.is_ready for item in readiness.values()):
        pools = names.get(NODE_POOL.name, ())
        readiness = wait_rolled(reached.cluster, reached.deadline, pools, report)
    return [f"{ref}: {item.reason}" for ref, item in readiness.items() if not item.is_ready]
