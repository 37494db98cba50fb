"""Checks of a cluster: Karpenter's CRDs, the blueprint's inventory and lock, and webhooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster import lease
from gpupool.cluster.client import Request
from gpupool.cluster.crds import NEEDED, find_minors, has_rules_of, read_stored_crds
from gpupool.cluster.rejections import raise_rejection
from gpupool.cluster.resources import EC2_NODE_CLASS, KINDS, NODE_CLAIM, NODE_OVERLAY, NODE_POOL
from gpupool.errors import ClusterError
from gpupool.karpenter.versions import TARGETS, parse_minor
from gpupool.rollout.doctor.check import Check, CheckState
from gpupool.rollout.inventory import store
from gpupool.rollout.lock.lock import SECONDS, describe_holder
from gpupool.rollout.lock.lock_owner import read_holder
from gpupool.yamlio.located import plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gpupool.cluster.client import Cluster
    from gpupool.cluster.crds import StoredCrds
    from gpupool.cluster.resources import ResourceKind
    from gpupool.yamlio.located import Plain


_NAME: Final = "CRDs"
_VERSIONS: Final = {kind.crd: kind.version for kind in (EC2_NODE_CLASS, NODE_OVERLAY, NODE_POOL, NODE_CLAIM)}
_UPGRADE: Final = (
    "upgrade the chart karpenter-crd to your Karpenter's version; Helm never upgrades the CRDs in the folder"
    " crds/ of a chart, such as karpenter's"
)
_ADMISSION: Final = "/apis/admissionregistration.k8s.io/v1"
_WRITES: Final = frozenset({"*", "CREATE", "UPDATE", "DELETE"})
_FORBIDDEN: Final = 403


class InstalledCrds(NamedTuple):
    """The check of the installed CRDs, with their Karpenter minors."""

    check: Check
    minors: tuple[str, ...]
    """The Karpenter minors whose CRDs these may be; empty where that is unknown."""


def check_crds(cluster: Cluster) -> InstalledCrds:
    """Check the CRDs.

    Raises:
        ClusterError: where the server does not answer.
    """
    stored = read_stored_crds(cluster)
    unusable = tuple(_unusable(stored))
    if unusable:
        text = "not everything that gpupool needs is installed"
        return InstalledCrds(
            Check(_NAME, CheckState.FAILED, text, "install the chart karpenter-crd", unusable), ()
        )
    unread = [name for name in NEEDED if name in stored.unread]
    if unread:
        return InstalledCrds(Check(_NAME, CheckState.UNKNOWN, f"may not get {', '.join(unread)}"), ())
    return _check_versions({name: stored.bodies[name] for name in NEEDED})


def check_karpenter(desired: str, installed: tuple[str, ...]) -> Check:
    """Compare a blueprint's Karpenter minor with those of the installed CRDs."""
    name = "Karpenter"
    if not installed:
        return Check(name, CheckState.UNKNOWN, "which Karpenter the CRDs are of is not known")
    if desired in installed:
        return Check(name, CheckState.OK, f"the blueprint is for {desired}, as the CRDs")
    text = f"the blueprint is for {desired}, and the CRDs are of {_either(installed)}"
    fix = f'say `cluster: {{karpenter: "{installed[-1]}"}}`'
    if parse_minor(desired) > parse_minor(installed[-1]):
        return Check(
            name,
            CheckState.FAILED,
            f"{text}: what is newer is refused",
            f"{fix}, or upgrade Karpenter and its CRDs",
        )
    return Check(name, CheckState.WARNING, f"{text}: what is newer can't be used", fix)


def _unusable(stored: StoredCrds) -> list[str]:
    absent = [name for name in NEEDED if name not in stored.bodies and name not in stored.unread]
    unserved = [
        f"{name} without {_VERSIONS[name]}"
        for name in NEEDED
        if name in stored.bodies and not _serves(stored.bodies[name], _VERSIONS[name])
    ]
    return [*absent, *unserved]


def _serves(crd: Mapping[str, Plain], version: str) -> bool:
    versions = plain_list(plain_map(crd.get("spec")).get("versions"))
    return any(
        entry.get("name") == version and entry.get("served") is True for entry in map(plain_map, versions)
    )


def _check_versions(bodies: Mapping[str, Mapping[str, Plain]]) -> InstalledCrds:
    matches = {name: find_minors(name, body) for name, body in bodies.items()}
    if unknown := [name for name, matching in matches.items() if not matching]:
        text = (
            f"not of any Karpenter that gpupool knows ({TARGETS[0]} to {TARGETS[-1]}): {', '.join(unknown)}"
        )
        fix = "changed by hand, or newer than this gpupool: what `gpupool validate` says may not hold here"
        return InstalledCrds(Check(_NAME, CheckState.WARNING, text, fix), ())
    shared = tuple(minor for minor in TARGETS if all(minor in matching for matching in matches.values()))
    if not shared:
        items = tuple(f"{name}: {_either(matching)}" for name, matching in matches.items())
        return InstalledCrds(
            Check(_NAME, CheckState.WARNING, "of different Karpenter releases", _UPGRADE, items), ()
        )
    other = [name for name, body in bodies.items() if not has_rules_of(name, body, shared[-1])]
    if len(shared) == 1 and other:
        text = f"not the rules that Karpenter {shared[0]} for AWS has: {', '.join(other)}"
        return InstalledCrds(Check(_NAME, CheckState.WARNING, text, _UPGRADE), shared)
    return InstalledCrds(Check(_NAME, CheckState.OK, f"of Karpenter {_either(shared)}"), shared)


