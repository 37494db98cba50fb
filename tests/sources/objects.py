"""Every Karpenter object that a source document shows, and what the blueprint has to say otherwise."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import yaml

from tests.sources import ryvn
from tests.sources.documents import document, flat_text, map_texts, object_texts, without_line_numbers
from tests.sources.indentation import rebuilt

KINDS = ("NodePool", "EC2NodeClass")


class Key(NamedTuple):
    """One object of one document."""

    source: str
    kind: str
    name: str


@dataclass(frozen=True)
class Correction:
    """A place where the document's object can't be taken as it is."""

    reason: str
    adds: dict[str, Any] = field(default_factory=dict)
    removes: tuple[str, ...] = ()

    def applied(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Return the document's spec with the correction in it."""
        return {key: value for key, value in spec.items() if key not in self.removes} | self.adds


def _identity(cluster: str) -> dict[str, Any]:
    """Return what a class gets from the cluster's name."""
    terms = [{"tags": {"karpenter.sh/discovery": cluster}}]
    return {
        "role": f"KarpenterNodeRole-{cluster}",
        "subnetSelectorTerms": terms,
        "securityGroupSelectorTerms": terms,
    }


_VENDOR = "the vendor's platform fills in role, subnets and security groups; the guide does not show them"
CORRECTIONS: dict[Key, tuple[Correction, ...]] = {
    Key("000", "EC2NodeClass", "gpu-node-class"): (Correction(_VENDOR, _identity("ryvn")),),
    Key("000", "EC2NodeClass", "gpu-node-class-nvme"): (Correction(_VENDOR, _identity("ryvn")),),
    Key("003", "EC2NodeClass", "gpu-nodes"): (
        Correction("T70: without these the API server refuses the class", _identity("ml")),
        Correction("T71: a script of comments only, with which no node can join", removes=("userData",)),
    ),
}
EXTERNAL = {"000": set(), "001": {"default", "inferentia-nodes"}, "002": {"gpu-nodeclass"}, "003": set()}
"""Classes that a document's pools refer to and that it defines nowhere (T27, T68)."""


def shown(source: str) -> dict[Key, dict[str, Any]]:
    """Return the spec of every NodePool and EC2NodeClass that a document shows, uncorrected."""
    return {Key(source, kind, name): spec for kind, name, spec in _READERS[source](document(source))}


def expected(key: Key, spec: dict[str, Any]) -> dict[str, Any]:
    """Return a document's spec with its corrections."""
    for correction in CORRECTIONS.get(key, ()):
        spec = correction.applied(spec)
    return spec


def _ryvn_objects(text: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Read the guide's maps; where one name is shown twice, the second is a variant with a name of its own."""
    ebs, nvme = (yaml.safe_load(part)["gpu-node-class"] for part in map_texts(text, "gpu-node-class"))
    yield "EC2NodeClass", "gpu-node-class", ebs
    yield "EC2NodeClass", "gpu-node-class-nvme", nvme
    one, eight = (yaml.safe_load(part)["gpu-training"] for part in map_texts(text, "gpu-training"))
    yield "NodePool", "gpu-training", ryvn.node_pool_spec(one)
    yield "NodePool", "gpu-training-scaled", ryvn.node_pool_spec(eight)
    yield "NodePool", "gpu-inference", ryvn.node_pool_spec(ryvn.g6_pool(one))


def _kubernetes_objects(text: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for part in object_texts(without_line_numbers(text)):
        read = yaml.safe_load(part)
        if read["kind"] in KINDS:
            yield read["kind"], read["metadata"]["name"], read["spec"]


def _flat_object(text: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    read = rebuilt(flat_text(text))
    yield read["kind"], read["metadata"]["name"], read["spec"]


_READERS = {
    "000": _ryvn_objects,
    "001": _kubernetes_objects,
    "002": _flat_object,
    "003": _kubernetes_objects,
}
