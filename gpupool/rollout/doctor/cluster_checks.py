"""Checks of the cluster: Karpenter's CRDs, what gpupool keeps there for a blueprint, and webhooks."""

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


class Installed(NamedTuple):
    """What is known of the installed CRDs."""

    check: Check
    minors: tuple[str, ...]
    """The Karpenter minors that all of them may be of; none where that is not known."""


def check_crds(cluster: Cluster) -> Installed:
    """Look at the CRDs.

    Raises:
        ClusterError: where the server does not answer.
    """
    stored = read_stored_crds(cluster)
    unusable = tuple(_unusable(stored))
    if unusable:
        words = "not everything that gpupool needs is installed"
        return Installed(
            Check(_NAME, CheckState.FAILED, words, "install the chart karpenter-crd", unusable), ()
        )
    unread = [name for name in NEEDED if name in stored.unread]
    if unread:
        return Installed(Check(_NAME, CheckState.UNKNOWN, f"may not get {', '.join(unread)}"), ())
    return _recognised({name: stored.bodies[name] for name in NEEDED})


def check_karpenter(wanted: str, found: tuple[str, ...]) -> Check:
    """Hold a blueprint's Karpenter against those whose CRDs are installed."""
    name = "Karpenter"
    if not found:
        return Check(name, CheckState.UNKNOWN, "which Karpenter the CRDs are of is not known")
    if wanted in found:
        return Check(name, CheckState.OK, f"the blueprint is for {wanted}, as the CRDs")
    words = f"the blueprint is for {wanted}, and the CRDs are of {_either(found)}"
    fix = f'say `cluster: {{karpenter: "{found[-1]}"}}`'
    if parse_minor(wanted) > parse_minor(found[-1]):
        return Check(
            name,
            CheckState.FAILED,
            f"{words}: what is newer is refused",
            f"{fix}, or upgrade Karpenter and its CRDs",
        )
    return Check(name, CheckState.WARNING, f"{words}: what is newer can't be used", fix)


def _unusable(stored: StoredCrds) -> list[str]:
    absent = [name for name in NEEDED if name not in stored.bodies and name not in stored.unread]
    unserved = [
        f"{name} without {_VERSIONS[name]}"
        for name in NEEDED
        if name in stored.bodies and not _serves(stored.bodies[name], _VERSIONS[name])
    ]
    return [*absent, *unserved]


def _serves(crd: Mapping[str, Plain], wanted: str) -> bool:
    versions = plain_list(plain_map(crd.get("spec")).get("versions"))
    return any(each.get("name") == wanted and each.get("served") is True for each in map(plain_map, versions))


def _recognised(bodies: Mapping[str, Mapping[str, Plain]]) -> Installed:
    found = {name: find_minors(name, body) for name, body in bodies.items()}
    if unknown := [name for name, known in found.items() if not known]:
        words = (
            f"not of any Karpenter that gpupool knows ({TARGETS[0]} to {TARGETS[-1]}): {', '.join(unknown)}"
        )
        fix = "changed by hand, or newer than this gpupool: what `gpupool validate` says may not hold here"
        return Installed(Check(_NAME, CheckState.WARNING, words, fix), ())
    shared = tuple(minor for minor in TARGETS if all(minor in known for known in found.values()))
    if not shared:
        items = tuple(f"{name}: {_either(known)}" for name, known in found.items())
        return Installed(
            Check(_NAME, CheckState.WARNING, "of different Karpenter releases", _UPGRADE, items), ()
        )
    other = [name for name, body in bodies.items() if not has_rules_of(name, body, shared[-1])]
    if len(shared) == 1 and other:
        words = f"not the rules that Karpenter {shared[0]} for AWS has: {', '.join(other)}"
        return Installed(Check(_NAME, CheckState.WARNING, words, _UPGRADE), shared)
    return Installed(Check(_NAME, CheckState.OK, f"of Karpenter {_either(shared)}"), shared)


