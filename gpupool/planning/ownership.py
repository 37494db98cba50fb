"""Who owns which field of an object, as the API server keeps it under `metadata.managedFields`.

The format (`fieldsV1`): `f:KEY` is a field, `k:{…}` and `v:…` are items of lists that merge, `.` is the thing
itself; `{}` is a whole value: a scalar, or a list or map that has one owner only.
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
WHOLE: Final = ("spec", "template", "metadata", "labels")
"""The one map that has one owner as a whole (`x-kubernetes-map-type: atomic`): NodePool's, from 1.13 on."""

_GITOPS: Final = (
    "argocd", "kustomize-controller", "helm", "terraform", "pulumi", "flux", "kluctl", "kapp", "fleet",
)  # fmt: skip
_CONTROLLERS: Final = ("karpenter", "cluster-autoscaler", "controller", "operator", "eks")


class ManagerEntry(NamedTuple):
    """What one manager owns by one way of writing."""

    manager: str
    is_apply: bool
    subresource: str
    api_version: str
    time: str
    fields: Mapping[str, Plain]


def parse_entries(live: Mapping[str, Plain]) -> list[ManagerEntry]:
    """Return every entry of an object's managed fields."""
    said = plain_map(live.get("metadata")).get("managedFields")
    return [_entry(plain_map(each)) for each in plain_list(said)]


def _entry(said: Mapping[str, Plain]) -> ManagerEntry:
    return ManagerEntry(
        manager=plain_text(said.get("manager")),
        is_apply=said.get("operation") == _APPLY,
        subresource=plain_text(said.get("subresource")),
        api_version=plain_text(said.get("apiVersion")),
        time=plain_text(said.get("time")),
        fields=plain_map(said.get("fieldsV1")),
    )


def find_applied_entry(live: Mapping[str, Plain]) -> ManagerEntry | None:
    """Return what gpupool applied of an object; None where it never did."""
    own = (
        each
        for each in parse_entries(live)
        if each.manager == MANAGER and each.is_apply and not each.subresource
    )
    return next(own, None)


def extract_owned(live: Plain, fields: Mapping[str, Plain]) -> Plain:
    """Return the part of a live object that one entry owns; a list with owned items is given whole."""
    if not isinstance(live, dict) or not fields:
        return live
    found: dict[str, Plain] = {}
    for key, inside in fields.items():
        prefix, _, name = key.partition(":")
        if prefix == "f" and name in live:
            found[name] = extract_owned(live[name], plain_map(inside))
    return found


def is_applied_already(live: Mapping[str, Plain], body: Mapping[str, Plain]) -> bool:
    """Return whether to apply `body` would change nothing at all: neither a value, nor who owns a field.

    It is said only where the object itself proves it. False means that the API server has to be asked. (Where
    a newer CRD gives a map one owner, an apply would note that, and nothing else; that waits for a change.)
    """
    own = find_applied_entry(live)
    if own is None or own.api_version != body.get("apiVersion"):
        return False
    said = {key: value for key, value in body.items() if key not in _NOT_OWNED}
    metadata = {key: value for key, value in plain_map(body.get("metadata")).items() if key not in _IDENTITY}
    said.pop("metadata", None)
    if metadata:
        said["metadata"] = metadata
    return _same(said, dict(live), own.fields, ())


def _same(said: Mapping[str, Plain], live: Plain, fields: Mapping[str, Plain], path: tuple[str, ...]) -> bool:
    """Return whether a map's keys are those that are owned, and its values those that are there.

    What was applied owns no map itself (`.`) beside its keys; an apply would take that out.
    """
    if not isinstance(live, dict) or fields.keys() != {f"f:{key}" for key in said}:
        return False
    return all(
        key in live and _same_value(value, live[key], plain_map(fields[f"f:{key}"]), (*path, key))
        for key, value in said.items()
    )


def _same_value(said: Plain, live: Plain, fields: Mapping[str, Plain], path: tuple[str, ...]) -> bool:
    if not fields:
        # One owner for all of it: a scalar, an empty map, a list, or a map that is kept whole. Any other map
        # whose keys are not owned one by one proves nothing.
        whole = not isinstance(said, dict) or not said or path == WHOLE
        return whole and is_equal(said, live)
    return isinstance(said, dict) and _same(said, live, fields, path)


def is_equal(one: Plain, other: Plain) -> bool:
    """Compare as JSON does: `true` is not 1, and 1 is 1.0."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_equal(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_equal, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return one == other


def find_owner(live: Mapping[str, Plain], path: tuple[str | int, ...]) -> ManagerEntry | None:
    """Return the last writer of a field; None where nobody owns it."""
    owning = [each for each in parse_entries(live) if _owns(each.fields, path)]
    return max(owning, key=lambda each: each.time, default=None)


def _owns(fields: Mapping[str, Plain], path: tuple[str | int, ...]) -> bool:
    at = fields
    for depth, key in enumerate(path):
        if depth and set(at) <= {"."}:
            return True  # all of what is here
        inner = at.get(f"f:{key}")
        if inner is None:
            return any(name[:2] in {"k:", "v:"} for name in at)
        at = plain_map(inner)
    return True


def find_value_path(entry: ManagerEntry, path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Return the part of an owned path that is one value: a list, or a map that is kept whole, or all of it."""
    at = entry.fields
    for depth, key in enumerate(path):
        if depth and set(at) <= {"."}:
            return path[:depth]
        at = plain_map(at.get(f"f:{key}"))
    return path


def is_shared(live: Mapping[str, Plain]) -> bool:
    """Return whether anybody beside gpupool owns anything of what the object is to be."""
    return any(
        "f:spec" in each.fields
        for each in parse_entries(live)
        if each.manager != MANAGER and not each.subresource
    )


def classify_owner(manager: str) -> OwnerKind:
    """Return what kind of writer a field manager is, by the names that they are known under."""
    name = manager.lower()
    if any(known in name for known in _GITOPS):
        return "gitops"
    if any(known in name for known in _CONTROLLERS):
        return "controller"
    return "people"
