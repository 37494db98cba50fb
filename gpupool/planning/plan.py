"""A plan: every change to a cluster, with what it was decided on. Values only, and none of them a secret's.

The classes are what a plan file holds too: the names there are the same in camel case.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - plan files are checked against these types
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, TypeAlias

from gpupool.objects import Ref

FORMAT_VERSION: Final = "1.2"

Action: TypeAlias = Literal["create", "adopt", "update", "delete", "no-op"]
Operation: TypeAlias = Literal["add", "remove", "replace"]
ChangeCause: TypeAlias = Literal["intent", "drift", "default"]
Verified: TypeAlias = Literal["server", "read-only", "offline"]
"""Who judged a change: the API server in a dry run, gpupool from what it could read, gpupool alone."""

OwnerKind: TypeAlias = Literal["people", "gitops", "controller"]


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


class _Written:
    """What a plan file holds: names in camel case, and nothing unknown."""

    __slots__ = ()
    __pydantic_config__: ClassVar[Any] = {"alias_generator": _camel, "extra": "forbid"}


@dataclass(frozen=True, slots=True)
class BlueprintPlace(_Written):
    """Where something stands in the blueprint."""

    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class FieldChange(_Written):
    """One leaf that differs between what is and what would be."""

    path: str
    """With the keys of list items in place of numbers, as in `spec.taints[nvidia.com/gpu:NoSchedule]`."""

    op: Operation
    before: Any
    after: Any
    semantic: bool
    """False where both say equivalent: `1000` and `1k`, a list in another order."""

    owner: str
    """The field manager that wrote it last; empty for nobody."""

    cause: ChangeCause
    """What was written in the blueprint, what somebody did in the cluster, or a default of the API."""


@dataclass(frozen=True, slots=True)
class Conflict(_Written):
    """A field of ours that somebody else owns with another value."""

    path: str
    manager: str
    kind: OwnerKind
    when: str
    """When that manager last wrote the object, in RFC 3339; empty where nobody knows."""


@dataclass(frozen=True, slots=True)
class Residue(_Written):
    """A live value under `spec` or the template that the blueprint does not say and gpupool does not own."""

    path: str
    value: Any
    owner: str


@dataclass(frozen=True, slots=True)
class Admission(_Written):
    """A leaf that an admission policy or webhook changes on its way into the cluster."""

    path: str
    said: Any
    """What the blueprint says; None where it does not say it."""

    stored: Any
    """What the API server would store; None for nothing."""

    place: BlueprintPlace | None
    """Where the blueprint says it."""


@dataclass(frozen=True, slots=True)
class Rejection(_Written):
    """Why the API server would not take an object, at the place in the blueprint that causes it."""

    field: str
    message: str
    place: BlueprintPlace | None


@dataclass(frozen=True, slots=True)
class Precondition(_Written):
    """What an object was when the plan was made: what a saved plan is held against."""

    uid: str
    """Empty where the object was absent."""

    generation: int
    fingerprint: str
    """A digest of its own labels and annotations and of the values at `paths`."""

    paths: tuple[tuple[str, ...], ...] = ()
    """What the plan changes, as keys; a list is one value."""


@dataclass(frozen=True, slots=True)
class Change(_Written):
    """What becomes of one object."""

    address: str
    """`KIND/NAME`, as in `NodePool/a100-spot`."""

    actions: tuple[Action, ...]
    place: BlueprintPlace | None
    """Where it begins in the blueprint; None for what is deleted."""

    reason: str
    before: Any
    """The object as it is, without what the server keeps for itself; None where it is absent."""

    after: Any
    """The same as it would be; None where it is deleted."""

    fields: tuple[FieldChange, ...]
    body: Any
    """What is sent; each sensitive leaf stands as `{"$sensitive": DIGEST}`. None for a deletion."""

    pre: Precondition
    verified: Verified
    conflicts: tuple[Conflict, ...] = ()
    residue: tuple[Residue, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    admissions: tuple[Admission, ...] = ()
    blocked: str = ""
    """Why it can't be done now: it is being deleted, belongs to another blueprint, is foreign."""

    leaving: bool = False
    """Whether it is blocked because it is being deleted: that holds back no other change."""

    force: bool = False
    """Whether fields of other owners are taken over, as was agreed to."""

    managed_by: tuple[str, ...] = ()
    """Other tools that take the object for their own, as `--adopt-from` calls them."""

    node_claims: int | None = None
    """Of a pool or class that is deleted: how many NodeClaims it has."""

    @property
    def ref(self) -> Ref:
        """Return the kind and the name of the object."""
        return Ref.parse(self.address)

    @property
    def writes(self) -> bool:
        """Return whether it writes or deletes."""
        return self.actions != ("no-op",)


