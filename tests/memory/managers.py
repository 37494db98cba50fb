"""Who owns which field: managed fields after an update, and after a server-side apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from tests.memory.fieldsets import FieldSet, Path, as_whole, decode, encode, with_parents, without_below
from tests.memory.values import compare, fields_of, is_same, merge, without

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.memory.schemas import Body, Type


class Manager(NamedTuple):
    """One way of writing of one manager: what tells entries of managed fields apart."""

    name: str
    operation: str
    subresource: str
    api_version: str
    """Empty for who applies: it is one manager whatever version it sends."""


class Owned(NamedTuple):
    """What a manager owns."""

    fields: FieldSet
    api_version: str
    time: str


Owners: TypeAlias = dict[Manager, Owned]

APPLY, UPDATE = "Apply", "Update"
_MOST_UPDATERS: Final = 10
_BEFORE_FIRST_APPLY: Final = "before-first-apply"
_NEVER_OWNED: Final = frozenset(
    {
        ("f:apiVersion",),
        ("f:kind",),
        ("f:metadata",),
        *(
            ("f:metadata", f"f:{name}")
            for name in (
                "name", "namespace", "creationTimestamp", "selfLink", "uid", "generation", "managedFields",
                "resourceVersion",
            )
        ),
    }
)  # fmt: skip


class Writer(NamedTuple):
    """Who writes, how, and when."""

    name: str
    api_version: str
    subresource: str
    time: str
    reset: tuple[Path, ...]
    """What the server does not let this way of writing change, so that nobody comes to own it."""

    def manager(self, operation: str) -> Manager:
        """Return the manager for an operation."""
        version = "" if operation == APPLY else self.api_version
        return Manager(self.name, operation, self.subresource, version)


class FieldConflictsError(Exception):
    """Fields that others own, by manager."""

    def __init__(self, conflicts: dict[Manager, tuple[FieldSet, Owned]]) -> None:
        super().__init__(", ".join(manager.name for manager in conflicts))
        self.conflicts = conflicts


def read(entries: Iterable[Body], type_: Type) -> Owners:
    """Read `managedFields` of an object of a type."""
    return dict(_read(each, type_) for each in entries)


def _read(entry: Body, type_: Type) -> tuple[Manager, Owned]:
    operation, version = entry["operation"], entry["apiVersion"]
    manager = Manager(
        entry.get("manager", ""),
        operation,
        entry.get("subresource", ""),
        "" if operation == APPLY else version,
    )
    return manager, Owned(as_whole(decode(entry.get("fieldsV1", {})), type_), version, entry.get("time", ""))


def write(owners: Owners) -> list[Body]:
    """Write `managedFields`, in the server's order."""
    order = sorted(owners, key=lambda each: (each.operation, owners[each].time, each.name, each.subresource))
    return [_entry(manager, owners[manager]) for manager in order]


def _entry(manager: Manager, owned: Owned) -> Body:
    entry = {
        "manager": manager.name,
        "operation": manager.operation,
        "apiVersion": owned.api_version,
        "time": owned.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": encode(owned.fields),
        "subresource": manager.subresource,
    }
    return {key: value for key, value in entry.items() if value != ""}


def after_update(owners: Owners, before: Body, after: Body, type_: Type, writer: Writer) -> Owners:
    """Return the owners after somebody wrote an object: who changes a value takes it from all others."""
    found = compare(before, after, type_)
    changed, removed = (without_below(each, writer.reset) for each in (found.changed, found.removed))
    left = _less(owners, changed | removed)
    taken = without_below(changed - _NEVER_OWNED, writer.reset)
    if taken:
        manager = writer.manager(UPDATE)
        own = left[manager].fields if manager in left else frozenset()
        left[manager] = Owned(own | taken, writer.api_version, writer.time)
    return _capped(left)


def _less(owners: Owners, fields: FieldSet) -> Owners:
    left = {manager: owned._replace(fields=owned.fields - fields) for manager, owned in owners.items()}
    return {manager: owned for manager, owned in left.items() if owned.fields}


def _capped(owners: Owners) -> Owners:
    """Put the oldest updates together where there are too many."""
    updaters = sorted(
        (each for each in owners if each.operation == UPDATE), key=lambda each: (owners[each].time, each)
    )
    if len(updaters) <= _MOST_UPDATERS:
        return owners
    oldest = updaters[: len(updaters) - _MOST_UPDATERS + 1]
    bucket = Manager("ancient-changes", UPDATE, "", oldest[0].api_version)
    fields: FieldSet = frozenset().union(*(owners[each].fields for each in oldest))
    kept = {manager: owned for manager, owned in owners.items() if manager not in oldest}
    return {**kept, bucket: owners[oldest[-1]]._replace(fields=fields)}


class Applied(NamedTuple):
    """What an apply makes of an object."""

    body: Body
    """Without its managed fields."""

    owners: Owners


class Bodies(NamedTuple):
    """The bodies that an apply is about, without managed fields."""

    bare: Body
    """What an object of this kind is before anybody writes it."""

    live: Body
    config: Body
    """What is applied."""


def after_apply(owners: Owners, bodies: Bodies, type_: Type, writer: Writer, *, force: bool) -> Applied:
    """Merge what is applied into an object.

    Raises:
        FieldConflictsError: where others own what would change, and it is not forced.
    """
    bare, live, config = bodies
    known = dict(owners)
    if not known:
        first = writer._replace(name=_BEFORE_FIRST_APPLY)
        known = after_update({}, bare, live, type_, first)
    manager = writer.manager(APPLY)
    last = known.pop(manager, None)
    fields = without_below(fields_of(config, type_), writer.reset)
    merged = merge(live, config, type_)
    if last is not None:
        everybody = fields.union(*(owned.fields for owned in known.values()))
        merged = _pruned(merged, last.fields, everybody, type_)
    found = compare(live, merged, type_)
    changed, removed = (without_below(each, writer.reset) for each in (found.changed, found.removed))
    conflicts = {
        each: (owned.fields & changed, owned) for each, owned in known.items() if owned.fields & changed
    }
    if conflicts and not force:
        raise FieldConflictsError(conflicts)
    left = _less(known, changed | removed)
    time = ("" if last is None else last.time) if is_same(live, merged) else writer.time
    own = Owned(fields - _NEVER_OWNED, writer.api_version, time)
    return Applied(merged, {**left, manager: own} if own.fields else left)


def _pruned(merged: Body, last: FieldSet, everybody: FieldSet, type_: Type) -> Body:
    """Take out what the manager applied before, and nobody owns now."""
    last = with_parents(last, type_)
    all_fields = with_parents(fields_of(merged, type_), type_)
    pruned = without(merged, last, type_) or {}
    kept = with_parents(fields_of(pruned, type_), type_) | with_parents(everybody, type_)
    pruned = without(merged, all_fields - kept, type_) or {}
    left = with_parents(fields_of(pruned, type_), type_)
    return without(merged, (all_fields - left) & last, type_) or {}
