"""Plan values: every change to a cluster and the state it was calculated from, without secret values.

The classes are also the format of a plan file: its keys are the field names in camel case.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - plan files are checked against these types
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, TypeAlias

from gpupool.objects import Ref

FORMAT_VERSION: Final = "1.3"

Action: TypeAlias = Literal["create", "adopt", "update", "delete", "no-op"]
Operation: TypeAlias = Literal["add", "remove", "replace"]
ChangeCause: TypeAlias = Literal["intent", "drift", "default"]
Verified: TypeAlias = Literal["server", "read-only", "offline"]
"""Who checked a change: the API server in a dry run, gpupool from what it could read, gpupool alone."""

OwnerKind: TypeAlias = Literal["people", "gitops", "controller"]


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


class _Serialized:
    """Base of the classes in a plan file: keys in camel case, unknown keys rejected."""

    __slots__ = ()
    __pydantic_config__: ClassVar[Any] = {"alias_generator": _camel, "extra": "forbid"}


@dataclass(frozen=True, slots=True)
class BlueprintPlace(_Serialized):
    """A place in the blueprint."""

    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class BlueprintCause(_Serialized):
    """A value of the blueprint that causes a change."""

    place: BlueprintPlace
    """Its place; for a value of a shipped profile, the pool's `profile:` line."""

    layer: str
    """The layer that sets it, such as `built-in`, `defaults`, `pool` or `profile training (line 12)`."""

    field: str
    """The field in its pool or class, as in `limits.usdPerHour`; empty where no field sets it."""


@dataclass(frozen=True, slots=True)
class FieldChange(_Serialized):
    """One leaf that differs between the live object and the planned one."""

    path: str
    """With the keys of list items in place of numbers, as in `spec.taints[nvidia.com/gpu:NoSchedule]`."""

    op: Operation
    before: Any
    after: Any
    semantic: bool
    """False where both values are equivalent: `1000` and `1k`, a list in another order."""

    owner: str
    """The field manager that wrote it last; empty where it has none."""

    cause: ChangeCause
    """A change of the blueprint, a change in the cluster, or a default of the API."""

    causes: tuple[BlueprintCause, ...] = ()
    """The blueprint's values that cause it; empty in plans of format 1.2 and older."""


@dataclass(frozen=True, slots=True)
class CauseSummary(_Serialized):
    """Changed fields that follow from one value of the blueprint."""

    cause: BlueprintCause
    before: str
    """The value at the last apply; empty where it is unknown."""

    after: str
    """The value now; empty where it is no longer set."""

    effect: str
    """The result, as in `4 budgets`."""

    paths: tuple[str, ...]
    """The changed fields, as in `fields`."""


@dataclass(frozen=True, slots=True)
class Conflict(_Serialized):
    """A field of the blueprint that another manager owns with another value."""

    path: str
    manager: str
    kind: OwnerKind
    when: str
    """When that manager last wrote the object, in RFC 3339; empty where unknown."""

    cause: BlueprintCause | None = None
    """The blueprint's value; None in plans of format 1.2 and older."""


@dataclass(frozen=True, slots=True)
class Residue(_Serialized):
    """A live value under `spec` or the template that the blueprint does not set and gpupool does not own."""

    path: str
    value: Any
    owner: str


@dataclass(frozen=True, slots=True)
class Admission(_Serialized):
    """A leaf that an admission policy or webhook changes on its way into the cluster."""

    path: str
    said: Any
    """The value in the blueprint; None where it does not set the leaf."""

    stored: Any
    """The value that the API server would store; None for no value."""

    place: BlueprintPlace | None
    """Where the blueprint sets it."""


@dataclass(frozen=True, slots=True)
class Rejection(_Serialized):
    """Why the API server would reject an object, at the place in the blueprint that causes it."""

    field: str
    message: str
    place: BlueprintPlace | None
    cause: BlueprintCause | None = None
    """The blueprint's value at `place`; None for the object as a whole, and in plans of format 1.2."""


@dataclass(frozen=True, slots=True)
class Precondition(_Serialized):
    """The state of an object when the plan was made: `apply PLAN` requires that it is unchanged."""

    uid: str
    """Empty where the object did not exist."""

    generation: int
    fingerprint: str
    """A digest of its own labels and annotations and of the values at `paths`."""

    paths: tuple[tuple[str, ...], ...] = ()
    """The paths that the plan changes, as keys; a list is one value."""


