"""How the objects of a blueprint are in a cluster, and what runs because of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from gpupool.cluster.listing import list_if_served
from gpupool.cluster.parallel import each as in_parallel
from gpupool.cluster.resources import EC2_NODE_CLASS, KINDS, NODE_CLAIM, NODE_OVERLAY
from gpupool.errors import ClusterError
from gpupool.karpenter.quantities import parse_amount
from gpupool.objects import is_pool, labels_of
from gpupool.planning.foreign_fields import PART_OF
from gpupool.planning.masking import Masker
from gpupool.planning.pruning import class_of
from gpupool.rollout.inventory import store
from gpupool.rollout.live_state import by_address, name_of, uid_of
from gpupool.rollout.lock.unlock import look
from gpupool.rollout.redaction import secrets_in
from gpupool.rollout.watch.events import SECONDS, warnings_of
from gpupool.rollout.watch.nodeclaims import STAGES, of_pools, outdated
from gpupool.rollout.watch.waiting import GONE, INFORMATIONAL, READY, Readiness, conditions, ready
from gpupool.scheduling.types.capacity import DEVICES
from gpupool.yamlio.located import plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gpupool.cluster.lease import Lease
    from gpupool.rollout.connection import Reached
    from gpupool.rollout.desired_state import DesiredState
    from gpupool.rollout.inventory.store import Inventory
    from gpupool.rollout.watch.events import WarningEvent
    from gpupool.rollout.watch.nodeclaims import LaunchedInstance, NodeClaim
    from gpupool.yamlio.located import Plain


class ResourceUse(NamedTuple):
    """How much of a resource the nodes of a pool have, beside its limit; texts as the server has them."""

    resource: str
    used: str
    limit: str
    """Empty for none."""

    @property
    def is_full(self) -> bool:
        """Return whether there is no room below the limit."""
        try:
            return bool(self.limit) and parse_amount(self.used) >= parse_amount(self.limit)
        except ValueError:
            return False


class NodeCounts(NamedTuple):
    """The NodeClaims of a pool."""

    total: int
    stages: Mapping[str, int]
    """How many are Launched, Registered, Initialized and Ready."""

    drifted: int
    outdated: int
    """How many are to be replaced: those that Karpenter calls drifted, and those that it will."""

    leaving: int
    machines: tuple[tuple[LaunchedInstance, int], ...]
    """How many there are of each type, the most first."""


class PoolStatus(NamedTuple):
    """What a NodePool has beyond other objects."""

    node_class: str
    nodes: NodeCounts
    use: tuple[ResourceUse, ...]
    notes: tuple[str, ...]
    """Conditions that Ready does not depend on, and that are False."""


class ObjectStatus(NamedTuple):
    """One object."""

    kind: str
    name: str
    readiness: Readiness
    owner: str
    """The blueprint that applied it; empty for none."""

    pool: PoolStatus | None
    """None for another kind, or where it does not exist."""

    events: tuple[WarningEvent, ...] = ()
    """What was recorded of one that is not Ready; the newest first."""

    @property
    def address(self) -> str:
        """Return `KIND/NAME`."""
        return f"{self.kind}/{self.name}"

    @property
    def exists(self) -> bool:
        """Return whether it is in the cluster."""
        return self.readiness is not GONE


class Status(NamedTuple):
    """A blueprint in a cluster at one moment."""

    context: str
    server: str
    uid: str
    blueprint: str
    inventory: Inventory | None
    """None where it can't be read."""

    objects: tuple[ObjectStatus, ...]
    """What the blueprint wants."""

    left: tuple[ObjectStatus, ...]
    """What it wanted once, is still there, and is no longer wanted."""

    others: tuple[ObjectStatus, ...]
    """NodePools of others."""

    notes: tuple[str, ...]
    lock: Lease | None = None
    """Who holds the lock, as far as that was asked: only where an apply is in progress or was interrupted."""

    @property
    def is_pending(self) -> bool:
        """Return whether an apply is in progress or was interrupted."""
        listed = self.inventory
        return listed is not None and bool(listed.pending or listed.pending_plan)


class _Seen(NamedTuple):
    """A cluster at one moment."""

    live: Mapping[str, Mapping[str, Plain]]
    claims: Mapping[str, list[NodeClaim]]
    missing: tuple[str, ...]
    """Kinds that the server does not know."""


def status(reached: Reached, wanted: DesiredState) -> Status:
    """Read how a blueprint's objects are.

    Raises:
        ClusterError: where the server refuses, or does not answer.
    """
    seen = _seen(reached)
    place = store.InventoryRef(wanted.namespace, wanted.inventory)
    notes = [f"the server does not know {kind}: are Karpenter's CRDs installed?" for kind in seen.missing]
    known: Inventory | None = None
    try:
        known = store.read(reached.cluster, place)
    except ClusterError as problem:
        notes.append(str(problem))
    own = [f"{each.ref.kind}/{each.ref.name}" for each in wanted.manifests]
    left = [address for address in (known.known if known else {}) if address not in own]
    others = [address for address in sorted(seen.live) if address not in {*own, *left} and is_pool(address)]
    found = Status(
        context=reached.context,
        server=reached.server,
        uid=reached.uid,
        blueprint=wanted.blueprint,
        inventory=known,
        objects=tuple(_thing(seen, address, wanted) for address in own),
        left=tuple(_thing(seen, address, wanted) for address in left if address in seen.live),
        others=tuple(_thing(seen, address, wanted) for address in others),
        notes=tuple(notes),
    )
    found = _with_events(reached, seen, found, wanted)
    return found._replace(lock=_lock(reached, place)) if found.is_pending else found


