"""Field ownership of live objects: field managers as in `metadata.managedFields`.

The format (`fieldsV1`): `f:KEY` is a field, `k:{…}` and `v:…` are items of merged lists, `.` is the map or
item itself; `{}` is a complete value: a scalar, or a list or map with a single owner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.yamlio.located import plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpupool.planning.plan import OwnerKind
    from gpupool.yamlio.located import Plain

MANAGER: Final = "gpupool"
_APPLY: Final = "Apply"
_NOT_OWNED: Final = frozenset({"apiVersion", "kind"})
_IDENTITY: Final = frozenset({"name", "uid", "resourceVersion"})
ATOMIC_MAP: Final = ("spec", "template", "metadata", "labels")
"""The only atomic map (`x-kubernetes-map-type: atomic`, with a single owner): NodePool's, since 1.13."""

_GITOPS: Final = (
    "argocd", "kustomize-controller", "helm", "terraform", "pulumi", "flux", "kluctl", "kapp", "fleet",
)  # fmt: skip
_CONTROLLERS: Final = ("karpenter", "cluster-autoscaler", "controller", "operator", "eks")


class ManagerEntry(NamedTuple):
    """The fields that one manager owns by one operation (apply or update)."""

    manager: str
    is_apply: bool
    subresource: str
    api_version: str
    time: str
    fields: Mapping[str, Plain]


def parse_entries(live: Mapping[str, Plain]) -> list[ManagerEntry]:
    """Parse an object's managed fields."""
    managed_fields = plain_map(live.get("metadata")).get("managedFields")
    return [_parse_entry(plain_map(entry)) for entry in plain_list(managed_fields)]


def _parse_entry(entry: Mapping[str, Plain]) -> ManagerEntry:
    return ManagerEntry(
        manager=plain_text(entry.get("manager")),
        is_apply=entry.get("operation") == _APPLY,
        subresource=plain_text(entry.get("subresource")),
        api_version=plain_text(entry.get("apiVersion")),
        time=plain_text(entry.get("time")),
        fields=plain_map(entry.get("fieldsV1")),
    )


def find_applied_entry(live: Mapping[str, Plain]) -> ManagerEntry | None:
    """Find the entry of gpupool's own applies; None where it never applied the object."""
    own = (
        entry
        for entry in parse_entries(live)
        if entry.manager == MANAGER and entry.is_apply and not entry.subresource
    )
    return next(own, None)


def extract_owned(live: Plain, fields: Mapping[str, Plain]) -> Plain:
    """Return the part of a live object that one entry owns, with complete lists."""
    if not isinstance(live, dict) or not fields:
        return live
    owned: dict[str, Plain] = {}
    for key, subfields in fields.items():
        prefix, _, name = key.partition(":")
        if prefix == "f" and name in live:
            owned[name] = extract_owned(live[name], plain_map(subfields))
    return owned


def is_applied_already(live: Mapping[str, Plain], body: Mapping[str, Plain]) -> bool:
    """Return whether an apply of `body` would change nothing: no value, and no owner of a field.

    True only where the live object proves it; False means that a dry run has to decide. (Where a newer CRD
    makes a map atomic, an apply would only record that; this is left to the next change.)
    """
    own = find_applied_entry(live)
    if own is None or own.api_version != body.get("apiVersion"):
        return False
    desired = {key: value for key, value in body.items() if key not in _NOT_OWNED}
    metadata = {key: value for key, value in plain_map(body.get("metadata")).items() if key not in _IDENTITY}
    desired.pop("metadata", None)
    if metadata:
        desired["metadata"] = metadata
    return _is_applied_map(desired, dict(live), own.fields, ())


def _is_applied_map(
    desired: Mapping[str, Plain], live: Plain, fields: Mapping[str, Plain], path: tuple[str, ...]
) -> bool:
    """Return whether a map's keys are exactly the owned ones, with the live values.

    An entry of an apply does not own a map itself (`.`) beside its keys; another apply would remove that.
    """
    if not isinstance(live, dict) or fields.keys() != {f"f:{key}" for key in desired}:
        return False
    return all(
        key in live and _is_applied_value(value, live[key], plain_map(fields[f"f:{key}"]), (*path, key))
        for key, value in desired.items()
    )


def _is_applied_value(
    desired: Plain, live: Plain, fields: Mapping[str, Plain], path: tuple[str, ...]
) -> bool:
    if not fields:
        # A single owner: a scalar, an empty map, a list, or an atomic map. Any other map whose keys are not
        # owned one by one proves nothing.
        is_single = not isinstance(desired, dict) or not desired or path == ATOMIC_MAP
        return is_single and is_equal(desired, live)
    return isinstance(desired, dict) and _is_applied_map(desired, live, fields, path)


def is_equal(one: Plain, other: Plain) -> bool:
    """Return whether two values are equal in JSON: `true` is not 1, and 1 is 1.0."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_equal(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_equal, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return one == other


def find_owner(live: Mapping[str, Plain], path: tuple[str | int, ...]) -> ManagerEntry | None:
    """Find the last writer of a field; None where the field has no owner."""
    owners = [entry for entry in parse_entries(live) if _has_path(entry.fields, path)]
    return max(owners, key=lambda entry: entry.time, default=None)


def _has_path(fields: Mapping[str, Plain], path: tuple[str | int, ...]) -> bool:
    at = fields
    for depth, key in enumerate(path):
        if depth and set(at) <= {"."}:
            return True  # a single owner of everything below
        inner = at.get(f"f:{key}")
        if inner is None:
            return any(name[:2] in {"k:", "v:"} for name in at)
        at = plain_map(inner)
    return True


def find_value_path(entry: ManagerEntry, path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Return the part of an owned path that is one value: a list, an atomic map, or the complete path."""
    at = entry.fields
    for depth, key in enumerate(path):
        if depth and set(at) <= {"."}:
            return path[:depth]
        at = plain_map(at.get(f"f:{key}"))
    return path


def is_shared(live: Mapping[str, Plain]) -> bool:
    """Return whether another manager owns a field of the object's spec."""
    return any(
        "f:spec" in entry.fields
        for entry in parse_entries(live)
        if entry.manager != MANAGER and not entry.subresource
    )


def classify_owner(manager: str) -> OwnerKind:
    """Return the kind of a field manager, by parts of its name."""
    name = manager.lower()
    if any(part in name for part in _GITOPS):
        return "gitops"
    if any(part in name for part in _CONTROLLERS):
        return "controller"
    return "people"
