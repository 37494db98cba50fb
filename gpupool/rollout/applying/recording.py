"""What the inventory says of an apply: before it what may come to be, after it what is there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gpupool.planning.foreign_fields import belonging
from gpupool.rollout.inventory.encoding import InventoryEntry
from gpupool.rollout.live_state import uid_of
from gpupool.yamlio.located import plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gpupool.objects import Ref
    from gpupool.rollout.applying.results import Outcome
    from gpupool.rollout.inventory.store import Inventory
    from gpupool.rollout.planning.assess import Assessed
    from gpupool.yamlio.located import Plain

_COMMIT: Final = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_UNDONE: Final = frozenset({"failed", "not tried", "held back", "not ready"})
"""What an apply's record counts that is not as its blueprint says."""


def last_good_commit(history: Sequence[Plain], now: str) -> str:
    """Return the commit of the last apply that left nothing undone, as far as the inventory knows it.

    Empty where no such apply was of a commit as it is, and where it was of the commit of `now`.
    """
    for record in map(plain_map, reversed(history)):
        commit, result = plain_text(record.get("commit")), plain_map(record.get("result"))
        if _COMMIT.fullmatch(commit) and not _UNDONE & result.keys():
            return commit if commit != now else ""
    return ""


def list_pending(known: Inventory, wanted: Sequence[Assessed]) -> Iterable[InventoryEntry]:
    """Return all that may be there from now on: what was, and what is about to come."""
    entries = dict(known.known)
    for each in (known for known in wanted if not known.change.leaving):
        ref, uid, digest = each.wish.ref, each.change.pre.uid, each.wish.digest
        if ref not in entries or (entries[ref].digest, entries[ref].uid) != (digest, uid):
            entries[ref] = InventoryEntry(*ref, uid, 0, digest)
    return entries.values()


def list_current(
    began: Inventory,
    live: Mapping[Ref, Mapping[str, Plain]],
    wanted: Sequence[Assessed],
    outcomes: Sequence[Outcome],
) -> Iterator[InventoryEntry]:
    """Yield what is there, or may be, by what came of each object; `live` is what was there at the start."""
    by_ref, desired = {outcome.ref: outcome for outcome in outcomes}, {known.wish.ref for known in wanted}
    before = {entry.ref: entry for entry in began.current}
    for known in wanted:
        ref = known.wish.ref
        if (entry := _written(began, known, by_ref[ref], before.get(ref))) is not None:
            yield entry
    for ref, listed in began.known.items():
        is_deleted = ref in by_ref and by_ref[ref].state == "done"
        if ref in live and ref not in desired and not is_deleted:
            yield from _kept(listed, live[ref], began.place.id)


def _written(
    began: Inventory, known: Assessed, outcome: Outcome, was: InventoryEntry | None
) -> InventoryEntry | None:
    """Return what is there of an object; `was` is what the inventory listed before the apply."""
    wish = known.wish
    if outcome.state == "held back":
        return began.known.get(wish.ref)  # it is being deleted, and was ours or was not
    if outcome.state in {"done", "not ready"}:
        return InventoryEntry(wish.kind.name, wish.name, outcome.uid, outcome.generation, wish.digest)
    if outcome.state != "not tried":
        # A request whose answer was lost may even be carried out later.
        return began.known[wish.ref]
    return was if was is not None and was.uid == known.change.pre.uid else None


def _kept(listed: InventoryEntry, live: Mapping[str, Plain], own_set: str) -> Iterator[InventoryEntry]:
    """Yield an object that is not wanted, and is there still; what others made in its place is theirs."""
    uid = uid_of(live)
    if uid == listed.uid or not (listed.uid or belonging(live, own_set, adopts=False)):
        yield listed._replace(uid=uid)
