"""Verification that a plan is still valid for the live cluster, under the lock and before any write."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from gpupool.cluster.parallel import map_parallel
from gpupool.cluster.rejections import raise_rejection
from gpupool.errors import GuardError, OutdatedError
from gpupool.planning.compare import find_differences, strip_server_fields
from gpupool.planning.fingerprint import calculate_fingerprint
from gpupool.planning.guards import check_guards
from gpupool.planning.ownership import is_applied_already
from gpupool.rollout import redaction
from gpupool.rollout.live_state import describe_termination, find_removed, generation_of, uid_of
from gpupool.rollout.planning.assess import (
    AssessedObject,
    DryRunContext,
    assess,
    build_apply_request,
    secrets_of,
)
from gpupool.rollout.planning.prepare import collect_facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpupool.objects import Ref
    from gpupool.planning.plan import Change, FieldChange, Plan
    from gpupool.rollout.planning.desired_objects import DesiredObject
    from gpupool.yamlio.located import Plain


class StalePlanError(OutdatedError):
    """A stale plan, with the changes that would be made now."""

    def __init__(self, why: Sequence[str], now: Sequence[Change]) -> None:
        """Keep the reasons and the new changes, which are shown beside the approved ones."""
        self.why = tuple(why)
        self.now = tuple(now)
        super().__init__(f"the plan is stale: {'; '.join(why)}. Make a new one")


class VerifiedPlan(NamedTuple):
    """A plan that is still valid."""

    assessed: tuple[AssessedObject, ...]
    notes: tuple[str, ...]
    """Messages about changes since then that do not affect the plan."""


def verify(
    context: DryRunContext, plan: Plan, approved: Sequence[AssessedObject], workers: int, *, is_saved: bool
) -> VerifiedPlan:
    """Compare a plan with the live state.

    A saved plan is stale as soon as another run applied the blueprint. A plan that was just made is not, as
    two runs may start at the same moment: it is valid unless the other run contradicts it.

    Raises:
        StalePlanError: where it is stale, with the new changes.
        ClusterError: where a request fails.
        GuardError: where a guard that the file shows as passed blocks a saved plan now.
    """
    # Only the server can confirm that the body in a file results in the object that the file shows.
    check = _saved_object if is_saved else _object
    if why := _other_inventory(context, plan, approved, is_saved=is_saved):
        now = map_parallel(workers, lambda item: assess(context, item.desired).change, approved)
        raise StalePlanError([why], [change for change in now if change.writes or change.blocked])
    # An object that was being deleted stays blocked, even where it is deleted now: no creation is approved.
    deleting = [(item, "", "") for item in approved if item.change.leaving]
    others = [item for item in approved if not item.change.leaving]
    results = [*deleting, *map_parallel(workers, lambda item: check(context, item), others)]
    deletions = [change for change in plan.changes if change.actions == ("delete",)]
    deletion_results = [_deletion(context, change, is_saved=is_saved) for change in deletions]
    stale = [why for _, why, _ in (*results, *deletion_results) if why]
    if stale:
        raise StalePlanError(stale, [new.change for new, why, _ in results if why and new is not None])
    kept = tuple(new for new, _, _ in results if new is not None)
    _ensure_verified(context, kept)
    if is_saved:
        _ensure_guarded(context, kept, deletions)
    return VerifiedPlan(kept, tuple(note for *_, note in results if note))


def _other_inventory(
    context: DryRunContext, plan: Plan, approved: Sequence[AssessedObject], *, is_saved: bool
) -> str:
    inventory = context.observed.inventory
    if is_saved and (inventory.uid, inventory.serial) != (plan.inventory.uid, plan.inventory.serial):
        return (
            f"another run applied this blueprint since (the inventory's serial is {inventory.serial}, and was"
            f" {plan.inventory.serial})"
        )
    removed = find_removed(context.observed, {item.desired.ref: item.desired.body for item in approved})
    planned = {change.ref for change in plan.changes}
    more = sorted(fate.ref for fate in removed if fate.is_deleted and fate.ref not in planned)
    return f"another run applied more of this blueprint since: {', '.join(map(str, more))}" if more else ""


def _ensure_verified(context: DryRunContext, changes: Sequence[AssessedObject]) -> None:
    """Check that the server accepts every write in a dry run."""
    for item in changes:
        if item.change.writes and item.change.verified != "server":
            request = build_apply_request(item.desired, force=item.change.force, dry_run=True)
            secrets = partial(secrets_of, context, item.desired.ref)
            answer = redaction.ask(context.cluster, request, secrets)
            if not answer.ok:
                redacted = redaction.redact_response(answer, secrets())
                raise_rejection(
                    request, redacted, f"try {item.desired.address} in a dry run, and so nothing is written"
                )


def _ensure_guarded(
    context: DryRunContext, changes: Sequence[AssessedObject], deletions: Sequence[Change]
) -> None:
    """Check the guards again, as a file can't prove those about the cluster."""
    current = check_guards(collect_facts(context.consent, context.observed, changes, deletions))
    if failed := [f"{guard.name}: {guard.message}" for guard in current if not guard.passed]:
        problem = f"blocked by a guard; nothing was applied: {'; '.join(failed)}"
        raise GuardError(problem)


def ensure_approved(
    context: DryRunContext, approved: AssessedObject, live: Mapping[str, Plain] | None
) -> None:
    """Check that an approved change is still valid for an object that was read again.

    Raises:
        StalePlanError: where it is stale.
    """
    alone = {} if live is None else {approved.desired.ref: live}
    now, why, _ = _object(replace(context, observed=context.observed._replace(live=alone)), approved)
    if why:
        raise StalePlanError([why], [] if now is None else [now.change])


