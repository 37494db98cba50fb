"""What others have to do with an object: whose it is, which fields they own, and what they left in it."""

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
    from collections.abc import Iterable, Mapping

    from gpupool.planning.compare import LeafPath
    from gpupool.planning.masking import Masker
    from gpupool.yamlio.located import Plain

PART_OF: Final = "applyset.kubernetes.io/part-of"
BLUEPRINT: Final = "gpupool.dev/blueprint"
"""Labels of every object that gpupool applies: which set it is in, and of which blueprint."""

_USUAL_NAMESPACE: Final = "kube-system"

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
"""What the CRDs fill in: whoever created the object by hand owns it, though nobody said it."""


def calculate_applyset_id(namespace: str, name: str) -> str:
    """Return the id of the set whose parent is a ConfigMap: the value of its members' label `PART_OF`."""
    said = f"{name}.{namespace}.ConfigMap."
    digest = hashlib.sha256(said.encode()).digest()
    return f"applyset-{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}-v1"


def explain_foreign(live: Mapping[str, Plain], own_set: str, *, adopts: bool) -> str:
    """Return why an object is not ours to write; the empty text where it is, or is to be taken over."""
    labels = labels_of(live)
    member = labels.get(PART_OF)
    if member is not None and member != own_set:
        return _of_another(member, labels.get(BLUEPRINT))
    if adopts or member == own_set or ownership.find_applied_entry(live) is not None:
        return ""
    writers = sorted({each.manager for each in ownership.parse_entries(live) if not each.subresource})
    return f"not created by gpupool ({', '.join(writers) or 'creator unknown'}): adopt it with --adopt"


def _of_another(member: Plain, blueprint: Plain) -> str:
    """Return why an object of another set is not ours to write, and how it becomes ours."""
    another = f"it belongs to another ApplySet ({PART_OF}: {member}); remove it there first"
    if not (isinstance(blueprint, str) and is_name(blueprint)):
        return another
    if member != calculate_applyset_id(_USUAL_NAMESPACE, f"gpupool-{blueprint}"):
        way_out = f"gpupool move --from NAMESPACE/{blueprint}"
        return f"{another} or, if its inventory was in another namespace: {way_out}"
    return (
        f"it belongs to another blueprint, {blueprint} ({PART_OF}: {member}); remove it there first or, if"
        f" that one was renamed to this: gpupool move --from {_USUAL_NAMESPACE}/{blueprint}"
    )


def build_conflicts(
    live: Mapping[str, Plain], body: Mapping[str, Plain], contested: Iterable[tuple[str, str]]
) -> tuple[Conflict, ...]:
    """Return each contested field with its owner, what kind of writer that is, and when it last wrote."""
    known = {to_dotted_path(path): path for path in collect_paths(dict(body))}
    times = {each.manager: each.time for each in ownership.parse_entries(live)}
    return tuple(
        Conflict(
            known.get(to_dotted_path(path), path),
            manager,
            ownership.classify_owner(manager),
            times.get(manager, ""),
        )
        for path, manager in contested
    )


def find_residue(
    masker: Masker, address: str, live: Mapping[str, Plain], body: Mapping[str, Plain]
) -> tuple[Residue, ...]:
    """Return the live values under `spec` that the blueprint does not say, that others own, and that stay."""
    if not ownership.is_shared(live):
        return ()
    found = []
    for each in find_differences({"spec": live.get("spec")}, {"spec": body.get("spec")}):
        if each.op != "remove" or is_default(each.keys, each.before):
            continue
        owner = ownership.find_owner(live, each.keys)
        if owner is None or owner.manager == ownership.MANAGER:
            continue
        if not _says(dict(body), ownership.find_value_path(owner, each.keys)):
            found.append(Residue(each.path, masker.shown(address, each.before, each.keys), owner.manager))
    return tuple(found)


def _says(body: Plain, path: LeafPath) -> bool:
    """Return whether a body has a value at a path of maps: what is one value there is replaced as a whole."""
    for key in path:
        if not isinstance(body, dict) or key not in body:
            return False
        body = body[str(key)]
    return True


def is_default(keys: LeafPath, value: Plain) -> bool:
    """Return whether a value at a path of a live object is what the CRDs fill in there."""
    known = _DEFAULTS.get(".".join(str(key) for key in keys if not isinstance(key, int)))
    return known is not None and (known == value or (isinstance(known, list) and value in known))
