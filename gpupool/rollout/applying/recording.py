"""Inventory entries of an apply: pending ones before it, current ones after it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gpupool.planning.foreign_fields import explain_foreign
from gpupool.rollout.inventory.encoding import InventoryEntry
from gpupool.rollout.live_state import uid_of
from gpupool.yamlio.located import plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gpupool.objects import Ref
    from gpupool.rollout.applying.results import Outcome
    from gpupool.rollout.inventory.store import Inventory
    from gpupool.rollout.planning.assess import AssessedObject
    from gpupool.yamlio.located import Plain

_COMMIT: Final = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_UNDONE: Final = frozenset({"failed", "not tried", "held back", "not ready"})
"""The counts in an apply's record of objects that do not match the blueprint."""


def last_good_commit(history: Sequence[Plain], current_commit: str) -> str:
    """Return the commit of the last complete apply in the inventory's history.

    Empty where that apply was not of a clean commit, or where its commit is `current_commit`.
    """
    for record in map(plain_map, reversed(history)):
        commit, result = plain_text(record.get("commit")), plain_map(record.get("result"))
        if _COMMIT.fullmatch(commit) and not _UNDONE & result.keys():
            return commit if commit != current_commit else ""
    return ""


def list_pending(inventory: Inventory, assessed: Sequence[AssessedObject]) -> Iterable[InventoryEntry]:
    """Return the entries of all objects that may exist from now on: listed ones and those to be written."""
    entries = dict(inventory.entries)
    for item in (item for item in assessed if not item.change.leaving):
        ref, uid, digest = item.desired.ref, item.change.pre.uid, item.desired.digest
        if ref not in entries or (entries[ref].digest, entries[ref].uid) != (digest, uid):
            entries[ref] = InventoryEntry(*ref, uid, 0, digest)
    return entries.values()


def list_current(
    began: Inventory,
    live: Mapping[Ref, Mapping[str, Plain]],
    assessed: Sequence[AssessedObject],
    outcomes: Sequence[Outcome],
) -> Iterator[InventoryEntry]:
    """Yield the entries of objects that exist or may exist after an apply; `live` is the state before it."""
    by_ref, desired = {outcome.ref: outcome for outcome in outcomes}, {item.desired.ref for item in assessed}
    before = {entry.ref: entry for entry in began.current}
    for item in assessed:
        ref = item.desired.ref
        if (entry := _written(began, item, by_ref[ref], before.get(ref))) is not None:
            yield entry
    for ref, listed in began.entries.items():
        is_deleted = ref in by_ref and by_ref[ref].state == "done"
        if ref in live and ref not in desired and not is_deleted:
            yield from _kept(listed, live[ref], began.place.id)


def _written(
    began: Inventory, item: AssessedObject, outcome: Outcome, before: InventoryEntry | None
) -> InventoryEntry | None:
    """Return the entry of a desired object; `before` is the one before the apply."""
    desired = item.desired
    if outcome.state == "held back":
        return began.entries.get(desired.ref)  # it is being deleted, and is listed if gpupool applied it
    if outcome.state in {"done", "not ready"}:
        inputs = tuple(item.change.inputs.items())
        return InventoryEntry(*desired.ref, outcome.uid, outcome.generation, desired.digest, inputs)
    if outcome.state != "not tried":
        # A request whose response was lost may be carried out even later.
        return began.entries[desired.ref]
    return before if before is not None and before.uid == item.change.pre.uid else None


def _kept(listed: InventoryEntry, live: Mapping[str, Plain], own_set: str) -> Iterator[InventoryEntry]:
    """Yield the entry of a removed object that still exists; one that others created instead has none."""
    uid = uid_of(live)
    if uid == listed.uid or not (listed.uid or explain_foreign(live, own_set, adopts=False)):
        yield listed._replace(uid=uid)
