"""Karpenter's CRDs as the API server serves them: read, and made into digests that can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool import objects
from gpupool.cluster.client import Request
from gpupool.cluster.parallel import map_parallel
from gpupool.cluster.rejections import raise_rejection
from gpupool.cluster.resources import EC2_NODE_CLASS, NODE_CLAIM, NODE_OVERLAY, NODE_POOL, crd_path
from gpupool.karpenter.crd_digests import STRUCTURES, WHOLE
from gpupool.yamlio.located import plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpupool.cluster.client import Cluster
    from gpupool.yamlio.located import Plain

NEEDED: Final = tuple(kind.crd for kind in (EC2_NODE_CLASS, NODE_OVERLAY, NODE_POOL, NODE_CLAIM))
"""The CRDs of the kinds that gpupool writes or lists."""

CRDS: Final = (*NEEDED, "capacitybuffers.autoscaling.x-k8s.io")
"""Every CRD that Karpenter for AWS ships."""

_FORBIDDEN, _NOT_FOUND = 403, 404
_TEXT: Final = "description"
_RULES: Final = "x-kubernetes-validations"
_NAMED: Final = frozenset({"properties", "patternProperties"})
"""Maps whose keys are names of fields, which may be any word."""


class StoredCrds(NamedTuple):
    """Karpenter's CRDs as a server has them."""

    bodies: Mapping[str, Mapping[str, Plain]]
    """By name; what is not installed is not in here."""

    unread: tuple[str, ...]
    """Those that the user may not read."""


def read_crd_digests(cluster: Cluster) -> dict[str, str]:
    """Return a digest of each of Karpenter's CRDs, by name; none of those that are not there or can't be read.

    Raises:
        ClusterError: where the server does not answer, or refuses for another reason than missing rights.
    """
    return {name: digest_crd(body) for name, body in read_stored_crds(cluster).bodies.items()}


def read_stored_crds(cluster: Cluster) -> StoredCrds:
    """Read Karpenter's CRDs, each with one request.

    Raises:
        ClusterError: where the server does not answer, or refuses for another reason than missing rights.
    """
    requests = [Request("GET", crd_path(name)) for name in CRDS]
    bodies: dict[str, Mapping[str, Plain]] = {}
    unread: list[str] = []
    for name, request, answer in zip(
        CRDS, requests, map_parallel(len(CRDS), cluster.ask, requests), strict=True
    ):
        if answer.ok:
            bodies[name] = answer.body
        elif answer.status == _FORBIDDEN:
            unread.append(name)
        elif answer.status != _NOT_FOUND:
            raise_rejection(request, answer, f"read the CRD {name}")
    return StoredCrds(bodies, tuple(unread))


def uid_of_crd(cluster: Cluster, name: str) -> str:
    """Return the uid of a CRD; empty where does not exist or can't be read.

    Raises:
        ClusterError: where the server does not answer, or refuses for another reason than missing rights.
    """
    request = Request("GET", crd_path(name))
    answer = cluster.ask(request)
    if not answer.ok and answer.status not in {_FORBIDDEN, _NOT_FOUND}:
        raise_rejection(request, answer, f"read the CRD {name}")
    return plain_text(plain_map(answer.body.get("metadata")).get("uid")) if answer.ok else ""


def digest_crd(crd: Mapping[str, Plain]) -> str:
    """Return a sha256 of what a CRD, as the server stores it, does with objects: fields, defaults and rules.

    Descriptions, columns and whatever else no object is held against are left out.
    """
    return objects.digest(_versions(crd, frozenset({_TEXT})))


def digest_structure(crd: Mapping[str, Plain]) -> str:
    """Return the same without the rules over values.

    Those of Karpenter's core and of its provider for AWS differ in nothing else.
    """
    return objects.digest(_versions(crd, frozenset({_TEXT, _RULES})))


def find_minors(name: str, crd: Mapping[str, Plain]) -> tuple[str, ...]:
    """Return the Karpenter minors whose CRD of that name has these fields, oldest first; none if unknown."""
    said = digest_structure(crd)
    return tuple(minor for minor, known in STRUCTURES.get(name, {}).items() if known == said)


def has_rules_of(name: str, crd: Mapping[str, Plain], minor: str) -> bool:
    """Return whether a CRD is, rules included, that of Karpenter for AWS; True where nobody knows that one."""
    return WHOLE[name].get(minor) in {None, digest_crd(crd)}


def _versions(crd: Mapping[str, Plain], left_out: frozenset[str]) -> Plain:
    spec = plain_map(crd.get("spec"))
    return [
        {
            "name": version.get("name"),
            "served": version.get("served"),
            "storage": version.get("storage"),
            "schema": _schema(plain_map(version.get("schema")).get("openAPIV3Schema"), left_out),
        }
        for version in map(plain_map, plain_list(spec.get("versions")))
    ]


def _schema(part: Plain, left_out: frozenset[str]) -> Plain:
    """Return a schema without some of its words; a field that has the name of such a word stays."""
    if isinstance(part, list):
        return [_schema(each, left_out) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        word: {name: _schema(inner, left_out) for name, inner in said.items()}
        if word in _NAMED and isinstance(said, dict)
        else _schema(said, left_out)
        for word, said in part.items()
        if word not in left_out
    }
