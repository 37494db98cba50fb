"""Which Karpenter's CRDs are installed, and whether the blueprint is for that one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.crds import NEEDED, has_rules_of, minors, stored_crds
from gpupool.cluster.kinds import EC2_NODE_CLASS, NODE_CLAIM, NODE_OVERLAY, NODE_POOL
from gpupool.karpenter.versions import TARGETS, parse_minor
from gpupool.rollout.diagnosis.check import Check, State
from gpupool.yamlio.nodes import plain_list, plain_map

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpupool.cluster.crds import StoredCrds
    from gpupool.cluster.port import Cluster
    from gpupool.yamlio.nodes import Plain

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


def installed(cluster: Cluster) -> Installed:
    """Look at the CRDs.

    Raises:
        ClusterError: where the server does not answer.
    """
    stored = stored_crds(cluster)
    unusable = tuple(_unusable(stored))
    if unusable:
        words = "not everything that gpupool needs is installed"
        return Installed(Check(_NAME, State.FAILED, words, "install the chart karpenter-crd", unusable), ())
    unread = [name for name in NEEDED if name in stored.unread]
    if unread:
        return Installed(Check(_NAME, State.UNKNOWN, f"may not get {', '.join(unread)}"), ())
    return _recognised({name: stored.bodies[name] for name in NEEDED})


def karpenter(wanted: str, found: tuple[str, ...]) -> Check:
    """Hold a blueprint's Karpenter against those whose CRDs are installed."""
    name = "Karpenter"
    if not found:
        return Check(name, State.UNKNOWN, "which Karpenter the CRDs are of is not known")
    if wanted in found:
        return Check(name, State.OK, f"the blueprint is for {wanted}, as the CRDs")
    words = f"the blueprint is for {wanted}, and the CRDs are of {_either(found)}"
    fix = f'say `cluster: {{karpenter: "{found[-1]}"}}`'
    if parse_minor(wanted) > parse_minor(found[-1]):
        return Check(
            name,
            State.FAILED,
            f"{words}: what is newer is refused",
            f"{fix}, or upgrade Karpenter and its CRDs",
        )
    return Check(name, State.WARNING, f"{words}: what is newer can't be used", fix)


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
    found = {name: minors(name, body) for name, body in bodies.items()}
    if unknown := [name for name, known in found.items() if not known]:
        words = (
            f"not of any Karpenter that gpupool knows ({TARGETS[0]} to {TARGETS[-1]}): {', '.join(unknown)}"
        )
        fix = "changed by hand, or newer than this gpupool: what `gpupool validate` says may not hold here"
        return Installed(Check(_NAME, State.WARNING, words, fix), ())
    shared = tuple(minor for minor in TARGETS if all(minor in known for known in found.values()))
    if not shared:
        items = tuple(f"{name}: {_either(known)}" for name, known in found.items())
        return Installed(Check(_NAME, State.WARNING, "of different Karpenter releases", _UPGRADE, items), ())
    other = [name for name, body in bodies.items() if not has_rules_of(name, body, shared[-1])]
    if len(shared) == 1 and other:
        words = f"not the rules that Karpenter {shared[0]} for AWS has: {', '.join(other)}"
        return Installed(Check(_NAME, State.WARNING, words, _UPGRADE), shared)
    return Installed(Check(_NAME, State.OK, f"of Karpenter {_either(shared)}"), shared)


def _either(found: Sequence[str]) -> str:
    """Give minors in one word, as in `1.11 or 1.12`."""
    *others, last = found
    return f"{', '.join(others)} or {last}" if others else last
