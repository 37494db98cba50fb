"""Karpenter's CRDs in a cluster, and digests that tell their Karpenter version."""

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
_DESCRIPTION: Final = "description"
_RULES: Final = "x-kubernetes-validations"
_FIELD_MAPS: Final = frozenset({"properties", "patternProperties"})
"""Maps whose keys are names of fields, and so any text."""


class StoredCrds(NamedTuple):
    """Karpenter's CRDs in a cluster."""

    bodies: Mapping[str, Mapping[str, Plain]]
    """The installed CRDs by name."""

    unread: tuple[str, ...]
    """CRDs that the user has no permission to read."""


def read_crd_digests(cluster: Cluster) -> dict[str, str]:
    """Return a digest of each of Karpenter's CRDs that is installed and readable, by name.

    Raises:
        ClusterError: where the server does not answer, or rejects a request for another reason than RBAC.
    """
    return {name: digest_crd(body) for name, body in read_stored_crds(cluster).bodies.items()}


def read_stored_crds(cluster: Cluster) -> StoredCrds:
    """Read Karpenter's CRDs, each with one request.

    Raises:
        ClusterError: where the server does not answer, or rejects a request for another reason than RBAC.
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
    """Return the uid of a CRD; empty where it does not exist or can't be read.

    Raises:
        ClusterError: where the server does not answer, or rejects a request for another reason than RBAC.
    """
    request = Request("GET", crd_path(name))
    answer = cluster.ask(request)
    if not answer.ok and answer.status not in {_FORBIDDEN, _NOT_FOUND}:
        raise_rejection(request, answer, f"read the CRD {name}")
    return plain_text(plain_map(answer.body.get("metadata")).get("uid")) if answer.ok else ""


def digest_crd(crd: Mapping[str, Plain]) -> str:
    """Return a sha256 of the part of a stored CRD that affects objects: fields, defaults and rules.

    Descriptions, columns and everything else that objects are not validated against are left out.
    """
    return objects.digest(_versions(crd, frozenset({_DESCRIPTION})))


def digest_structure(crd: Mapping[str, Plain]) -> str:
    """Return a sha256 of a stored CRD without its validation rules.

    The CRDs of Karpenter's core and of its AWS provider differ only in rules.
    """
    return objects.digest(_versions(crd, frozenset({_DESCRIPTION, _RULES})))


def find_minors(name: str, crd: Mapping[str, Plain]) -> tuple[str, ...]:
    """Return the Karpenter minors whose CRD of that name has these fields, oldest first; empty if unknown."""
    structure = digest_structure(crd)
    return tuple(minor for minor, expected in STRUCTURES.get(name, {}).items() if expected == structure)


def has_rules_of(name: str, crd: Mapping[str, Plain], minor: str) -> bool:
    """Return whether a CRD has the rules of Karpenter for AWS; True where that minor's rules are unknown."""
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


def _schema(schema: Plain, left_out: frozenset[str]) -> Plain:
    """Return a schema without some of its keywords; fields with the name of such a keyword stay."""
    if isinstance(schema, list):
        return [_schema(item, left_out) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        keyword: {name: _schema(inner, left_out) for name, inner in value.items()}
        if keyword in _FIELD_MAPS and isinstance(value, dict)
        else _schema(value, left_out)
        for keyword, value in schema.items()
        if keyword not in left_out
    }
