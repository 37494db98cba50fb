"""Which Kubernetes object a document is, and whether Karpenter has it in this version."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from gpupool.codes import Code
from gpupool.findings import Finding
from gpupool.yamlio.located import find, mapping, text_at
from gpupool.yamlio.scalars import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.yamlio.located import Located

CURRENT = {
    "NodePool": "karpenter.sh/v1",
    "NodeOverlay": "karpenter.sh/v1alpha1",
    "EC2NodeClass": "karpenter.k8s.aws/v1",
}
"""The kinds that are looked at, with their `apiVersion`."""

SKIPPED_KINDS = frozenset({"NodeClaim"})
"""Kinds of Karpenter's that it makes itself."""

OLD = {
    ("karpenter.sh/v1beta1", "NodePool"): "NodePool",
    ("karpenter.k8s.aws/v1beta1", "EC2NodeClass"): "EC2NodeClass",
    ("karpenter.sh/v1alpha5", "Provisioner"): "NodePool",
    ("karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate"): "EC2NodeClass",
}
"""What Karpenter had before v1, and the kind that it has instead."""

_GROUPS = frozenset({"karpenter.sh", "karpenter.k8s.aws"})
OWN_GROUP = "gpupool.dev"


class Identity(NamedTuple):
    """What an object says that it is."""

    api_version: str
    kind: str
    name: str

    @property
    def group(self) -> str:
        """Return the API group; empty for core Kubernetes."""
        return self.api_version.rpartition("/")[0]

    @property
    def label(self) -> str:
        """Return the object as findings name it: `NodePool/chat`."""
        return f"{self.kind}/{self.name}" if self.name else self.kind


def read_identity(node: Located) -> Identity | None:
    """Return which object this is; None where `apiVersion` or `kind` is missing or no text."""
    api_version, kind = text_at(node, "apiVersion"), text_at(node, "kind")
    if not (api_version and kind):
        return None
    return Identity(api_version, kind, text_at(node, "metadata", "name"))


def is_current(found: Identity) -> bool:
    """Return whether this is an object to look at."""
    return CURRENT.get(found.kind) == found.api_version


def describe_missing(node: Located) -> str:
    """Return why a document is no object."""
    if not isinstance(node.value, dict):
        what = "a list" if isinstance(node.value, list) else "a single value"
        return f"the document is {what}, not a Kubernetes object"
    absent = [f"`{key}`" for key in ("apiVersion", "kind") if not text_at(node, key)]
    return f"not a Kubernetes object: {' and '.join(absent)} {'are' if absent[1:] else 'is'} missing"


def find_unknown_version(found: Identity, node: Located) -> Iterator[Finding]:
    """Refuse a kind or version that Karpenter's groups do not have; nothing for objects of others."""
    current = CURRENT.get(found.kind)
    is_core = not found.group
    if found.kind in SKIPPED_KINDS or (found.group not in _GROUPS and not (is_core and current)):
        return
    wrong, message = "apiVersion", f"{found.kind} does not exist in {shown(found.api_version)}"
    fix = f"write `apiVersion: {current}`"
    if not current:
        wrong = "kind"
        message = f"unknown kind {shown(found.kind)} in {shown(found.api_version)}"
        near = get_close_matches(found.kind, CURRENT, n=1)
        fix = f"write `kind: {near[0]}`" if near else f"use one of {', '.join(CURRENT)}"
    at = (find(node, wrong) or node).at
    yield Finding(Code.UNKNOWN_VERSION, message, at, fix, path=wrong, object=found.label)


def list_items(found: Identity, node: Located) -> list[Located] | None:
    """Return the objects in a list; None where this is no list."""
    items = mapping(node).get("items")
    if not found.kind.endswith("List") or items is None or not isinstance(items.value, list):
        return None
    return items.value


def read_item_identity(found: Identity, item: Located) -> Identity | None:
    """Return which object stands in a list; one that says nothing is what the list is made of."""
    if text_at(item, "apiVersion") or text_at(item, "kind") or not isinstance(item.value, dict):
        return read_identity(item)
    kind = found.kind.removesuffix("List")
    return Identity(found.api_version, kind, text_at(item, "metadata", "name")) if kind else None