def _with_events(reached: Reached, seen: _Seen, found: Status, wanted: DesiredState) -> Status:
    """Add what was recorded of the blueprint's objects that are not Ready."""
    late = [each.address for each in found.objects if each.exists and not each.readiness.is_ready]
    if not late:
        return found
    secrets = secrets_in(Masker(wanted.sensitive, "", b""), seen.live.values())
    cluster = reached.cluster.afresh(min(SECONDS, reached.deadline.left))
    warnings = warnings_of(cluster, {each: uid_of(seen.live[each]) for each in late}, secrets)
    objects = (each._replace(events=warnings.events.get(each.address, ())) for each in found.objects)
    return found._replace(objects=tuple(objects), notes=(*found.notes, *filter(None, [warnings.note])))


def _lock(reached: Reached, place: store.InventoryRef) -> Lease | None:
    try:
        return look(reached.cluster, *place)
    except ClusterError:
        # Who may only plan has no right to read Leases, and can't be told.
        return None


def waited_for(wanted: DesiredState) -> dict[str, list[str]]:
    """Return the objects of a blueprint that become Ready, by kind."""
    found: dict[str, list[str]] = {}
    for each in wanted.manifests:
        if each.ref.kind != NODE_OVERLAY.name or wanted.overlays_count:
            found.setdefault(each.ref.kind, []).append(each.ref.name)
    return found


def _seen(reached: Reached) -> _Seen:
    kinds = [*KINDS.values(), NODE_CLAIM]
    lists = in_parallel(reached.way.concurrency, lambda kind: list_if_served(reached.cluster, kind), kinds)
    found = dict(zip((kind.name for kind in kinds), lists, strict=True))
    claims = found.pop(NODE_CLAIM.name) or []
    live = by_address(found)
    # NodeOverlays came with Karpenter 1.7: without them it is no worse.
    missing = tuple(kind for kind, bodies in found.items() if bodies is None and kind != NODE_OVERLAY.name)
    return _Seen(live, of_pools(claims), missing)


def _thing(seen: _Seen, address: str, wanted: DesiredState) -> ObjectStatus:
    kind, _, name = address.partition("/")
    body = seen.live.get(address)
    if body is None:
        return ObjectStatus(kind, name, GONE, "", None)
    labels = labels_of(body)
    readiness = ready(body, wanted.sensitive)
    if kind == NODE_OVERLAY.name and not readiness.is_hopeless and not wanted.overlays_count:
        readiness = Readiness(is_ready=True, reason="not judged: the feature gate NodeOverlay is off")
    owner = plain_text(labels.get(store.BLUEPRINT)) if labels.get(PART_OF) else ""
    return ObjectStatus(
        kind, name, readiness, owner, _pool(seen, body, wanted.sensitive) if is_pool(address) else None
    )


def _pool(seen: _Seen, body: Mapping[str, Plain], sensitive: Sequence[str]) -> PoolStatus:
    kind, name = class_of(body)
    node_class = seen.live.get(f"{kind}/{name}", {})
    claims = seen.claims.get(name_of(body), [])
    marks = [
        each.words for each in conditions(body, sensitive) if each.status == "False" and _is_mark(each.type)
    ]
    return PoolStatus(
        node_class=name if kind == EC2_NODE_CLASS.name else f"{kind}/{name}",
        nodes=_nodes(claims, sum(bool(outdated(each, body, node_class)) for each in claims)),
        use=tuple(_use(body)),
        notes=tuple(marks),
    )


def _is_mark(condition: str) -> bool:
    return condition in INFORMATIONAL and condition != READY


def _nodes(claims: list[NodeClaim], old: int) -> NodeCounts:
    machines = Counter(claim.machine for claim in claims if any(claim.machine))
    return NodeCounts(
        total=len(claims),
        stages={stage: sum(claim.has(stage) for claim in claims) for stage in (*STAGES, READY)},
        drifted=sum(bool(claim.drift) for claim in claims),
        outdated=old,
        leaving=sum(bool(claim.leaving) for claim in claims),
        machines=tuple(sorted(machines.items(), key=lambda each: (-each[1], each[0]))),
    )


def _use(body: Mapping[str, Plain]) -> Iterator[ResourceUse]:
    """Yield each resource that has a limit, and each accelerator, in the order of their names."""
    limits = plain_map(plain_map(body.get("spec")).get("limits"))
    used = plain_map(plain_map(body.get("status")).get("resources"))
    for resource in sorted({*limits, *(each for each in DEVICES if each in used)}):
        yield ResourceUse(resource, _text(used.get(resource)) or "0", _text(limits.get(resource)))


def _text(value: Plain) -> str:
    return "" if value is None else str(value)