@dataclass(frozen=True, slots=True)
class PlanTarget(_Written):
    """The cluster that a plan is for."""

    uid: str
    """Of its kube-system namespace."""

    server: str
    context: str
    crds: Mapping[str, str]
    """A digest of the served schema of each CRD, by its name; empty where they can't be read."""


@dataclass(frozen=True, slots=True)
class PlanSource(_Written):
    """What a plan was made of."""

    blueprint: str
    files: Mapping[str, str]
    """A sha256 of each file, by the name that it was given with; keyed where they hold sensitive values."""

    render: str
    """A sha256 of all that was rendered, with digests in place of sensitive values."""

    commit: str
    """The git commit; empty outside of one. `-dirty` stands behind it where files were changed since."""

    sensitive: tuple[str, ...] = ()
    """As in the blueprint's `sensitive`."""


@dataclass(frozen=True, slots=True)
class InventoryState(_Written):
    """The inventory as the plan found it."""

    namespace: str
    name: str
    uid: str
    """Empty where there is none yet."""

    serial: int
    key: str = ""
    """A digest of the key that the digests of sensitive values were made with; empty where there is none."""


@dataclass(frozen=True, slots=True)
class Consent(_Written):
    """What was agreed to when the plan was made; `apply PLAN` can't agree to more."""

    prune: bool = False
    max_deletes: int = 1
    drain: bool = False
    """Whether pools that are deleted get no new nodes, and are waited for until they have none."""

    allow_delete: tuple[str, ...] = ()
    allow_empty: bool = False
    adopt: tuple[str, ...] = ()
    adopt_from: tuple[str, ...] = ()
    """Other tools that objects may be taken over from."""

    fail_on_admission: bool = False
    """Whether nothing is written where admission would change it."""

    on_conflict: str = "fail"
    """`fail`, `take`, or `take=` and paths with commas between them."""


@dataclass(frozen=True, slots=True)
class Guard(_Written):
    """One guard and what it says."""

    name: str
    passed: bool
    message: str
    remedy: str
    """How to pass it, as words of the command line; empty where there is no way."""


@dataclass(frozen=True, slots=True)
class Summary(_Written):
    """How many objects there are of each fate."""

    create: int
    update: int
    delete: int
    unchanged: int
    textual: int
    """Objects that differ in words only, and are left as they are."""

    conflicts: int
    blocked: int
    rejected: int


@dataclass(frozen=True, slots=True)
class Plan(_Written):
    """Everything that would be done to a cluster, in order, and what it was decided on."""

    format_version: str
    gpupool: str
    """The version that made it."""

    id: str
    """A sha256 over all the rest but the signature."""

    created_at: str
    expires_at: str
    target: PlanTarget
    source: PlanSource
    inventory: InventoryState
    consent: Consent
    changes: tuple[Change, ...]
    """Classes, overlays, pools; then deletions: pools, overlays, classes."""

    orphans: tuple[str, ...]
    """Objects with our label that the inventory does not list: said, never deleted."""

    lost: tuple[str, ...]
    """Objects that the inventory lists and that are without our label."""

    warnings: tuple[str, ...]
    guards: tuple[Guard, ...]
    charts: tuple[str, ...]
    """Helm commands that upgrade the charts whose values the blueprint renders; gpupool runs none of them."""

    summary: Summary
    signature: str = ""
    """An Ed25519 signature of `id`, in base64; empty for a plan that is not signed. It is no part of `id`."""

    @property
    def has_changes(self) -> bool:
        """Return whether anything would be written or deleted."""
        return any(change.writes for change in self.changes)