def _object(
    context: DryRunContext, approved: AssessedObject, *, is_trusted: bool = True
) -> tuple[AssessedObject | None, str, str]:
    """Return the change as it is now, why it is stale, and a note.

    A trusted change that still holds is not assessed again.
    """
    change, address = approved.change, approved.change.address
    live = context.observed.live.get(change.ref)
    if why := _other_object(change, live):
        now = assess(context, approved.desired)
        can_be_done = is_trusted and live is not None and not now.change.blocked
        is_done = can_be_done and is_applied_already(live or {}, approved.desired.body)
        return (now, "", f"{address} is there already") if is_done else (now, f"{address} {why}", "")
    is_changed = live is not None and generation_of(live) != change.pre.generation
    note = f"{address} was changed since, in nothing that the plan touches" if is_changed else ""
    if is_trusted and change.verified == "server" and (live is None or _still_holds(context, approved, live)):
        return approved, "", note
    now = assess(context, approved.desired)
    if now.change.rejections:
        return now, f"the API server rejects {address} now", ""
    if now.change.blocked or now.change.conflicts:
        return now, f"{address} was changed since", ""
    if not _semantic_changes(now.change.fields) <= _semantic_changes(change.fields):
        return now, f"{address} was changed since: {_new_paths(now.change.fields, change.fields)}", ""
    return now, "", note


def _saved_object(context: DryRunContext, approved: AssessedObject) -> tuple[AssessedObject | None, str, str]:
    """Return the same as `_object`; a file's write is tried again, and compared with the file's `after`."""
    change = approved.change
    if not change.writes:
        return _object(context, approved)
    now, why, note = _object(context, approved, is_trusted=False)
    if not why and now is not None:
        why = _not_shown(context, change, now.change, context.observed.live.get(change.ref))
    return now, why, note


def _not_shown(context: DryRunContext, shown: Change, now: Change, live: Mapping[str, Plain] | None) -> str:
    """Return why the change that would be made now is not what the plan shows; empty where it is."""
    if now.force and not shown.force:
        return f"{now.address}: fields of other owners would be overwritten, and the plan does not show that"
    is_same = live is None or _is_untouched(context, shown, live)
    if is_same and now.writes and shown.verified == now.verified == "server":
        differing = find_differences(shown.after, now.after)
    elif live is None:
        differing = []  # gpupool's own result has no server defaults, but all of the body
    else:
        # For an object that was changed since, each shown change is made now, or was made by another writer;
        # a field that was to be removed stays where another writer owns it by now.
        undone = _semantic_changes(shown.fields) - _semantic_changes(now.fields)
        paths = {
            field.path
            for field in shown.fields
            if field.op != "remove" and _semantic_changes([field]) & undone
        }
        shown_live = context.masker.mask(now.address, strip_server_fields(dict(live)))
        differing = [
            leaf for leaf in find_differences(shown_live, shown.after) if leaf.semantic and leaf.path in paths
        ]
    paths_text = ", ".join(dict.fromkeys(leaf.path for leaf in differing))
    return (
        f"{now.address}: what would be sent does not give what the plan shows: {paths_text}"
        if differing
        else ""
    )


def _other_object(change: Change, live: Mapping[str, Plain] | None) -> str:
    if live is None:
        return "was deleted since" if change.pre.uid else ""
    if not change.pre.uid:
        return "was created by someone else since"
    if uid_of(live) != change.pre.uid:
        return "was deleted and created anew since"
    return describe_termination(live)


def _still_holds(context: DryRunContext, approved: AssessedObject, live: Mapping[str, Plain]) -> bool:
    """Return whether the facts that a change is based on still hold."""
    if approved.change.pre.paths or approved.change.writes:
        return _is_untouched(context, approved.change, live)
    return is_applied_already(live, approved.desired.body)


def _is_untouched(context: DryRunContext, change: Change, live: Mapping[str, Plain]) -> bool:
    if generation_of(live) != change.pre.generation:
        return False
    body = context.masker.seal(change.address, strip_server_fields(dict(live)))
    return calculate_fingerprint(body, change.pre.paths) == change.pre.fingerprint


def _semantic_changes(fields: Sequence[FieldChange]) -> set[str]:
    return {repr((field.path, field.before, field.after)) for field in fields if field.semantic}


def _new_paths(now: Sequence[FieldChange], approved: Sequence[FieldChange]) -> str:
    old = _semantic_changes(approved)
    return ", ".join(field.path for field in now if field.semantic and not _semantic_changes([field]) <= old)


def _deletion(context: DryRunContext, change: Change, *, is_saved: bool) -> tuple[None, str, str]:
    live = context.observed.live.get(change.ref)
    if live is None:
        return None, "", ""
    if uid_of(live) == change.pre.uid and describe_termination(live):
        return None, "", ""  # another client deleted it already
    why = _other_object(change, live)
    if not why and not _is_untouched(context, change, live):
        why = "was changed since, and would be deleted"
    if (
        not why
        and is_saved
        and change.before != context.masker.mask(change.address, strip_server_fields(dict(live)))
    ):
        why = "is not what the plan shows, and would be deleted"
    return None, f"{change.address} {why}" if why else "", ""


def with_desired_objects(
    plan: Plan, desired_objects: Mapping[Ref, DesiredObject]
) -> tuple[AssessedObject, ...]:
    """Return the changes of a saved plan, each with the object that is sent."""
    return tuple(
        AssessedObject(change, desired_objects[change.ref])
        for change in plan.changes
        if change.actions != ("delete",)
    )
