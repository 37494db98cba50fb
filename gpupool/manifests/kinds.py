"""Identity of Kubernetes objects, and the kinds and versions that Karpenter supports."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from gpupool.codes import Code
from gpupool.findings import Finding
from gpupool.yamlio.located import find, mapping, text_at
from gpupool.yamlio.scalars import quote_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.yamlio.located import Located

CURRENT = {
    "NodePool": "karpenter.sh/v1",
    "NodeOverlay": "karpenter.sh/v1alpha1",
    "EC2NodeClass": "karpenter.k8s.aws/v1",
}
"""The kinds that are read, with their `apiVersion`."""

SKIPPED_KINDS = frozenset({"NodeClaim"})
"""Kinds that Karpenter creates itself."""

OLD = {
    ("karpenter.sh/v1beta1", "NodePool"): "NodePool",
    ("karpenter.k8s.aws/v1beta1", "EC2NodeClass"): "EC2NodeClass",
    ("karpenter.sh/v1alpha5", "Provisioner"): "NodePool",
    ("karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate"): "EC2NodeClass",
}
"""Kinds in versions before v1, and the kind that replaced each."""

OWN_GROUP = "gpupool.dev"
_GROUPS = frozenset({"karpenter.sh", "karpenter.k8s.aws"})


class Identity(NamedTuple):
    """API version, kind and name of an object."""

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
    """Read the identity of an object; None if `apiVersion` or `kind` is missing or not a string."""
    api_version, kind = text_at(node, "apiVersion"), text_at(node, "kind")
    if not (api_version and kind):
        return None
    return Identity(api_version, kind, text_at(node, "metadata", "name"))


def is_current(identity: Identity) -> bool:
    """Return whether this is a current Karpenter object."""
    return CURRENT.get(identity.kind) == identity.api_version


def describe_missing(node: Located) -> str:
    """Describe why a document is not an object."""
    if not isinstance(node.value, dict):
        shape = "a list" if isinstance(node.value, list) else "a single value"
        return f"the document is {shape}, not a Kubernetes object"
    absent = [f"`{key}`" for key in ("apiVersion", "kind") if not text_at(node, key)]
    return f"not a Kubernetes object: {' and '.join(absent)} {'are' if absent[1:] else 'is'} missing"


def find_unknown_version(identity: Identity, node: Located) -> Iterator[Finding]:
    """Find an unknown kind or version in Karpenter's API groups; nothing for objects of other groups."""
    current = CURRENT.get(identity.kind)
    is_core = not identity.group
    if identity.kind in SKIPPED_KINDS or (identity.group not in _GROUPS and not (is_core and current)):
        return
    wrong_field, message = (
        "apiVersion",
        f"{identity.kind} does not exist in {quote_value(identity.api_version)}",
    )
    fix = f"write `apiVersion: {current}`"
    if not current:
        wrong_field = "kind"
        message = f"unknown kind {quote_value(identity.kind)} in {quote_value(identity.api_version)}"
        matches = get_close_matches(identity.kind, CURRENT, n=1)
        fix = f"write `kind: {matches[0]}`" if matches else f"use one of {', '.join(CURRENT)}"
    at = (find(node, wrong_field) or node).at
    yield Finding(Code.UNKNOWN_VERSION, message, at, fix, path=wrong_field, object=identity.label)


def list_items(identity: Identity, node: Located) -> list[Located] | None:
    """Return the objects in a list object; None if this is not a list."""
    items = mapping(node).get("items")
    if not identity.kind.endswith("List") or items is None or not isinstance(items.value, list):
        return None
    return items.value


def read_item_identity(list_identity: Identity, item: Located) -> Identity | None:
    """Read the identity of an object in a list; without its own kind it has the kind of the list's items."""
    if text_at(item, "apiVersion") or text_at(item, "kind") or not isinstance(item.value, dict):
        return read_identity(item)
    kind = list_identity.kind.removesuffix("List")
    return Identity(list_identity.api_version, kind, text_at(item, "metadata", "name")) if kind else None