def _either(names: Sequence[str]) -> str:
    """Return alternatives as text, as in `1.11 or 1.12`."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def check_inventory(cluster: Cluster, place: store.InventoryRef) -> Check:
    """Check the inventory: how many objects it lists, and whether an apply was interrupted."""
    name = "inventory"
    try:
        inventory = store.read(cluster, place)
    except ClusterError as problem:
        return Check(name, CheckState.FAILED, str(problem), "without it, apply writes nothing")
    title = f"{place.namespace}/{place.name}"
    if not inventory.uid:
        return Check(name, CheckState.OK, f"there is no {title} yet: nothing was applied from this blueprint")
    text = f"{title}, serial {inventory.serial}, lists {_objects(len(inventory.current))}"
    if inventory.pending:
        under_way = (
            f"{text}; an apply of {_objects(len(inventory.pending))} is in progress or was interrupted"
        )
        return Check(name, CheckState.WARNING, under_way, "apply again once the lock is free")
    return Check(name, CheckState.OK, text)


def check_lock(cluster: Cluster, place: store.InventoryRef, unlock: str) -> Check:
    """Check the lock; `unlock` is the command that deletes it, with `{}` for the holder's id.

    Raises:
        ClusterError: where the server rejects the request.
    """
    name = "lock"
    lock = lease.read(cluster, *place)
    if lock is None or not lock.holder:
        return Check(name, CheckState.OK, "free")
    age = lock.age
    if age is None or age < (lock.seconds or SECONDS):
        return Check(name, CheckState.WARNING, describe_holder(lock), "let that run end: others wait for it")
    command = unlock.format(read_holder(lock.holder).id)
    fix = f"the next apply takes it over; or delete it: {command}"
    return Check(name, CheckState.WARNING, f"{describe_holder(lock)}, and has expired", fix)


def _objects(count: int) -> str:
    return f"{count} object{'s' * (count != 1)}"


def check_webhooks(cluster: Cluster) -> Check:
    """Check the webhooks for Karpenter's objects; one that may change them is a warning.

    Raises:
        ClusterError: where the server does not answer.
    """
    mutating, validating = _matching(cluster, "mutating"), _matching(cluster, "validating")
    if mutating is None or validating is None:
        return Check("webhooks", CheckState.UNKNOWN, "may not list webhook configurations")
    items = (*(f"mutating {name}" for name in mutating), *(f"validating {name}" for name in validating))
    if mutating:
        fix = "have them pass over Karpenter's groups, or expect that they change what is applied"
        return Check("webhooks", CheckState.WARNING, "some may change what gpupool writes", fix, items)
    if validating:
        return Check("webhooks", CheckState.OK, "some may refuse what gpupool writes", items=items)
    return Check("webhooks", CheckState.OK, "none sees Karpenter's objects")


def _matching(cluster: Cluster, sort: str) -> list[str] | None:
    """Return the matching webhooks with their failure policies; None without the permission to list them."""
    request = Request("GET", f"{_ADMISSION}/{sort}webhookconfigurations")
    answer = cluster.ask(request)
    if answer.status == _FORBIDDEN:
        return None
    if not answer.ok:
        raise_rejection(request, answer, f"list {sort} webhooks")
    return [
        name
        for configuration in map(plain_map, plain_list(answer.body.get("items")))
        for name in _names(configuration)
    ]


def _names(configuration: Mapping[str, Plain]) -> Iterator[str]:
    owner = plain_text(plain_map(configuration.get("metadata")).get("name"))
    for webhook in map(plain_map, plain_list(configuration.get("webhooks"))):
        if any(
            _matches(plain_map(rule), kind)
            for rule in plain_list(webhook.get("rules"))
            for kind in KINDS.values()
        ):
            policy = plain_text(webhook.get("failurePolicy"))
            yield f"{owner}: {plain_text(webhook.get('name'))} (failurePolicy {policy})"


def _matches(rule: Mapping[str, Plain], kind: ResourceKind) -> bool:
    def values(key: str) -> set[str]:
        return set(map(plain_text, plain_list(rule.get(key))))

    return (
        bool(values("operations") & _WRITES)
        and bool(values("apiGroups") & {"*", kind.group})
        and bool(values("apiVersions") & {"*", kind.version})
        and bool(values("resources") & {"*", "*/*", kind.plural, f"{kind.plural}/*"})
        and rule.get("scope") != "Namespaced"
    )
