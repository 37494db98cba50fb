"""Foreign objects and fields: ApplySet membership, conflicts and values that other managers left."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Final

from gpupool.objects import labels_of
from gpupool.planning import ownership
from gpupool.planning.addresses import is_name
from gpupool.planning.compare import collect_paths, find_differences, to_dotted_path
from gpupool.planning.plan import Conflict, Residue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from gpupool.planning.compare import LeafPath
    from gpupool.planning.masking import Masker
    from gpupool.planning.plan import BlueprintCause
    from gpupool.yamlio.located import Plain

PART_OF: Final = "applyset.kubernetes.io/part-of"
BLUEPRINT: Final = "gpupool.dev/blueprint"
"""Labels of every object that gpupool applies: its ApplySet and its blueprint."""

_DEFAULT_NAMESPACE: Final = "kube-system"

_DEFAULTS: Final[Mapping[str, Plain]] = {
    "spec.disruption.consolidateAfter": "0s",
    "spec.disruption.consolidationPolicy": "WhenEmptyOrUnderutilized",
    "spec.disruption.budgets": [{"nodes": "10%"}],
    "spec.template.spec.expireAfter": "720h",
    "spec.template.spec.nodeClassRef.group": "karpenter.k8s.aws",
    "spec.metadataOptions.httpEndpoint": "enabled",
    "spec.metadataOptions.httpProtocolIPv6": "disabled",
    "spec.metadataOptions.httpPutResponseHopLimit": 1,
    "spec.metadataOptions.httpTokens": "required",
}
"""Defaults of the CRDs: the creator of an object owns them without having set them."""


def calculate_applyset_id(namespace: str, name: str) -> str:
    """Calculate the id of the ApplySet of a ConfigMap: the label `PART_OF` of its members."""
    parent = f"{name}.{namespace}.ConfigMap."
    digest = hashlib.sha256(parent.encode()).digest()
    return f"applyset-{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}-v1"


def explain_foreign(live: Mapping[str, Plain], own_set: str, *, adopts: bool) -> str:
    """Return why gpupool may not write an object; empty where it may, or where the object is adopted."""
    labels = labels_of(live)
    member = labels.get(PART_OF)
    if member is not None and member != own_set:
        return _explain_member(member, labels.get(BLUEPRINT))
    if adopts or member == own_set or ownership.find_applied_entry(live) is not None:
        return ""
    writers = sorted({entry.manager for entry in ownership.parse_entries(live) if not entry.subresource})
    return f"not created by gpupool ({', '.join(writers) or 'creator unknown'}): adopt it with --adopt"


def _explain_member(member: Plain, blueprint: Plain) -> str:
    """Return why gpupool may not write an object of another ApplySet, and how to take it over."""
    another = f"it belongs to another ApplySet ({PART_OF}: {member}); remove it there first"
    if not (isinstance(blueprint, str) and is_name(blueprint)):
        return another
    if member != calculate_applyset_id(_DEFAULT_NAMESPACE, f"gpupool-{blueprint}"):
        command = f"gpupool move --from NAMESPACE/{blueprint}"
        return f"{another} or, if its inventory was in another namespace: {command}"
    return (
        f"it belongs to another blueprint, {blueprint} ({PART_OF}: {member}); remove it there first or, if"
        f" that one was renamed to this: gpupool move --from {_DEFAULT_NAMESPACE}/{blueprint}"
    )


def build_conflicts(
    live: Mapping[str, Plain],
    body: Mapping[str, Plain],
    contested: Iterable[tuple[str, str]],
    find_cause: Callable[[str], BlueprintCause | None] = lambda _: None,
) -> tuple[Conflict, ...]:
    """Build the conflicts of contested fields: owner, kind of owner, time of its last write, and cause."""
    blueprint_paths = {to_dotted_path(path): path for path in collect_paths(dict(body))}
    times = {entry.manager: entry.time for entry in ownership.parse_entries(live)}
    return tuple(
        Conflict(
            blueprint_paths.get(to_dotted_path(path), path),
            manager,
            ownership.classify_owner(manager),
            times.get(manager, ""),
            find_cause(blueprint_paths.get(to_dotted_path(path), path)),
        )
        for path, manager in contested
    )


def find_residue(
    masker: Masker, address: str, live: Mapping[str, Plain], body: Mapping[str, Plain]
) -> tuple[Residue, ...]:
    """Find the live values under `spec` that the blueprint does not set, that others own, and that remain."""
    if not ownership.is_shared(live):
        return ()
    residue = []
    for leaf in find_differences({"spec": live.get("spec")}, {"spec": body.get("spec")}):
        if leaf.op != "remove" or is_default(leaf.keys, leaf.before):
            continue
        owner = ownership.find_owner(live, leaf.keys)
        if owner is None or owner.manager == ownership.MANAGER:
            continue
        # A value of the body at the owned path replaces all of the live one there.
        if not _has_value(dict(body), ownership.find_value_path(owner, leaf.keys)):
            residue.append(Residue(leaf.path, masker.mask(address, leaf.before, leaf.keys), owner.manager))
    return tuple(residue)


def _has_value(body: Plain, path: LeafPath) -> bool:
    """Return whether a body has a value at a path of maps."""
    for key in path:
        if not isinstance(body, dict) or key not in body:
            return False
        body = body[str(key)]
    return True


def is_default(keys: LeafPath, value: Plain) -> bool:
    """Return whether a value at a path of a live object is the default of the CRDs."""
    default = _DEFAULTS.get(".".join(str(key) for key in keys if not isinstance(key, int)))
    return default is not None and (default == value or (isinstance(default, list) and value in default))
