"""The types of objects as server-side apply sees them: which lists and maps merge, and what is filled in."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Literal, NamedTuple

import yaml

from tests.rig.sources import crd_folder

Body = dict[str, Any]
Scalar = Literal["", "numeric", "string", "boolean"]
NO_DEFAULT: Final = object()


@dataclass(frozen=True, eq=False)
class Type:
    """What may be at one place of an object."""

    form: Literal["scalar", "list", "map"]
    scalar: Scalar = ""
    """Of a scalar; empty where any is allowed."""

    is_atomic: bool = False
    """Of a list or map: whether it has one owner as a whole."""

    fields: dict[str, Type] = field(default_factory=dict)
    """The named fields of a map."""

    element: Type | None = None
    """Of a list's items, or of a map's keys that have no name of their own; None where there are none."""

    keys: tuple[str, ...] = ()
    """By which the items of a list are told apart; empty for a set."""

    default: Any = NO_DEFAULT

    def of(self, key: str) -> Type | None:
        """Return the type of a map's key; None where the schema has no such field."""
        return self.fields.get(key, self.element)


TEXT: Final = Type("scalar", "string")
NUMBER: Final = Type("scalar", "numeric")
FLAG: Final = Type("scalar", "boolean")
TEXTS: Final = Type("map", element=TEXT)

_OWNER: Final = Type(
    "map",
    is_atomic=True,
    fields={
        **dict.fromkeys(("apiVersion", "kind", "name", "uid"), TEXT),
        **dict.fromkeys(("blockOwnerDeletion", "controller"), FLAG),
    },
)
_METADATA: Final = Type(
    "map",
    fields={
        **dict.fromkeys(
            (
                "name", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp",
                "generateName", "selfLink",
            ),
            TEXT,
        ),
        "generation": NUMBER,
        "deletionGracePeriodSeconds": NUMBER,
        "labels": TEXTS,
        "annotations": TEXTS,
        "finalizers": Type("list", element=TEXT),
        "ownerReferences": Type("list", element=_OWNER, keys=("uid",)),
        "managedFields": Type("list", is_atomic=True),
    },
)  # fmt: skip


class Resource(NamedTuple):
    """One kind of object, and how the server treats it."""

    api_version: str
    kind: str
    plural: str
    type: Type
    is_custom: bool = False
    """Whether a CRD defines it: it has a generation, a status of its own, and needs a version to be replaced."""

    is_namespaced: bool = False
    can_replace_unseen: bool = False
    """Whether a PUT may leave the resourceVersion out."""

    is_created_by_put: bool = False
    crd: Body | None = None

    @property
    def group(self) -> str:
        """Return the API group; empty for the core."""
        return self.api_version.rpartition("/")[0]

    @property
    def root(self) -> str:
        """Return the path below which the server has its objects."""
        return f"/apis/{self.api_version}" if self.group else f"/api/{self.api_version}"


def _built_in(api_version: str, kind: str, fields: dict[str, Type]) -> Resource:
    root = Type("map", fields={"apiVersion": TEXT, "kind": TEXT, "metadata": _METADATA, **fields})
    return Resource(api_version, kind, f"{kind.lower()}s", root)


NAMESPACE: Final = _built_in("v1", "Namespace", {})
CONFIG_MAP: Final = _built_in(
    "v1", "ConfigMap", {"data": TEXTS, "binaryData": TEXTS, "immutable": FLAG}
)._replace(is_namespaced=True, can_replace_unseen=True)
_LEASE_SPEC: Final = {
    **dict.fromkeys(("holderIdentity", "acquireTime", "renewTime", "strategy", "preferredHolder"), TEXT),
    **dict.fromkeys(("leaseDurationSeconds", "leaseTransitions"), NUMBER),
}
LEASE: Final = _built_in(
    "coordination.k8s.io/v1", "Lease", {"spec": Type("map", fields=_LEASE_SPEC)}
)._replace(is_namespaced=True, is_created_by_put=True)
EVENT: Final = _built_in("v1", "Event", {"type": TEXT, "reason": TEXT, "message": TEXT})._replace(
    is_namespaced=True
)
"""Nobody writes one here; they are asked for."""

CRD: Final = _built_in("apiextensions.k8s.io/v1", "CustomResourceDefinition", {})


@cache
def resources() -> tuple[Resource, ...]:
    """Return every kind that is served, Karpenter's by the CRDs of its release."""
    files = sorted(crd_folder().glob("karpenter*.yaml"))
    crds = [yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader) for file in files]
    return (NAMESPACE, CONFIG_MAP, LEASE, EVENT, CRD, *map(_custom, crds))


def _custom(crd: Body) -> Resource:
    spec = crd["spec"]
    (version,) = spec["versions"]
    root = _type(version["schema"]["openAPIV3Schema"])
    fields = {**root.fields, "metadata": _METADATA}
    return Resource(
        f"{spec['group']}/{version['name']}",
        spec["names"]["kind"],
        spec["names"]["plural"],
        Type("map", fields=fields),
        is_custom=True,
        is_namespaced=spec["scope"] == "Namespaced",
        crd=crd,
    )


def _type(schema: Body) -> Type:
    default = schema.get("default", NO_DEFAULT)
    if schema.get("type") == "array":
        merges = schema.get("x-kubernetes-list-type", "atomic")
        keys = tuple(schema.get("x-kubernetes-list-map-keys", ()))
        return Type(
            "list", is_atomic=merges == "atomic", element=_type(schema["items"]), keys=keys, default=default
        )
    if schema.get("type") == "object":
        others = schema.get("additionalProperties")
        return Type(
            "map",
            is_atomic=schema.get("x-kubernetes-map-type") == "atomic",
            fields={name: _type(part) for name, part in schema.get("properties", {}).items()},
            element=_type(others) if isinstance(others, dict) else None,
            default=default,
        )
    return Type("scalar", _SCALARS.get(schema.get("type", ""), ""), default=default)


_SCALARS: Final[dict[str, Scalar]] = {
    "string": "string",
    "integer": "numeric",
    "number": "numeric",
    "boolean": "boolean",
}
