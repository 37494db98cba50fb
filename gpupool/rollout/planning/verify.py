"""Is a plan still true? Held against the cluster as it is now, under the lock, before anything is written."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from gpupool.cluster.parallel import map_parallel
from gpupool.cluster.rejections import raise_rejection
from gpupool.errors import GuardError, OutdatedError
from gpupool.planning.compare import differences, stripped
from gpupool.planning.fingerprint import fingerprint
from gpupool.planning.guards import guards
from gpupool.planning.ownership import is_applied_already
from gpupool.rollout import redaction
from gpupool.rollout.live_state import describe_termination, find_removed, generation_of, uid_of
from gpupool.rollout.planning.assess import Assessed, DryRunContext, assess, build_apply_request, secrets_of
from gpupool.rollout.planning.prepare import collect_facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpupool.objects import Ref
    from gpupool.planning.plan import Change, FieldChange, Plan
    from gpupool.rollout.planning.desired_objects import DesiredObject
    from gpupool.yamlio.located import Plain


class StalePlanError(OutdatedError):
    """A plan that is no longer true, with the changes as they would be now."""

    def __init__(self, why: Sequence[str], now: Sequence[Change]) -> None:
        """Keep every reason, and the new changes to be shown beside the approved ones."""
        self.why = tuple(why)
        self.now = tuple(now)
        super().__init__(f"the plan is stale: {'; '.join(why)}. Make a new one")


class VerifiedPlan(NamedTuple):
    """A plan that is still true."""

    assessed: tuple[Assessed, ...]
    notes: tuple[str, ...]
    """Objects that were changed since in ways that the plan does not touch."""


def verify(
    asking: DryRunContext, plan: Plan, approved: Sequence[Assessed], workers: int, *, is_saved: bool
) -> VerifiedPlan:
    """Hold a plan against the cluster as it was just observed.

    A saved plan is refused as soon as anybody applied the blueprint since. One that was just made is not, as
    two runs may begin at the same moment: it is still true where the other one did nothing against it.

    Raises:
        StalePlanError: where it is no longer true, with the new changes.
        ClusterError: where the server can't be asked.
        GuardError: where a guard, which the file does not show as failed, holds a saved plan back now.
    """
    # What a file shows and what it sends are two things until the server has said that they are one.
    judge = _saved_object if is_saved else _object
    if why := _other_inventory(asking, plan, approved, is_saved=is_saved):
        now = map_parallel(workers, lambda known: assess(asking, known.wish).change, approved)
        raise StalePlanError([why], [each for each in now if each.writes or each.blocked])
    # What is being deleted is held back, even where it is gone by now: nobody approved a new one.
    gone_soon = [(each, "", "") for each in approved if each.change.leaving]
    others = [each for each in approved if not each.change.leaving]
    found = [*gone_soon, *map_parallel(workers, lambda known: judge(asking, known), others)]
    doomed = [change for change in plan.changes if change.actions == ("delete",)]
    deletions = [_deletion(asking, change, is_saved=is_saved) for change in doomed]
    stale = [why for _, why, _ in (*found, *deletions) if why]
    if stale:
        raise StalePlanError(stale, [new.change for new, why, _ in found if why and new is not None])
    kept = tuple(new for new, _, _ in found if new is not None)
    _ensure_judged(asking, kept)
    if is_saved:
        _ensure_guarded(asking, kept, doomed)
    return VerifiedPlan(kept, tuple(note for *_, note in found if note))


def _other_inventory(
    asking: DryRunContext, plan: Plan, approved: Sequence[Assessed], *, is_saved: bool
) -> str:
    there = asking.observed.inventory
    if is_saved and (there.uid, there.serial) != (plan.inventory.uid, plan.inventory.serial):
        return (
            f"another run applied this blueprint since (the inventory's serial is {there.serial}, and was"
            f" {plan.inventory.serial})"
        )
    unwanted = find_removed(asking.observed, {each.wish.ref: each.wish.body for each in approved})
    planned = {change.ref for change in plan.changes}
    more = sorted(fate.ref for fate in unwanted if fate.deleted and fate.ref not in planned)
    return f"another run applied more of this blueprint since: {', '.join(map(str, more))}" if more else ""


def _ensure_judged(asking: DryRunContext, changes: Sequence[Assessed]) -> None:
    """Ensure that the server has judged whatever is written: who may not try it may not write it either."""
    for each in changes:
        if each.change.writes and each.change.verified != "server":
            request = build_apply_request(each.wish, force=each.change.force, dry_run=True)
            secrets = partial(secrets_of, asking, each.wish.ref)
            answer = redaction.ask(asking.cluster, request, secrets)
            if not answer.ok:
                hidden = redaction.redact_response(answer, secrets())
                raise_rejection(
                    request, hidden, f"try {each.wish.address} in a dry run, and so nothing is written"
                )


def _ensure_guarded(asking: DryRunContext, changes: Sequence[Assessed], deletions: Sequence[Change]) -> None:
    """Ask the guards again: some are about the cluster, and no file can prove that they are passed."""
    found = guards(collect_facts(asking.consent, asking.observed, changes, deletions))
    if failed := [f"{each.name}: {each.message}" for each in found if not each.passed]:
        problem = f"blocked by a guard; nothing was applied: {'; '.join(failed)}"
        raise GuardError(problem)


def ensure_approved(asking: DryRunContext, known: Assessed, live: Mapping[str, Plain] | None) -> None:
    """Ensure that a change still means what was approved, for an object that was just read again.

    Raises:
        StalePlanError: where it does not.
    """
    alone = {} if live is None else {known.wish.ref: live}
    now, why, _ = _object(replace(asking, observed=asking.observed._replace(live=alone)), known)
    if why:
        raise StalePlanError([why], [] if now is None else [now.change])


def _object(
    asking: DryRunContext, known: Assessed, *, is_trusted: bool = True
) -> tuple[Assessed | None, str, str]:
    """Return the change as it is now, why it is stale, and what else there is to say.

    What is trusted, and holds still, is not tried again.
    """
    change, address = known.change, known.change.address
    live = asking.observed.live.get(change.ref)
    if why := _other_object(change, live):
        now = assess(asking, known.wish)
        may_be_done = is_trusted and live is not None and not now.change.blocked
        is_done = may_be_done and is_applied_already(live or {}, known.wish.body)
        return (now, "", f"{address} is there already") if is_done else (now, f"{address} {why}", "")
    moved = live is not None and generation_of(live) != change.pre.generation
    note = f"{address} was changed since, in nothing that the plan touches" if moved else ""
    if is_trusted and change.verified == "server" and (live is None or _is_still_so(asking, known, live)):
        return known, "", note
    now = assess(asking, known.wish)
    if now.change.rejections:
        return now, f"the API server rejects {address} now", ""
    if now.change.blocked or now.change.conflicts:
        return now, f"{address} was changed since", ""
    if not _meant(now.change.fields) <= _meant(change.fields):
        return now, f"{address} was changed since: {_new(now.change.fields, change.fields)}", ""
    return now, "", note


def _saved_object(asking: DryRunContext, known: Assessed) -> tuple[Assessed | None, str, str]:
    """Return the same as `_object`; what a file would write is tried again, and compared with its `after`."""
    change = known.change
    if not change.writes:
        return _object(asking, known)
    now, why, note = _object(asking, known, is_trusted=False)
    if not why and now is not None:
        why = _not_shown(asking, change, now.change, asking.observed.live.get(change.ref))
    return now, why, note


def _not_shown(asking: DryRunContext, shown: Change, now: Change, live: Mapping[str, Plain] | None) -> str:
    """Return why what would be done now is not what a plan shows; the empty text where it is."""
    if now.force and not shown.force:
        return f"{now.address}: fields of other owners would be overwritten, and the plan does not show that"
    is_same = live is None or _is_untouched(asking, shown, live)
    if is_same and now.writes and shown.verified == now.verified == "server":
        left = differences(shown.after, now.after)
    elif live is None:
        left = []  # what was worked out here has no defaults of the server's, and all of the body
    else:
        # Of an object that was changed elsewhere, what is shown is done now, or somebody has done it already;
        # what was to be removed stays where somebody else owns it by now.
        undone = _meant(shown.fields) - _meant(now.fields)
        paths = {each.path for each in shown.fields if each.op != "remove" and _meant([each]) & undone}
        there = asking.masker.shown(now.address, stripped(dict(live)))
        left = [each for each in differences(there, shown.after) if each.semantic and each.path in paths]
    said = ", ".join(dict.fromkeys(each.path for each in left))
    return f"{now.address}: what would be sent does not give what the plan shows: {said}" if left else ""


def _other_object(change: Change, live: Mapping[str, Plain] | None) -> str:
    if live is None:
        return "was deleted since" if change.pre.uid else ""
    if not change.pre.uid:
        return "was created by someone else since"
    if uid_of(live) != change.pre.uid:
        return "was deleted and created anew since"
    return describe_termination(live)


def _is_still_so(asking: DryRunContext, known: Assessed, live: Mapping[str, Plain]) -> bool:
    """Return whether what a change was decided on holds still."""
    if known.change.pre.paths or known.change.writes:
        return _is_untouched(asking, known.change, live)
    return is_applied_already(live, known.wish.body)


def _is_untouched(asking: DryRunContext, change: Change, live: Mapping[str, Plain]) -> bool:
    if generation_of(live) != change.pre.generation:
        return False
    body = asking.masker.sealed(change.address, stripped(dict(live)))
    return fingerprint(body, change.pre.paths) == change.pre.fingerprint


def _meant(fields: Sequence[FieldChange]) -> set[str]:
    return {repr((each.path, each.before, each.after)) for each in fields if each.semantic}


def _new(now: Sequence[FieldChange], approved: Sequence[FieldChange]) -> str:
    known = _meant(approved)
    return ", ".join(each.path for each in now if each.semantic and not _meant([each]) <= known)


def _deletion(asking: DryRunContext, change: Change, *, is_saved: bool) -> tuple[None, str, str]:
    live = asking.observed.live.get(change.ref)
    if live is None:
        return None, "", ""
    if uid_of(live) == change.pre.uid and describe_termination(live):
        return None, "", ""  # somebody else deleted it; it is about to go
    why = _other_object(change, live)
    if not why and not _is_untouched(asking, change, live):
        why = "was changed since, and would be deleted"
    if not why and is_saved and change.before != asking.masker.shown(change.address, stripped(dict(live))):
        why = "is not what the plan shows, and would be deleted"
    return None, f"{change.address} {why}" if why else "", ""


def with_desired_objects(plan: Plan, desired_objects: Mapping[Ref, DesiredObject]) -> tuple[Assessed, ...]:
    """Return the changes of a saved plan, each with the object that is sent."""
    return tuple(
        Assessed(change, desired_objects[change.ref])
        for change in plan.changes
        if change.actions != ("delete",)
    )