@dataclass(frozen=True, slots=True)
class Change(_Serialized):
    """The planned actions on one object."""

    address: str
    """`KIND/NAME`, as in `NodePool/a100-spot`."""

    actions: tuple[Action, ...]
    place: BlueprintPlace | None
    """Where it begins in the blueprint; None for a deletion."""

    reason: str
    before: Any
    """The live object without the fields that the server maintains; None where it does not exist."""

    after: Any
    """The object as it would be; None where it is deleted."""

    fields: tuple[FieldChange, ...]
    body: Any
    """The object that is sent; a sensitive leaf is `{"$sensitive": DIGEST}`. None for a deletion."""

    pre: Precondition
    verified: Verified
    conflicts: tuple[Conflict, ...] = ()
    residue: tuple[Residue, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    admissions: tuple[Admission, ...] = ()
    blocked: str = ""
    """Why it can't be done now: it is being deleted, belongs to another blueprint, is foreign."""

    leaving: bool = False
    """Whether it is blocked because it is being deleted: that blocks no other change."""

    force: bool = False
    """Whether fields of other owners are taken over, as `onConflict` allows."""

    managed_by: tuple[str, ...] = ()
    """Other tools that manage the object, by their names for `--adopt-from`."""

    node_claims: int | None = None
    """The number of NodeClaims of a pool or class that is deleted."""

    summaries: tuple[CauseSummary, ...] = ()
    """The changes that follow from one value of the blueprint, each as one line."""

    inputs: Mapping[str, str] = field(default_factory=dict)
    """The inputs of its calculated values, by field; the inventory keeps them for the next plan."""

    @property
    def ref(self) -> Ref:
        """Return the kind and the name of the object."""
        return Ref.parse(self.address)

    @property
    def writes(self) -> bool:
        """Return whether the change writes or deletes the object."""
        return self.actions != ("no-op",)


@dataclass(frozen=True, slots=True)
class PlanTarget(_Serialized):
    """The cluster that a plan is for."""

    uid: str
    """The uid of its kube-system namespace."""

    server: str
    context: str
    crds: Mapping[str, str]
    """A digest of the served schema of each CRD, by its name; empty where they can't be read."""


@dataclass(frozen=True, slots=True)
class PlanSource(_Serialized):
    """The input of a plan."""

    blueprint: str
    files: Mapping[str, str]
    """A sha256 of each file, by its name on the command line; keyed where they hold sensitive values."""

    render: str
    """A sha256 of all rendered objects, with digests in place of sensitive values."""

    commit: str
    """The git commit, with `-dirty` where files were changed since; empty outside of a repository."""

    sensitive: tuple[str, ...] = ()
    """The blueprint's `sensitive`."""

    features: tuple[str, ...] = ()
    """The blueprint's `cluster.features`: Karpenter's feature gates that are on; since format 1.3."""

    @property
    def is_overlay_gate_on(self) -> bool:
        """Return whether Karpenter's feature gate for NodeOverlays is on."""
        return "NodeOverlay" in self.features


@dataclass(frozen=True, slots=True)
class InventoryState(_Serialized):
    """The inventory when the plan was made."""

    namespace: str
    name: str
    uid: str
    """Empty where the inventory does not exist yet."""

    serial: int
    key: str = ""
    """A digest of the key of the digests of sensitive values; empty without such a key."""


@dataclass(frozen=True, slots=True)
class Consent(_Serialized):
    """The risks that were accepted when the plan was made; `apply PLAN` can't accept more."""

    prune: bool = False
    max_deletes: int = 1
    drain: bool = False
    """Whether pools to be deleted get no new nodes, and are deleted once they have none."""

    allow_delete: tuple[str, ...] = ()
    allow_empty: bool = False
    adopt: tuple[str, ...] = ()
    adopt_from: tuple[str, ...] = ()
    """Other tools that objects may be taken over from."""

    fail_on_admission: bool = False
    """Whether nothing is written where admission would change an object."""

    on_conflict: str = "fail"
    """`fail`, `take`, or `take=` and a comma-separated list of paths."""


@dataclass(frozen=True, slots=True)
class Guard(_Serialized):
    """The result of one guard."""

    name: str
    passed: bool
    message: str
    remedy: str
    """The option that passes it; empty where no option does."""


@dataclass(frozen=True, slots=True)
class Summary(_Serialized):
    """The number of objects by result."""

    create: int
    update: int
    delete: int
    unchanged: int
    textual: int
    """Objects with differences in formatting only, which are left as they are."""

    conflicts: int
    blocked: int
    rejected: int


@dataclass(frozen=True, slots=True)
class Plan(_Serialized):
    """Every change to a cluster, in order, and the state it was calculated from."""

    format_version: str
    gpupool: str
    """The version that made it."""

    id: str
    """A sha256 of the plan without `id` and `signature`."""

    created_at: str
    expires_at: str
    target: PlanTarget
    source: PlanSource
    inventory: InventoryState
    consent: Consent
    changes: tuple[Change, ...]
    """Classes, overlays, pools; then deletions: pools, overlays, classes."""

    orphans: tuple[str, ...]
    """Objects with the blueprint's label that the inventory does not list: reported, never deleted."""

    lost: tuple[str, ...]
    """Objects that the inventory lists and that lack the blueprint's label."""

    warnings: tuple[str, ...]
    guards: tuple[Guard, ...]
    charts: tuple[str, ...]
    """Helm commands that upgrade the charts whose values the blueprint renders; gpupool runs none of them."""

    summary: Summary
    signature: str = ""
    """An Ed25519 signature of `id`, in base64; empty for an unsigned plan. `id` does not cover it."""

    @property
    def has_changes(self) -> bool:
        """Return whether the plan writes or deletes any object."""
        return any(change.writes for change in self.changes)