def _either(found: Sequence[str]) -> str:
    """Return minors in one word, as in `1.11 or 1.12`."""
    *others, last = found
    return f"{', '.join(others)} or {last}" if others else last


def check_inventory(cluster: Cluster, place: store.InventoryRef) -> Check:
    """Return what the inventory lists, and whether an apply was interrupted."""
    name = "inventory"
    try:
        found = store.read(cluster, place)
    except ClusterError as problem:
        return Check(name, CheckState.FAILED, str(problem), "without it, apply writes nothing")
    at = f"{place.namespace}/{place.name}"
    if not found.uid:
        return Check(name, CheckState.OK, f"there is no {at} yet: nothing was applied from this blueprint")
    words = f"{at}, serial {found.serial}, lists {_objects(len(found.current))}"
    if found.pending:
        under_way = f"{words}; an apply of {_objects(len(found.pending))} is in progress or was interrupted"
        return Check(name, CheckState.WARNING, under_way, "apply again once the lock is free")
    return Check(name, CheckState.OK, words)


def check_lock(cluster: Cluster, place: store.InventoryRef, unlock: str) -> Check:
    """Say who holds the lock; `unlock` is the command line that deletes it, with `{}` for the holder's id.

    Raises:
        ClusterError: where the server refuses.
    """
    name = "lock"
    found = lease.read(cluster, *place)
    if found is None or not found.holder:
        return Check(name, CheckState.OK, "free")
    age = found.age
    if age is None or age < (found.seconds or SECONDS):
        return Check(name, CheckState.WARNING, describe_holder(found), "let that run end: others wait for it")
    line = unlock.format(read_holder(found.holder).id)
    fix = f"the next apply takes it over; or delete it: {line}"
    return Check(name, CheckState.WARNING, f"{describe_holder(found)}, and has expired", fix)


def _objects(count: int) -> str:
    return f"{count} object{'s' * (count != 1)}"


_ADMISSION: Final = "/apis/admissionregistration.k8s.io/v1"
_WRITES: Final = frozenset({"*", "CREATE", "UPDATE", "DELETE"})
_FORBIDDEN: Final = 403


def check_webhooks(cluster: Cluster) -> Check:
    """Name the webhooks that see Karpenter's objects; one that changes them is a warning.

    Raises:
        ClusterError: where the server does not answer.
    """
    mutating, validating = _matching(cluster, "mutating"), _matching(cluster, "validating")
    if mutating is None or validating is None:
        return Check("webhooks", CheckState.UNKNOWN, "may not list webhook configurations")
    items = (*(f"mutating {each}" for each in mutating), *(f"validating {each}" for each in validating))
    if mutating:
        fix = "have them pass over Karpenter's groups, or expect that they change what is applied"
        return Check("webhooks", CheckState.WARNING, "some may change what gpupool writes", fix, items)
    if validating:
        return Check("webhooks", CheckState.OK, "some may refuse what gpupool writes", items=items)
    return Check("webhooks", CheckState.OK, "none sees Karpenter's objects")


def _matching(cluster: Cluster, sort: str) -> list[str] | None:
    """Name those of one sort, with what becomes of a write when they don't answer; None if not allowed to."""
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
            _sees(plain_map(rule), kind)
            for rule in plain_list(webhook.get("rules"))
            for kind in KINDS.values()
        ):
            policy = plain_text(webhook.get("failurePolicy"))
            yield f"{owner}: {plain_text(webhook.get('name'))} (failurePolicy {policy})"


def _sees(rule: Mapping[str, Plain], kind: ResourceKind) -> bool:
    def said(key: str) -> set[str]:
        return set(map(plain_text, plain_list(rule.get(key))))

    return (
        bool(said("operations") & _WRITES)
        and bool(said("apiGroups") & {"*", kind.group})
        and bool(said("apiVersions") & {"*", kind.version})
        and bool(said("resources") & {"*", "*/*", kind.plural, f"{kind.plural}/*"})
        and rule.get("scope") != "Namespaced"
    )
