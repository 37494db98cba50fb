"""Assessment of one object: the change that an apply would make, by a dry run where needed."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.client import APPLY, FIELD_MANAGER, Request
from gpupool.cluster.rejections import field_conflicts, message, raise_rejection, read_causes
from gpupool.planning import ownership
from gpupool.planning.admission import find_admission_changes
from gpupool.planning.causes import NO_CAUSES
from gpupool.planning.compare import find_differences, strip_server_fields, to_dotted_path
from gpupool.planning.difference_causes import find_all_causes
from gpupool.planning.emulated_apply import emulate_apply
from gpupool.planning.fingerprint import calculate_fingerprint, collect_planned_paths
from gpupool.planning.foreign_fields import build_conflicts, explain_foreign, find_residue
from gpupool.planning.message_redaction import redact_secrets
from gpupool.planning.plan import Admission, Change, FieldChange, Precondition, Rejection
from gpupool.planning.summaries import SummarizedField, summarize
from gpupool.planning.tools import explain_missing_consent, find_tool_marks
from gpupool.rollout import redaction
from gpupool.rollout.live_state import describe_termination, generation_of, uid_of
from gpupool.yamlio.located import plain_map

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gpupool.cluster.client import Cluster, Response
    from gpupool.objects import Ref
    from gpupool.planning.compare import Difference
    from gpupool.planning.masking import Masker
    from gpupool.planning.plan import Action, ChangeCause, Conflict, Consent, Verified
    from gpupool.rollout.live_state import LiveState
    from gpupool.rollout.planning.desired_objects import DesiredObject
    from gpupool.yamlio.located import Plain

_BAD_REQUEST, _FORBIDDEN, _NOT_FOUND, _CONFLICT, _INVALID, _BROKEN = 400, 403, 404, 409, 422, 500
_TYPED_PATCH: Final = "failed to create typed patch object"
_LACKS: Final = re.compile(r" cannot (patch|create) resource ")
"""The text of a 403 about a missing permission; others come from an admission policy or a webhook."""

_NEVER_CHANGES: Final = ("immutable", "Cannot transition")


@dataclass(frozen=True, slots=True)
class DryRunContext:
    """The cluster, the live state and the consent for the assessment of objects."""

    cluster: Cluster
    observed: LiveState
    masker: Masker
    consent: Consent
    secrets: Callable[[], tuple[str, ...]]
    """Returns the sensitive texts of all objects, as a webhook may quote one in a message about another."""


class AssessedObject(NamedTuple):
    """A change with its desired object, which is not part of a plan file."""

    change: Change
    desired: DesiredObject


def assess(context: DryRunContext, desired: DesiredObject) -> AssessedObject:
    """Return the change that an apply would make to an object.

    Raises:
        ClusterError: where a request fails.
    """
    live = context.observed.live.get(desired.ref)
    start = _start(context, desired, live)
    if desired.kind.name not in context.observed.served:
        missing = Rejection(
            "",
            f"the API server does not serve {desired.kind.name}: Karpenter's CRDs are missing",
            desired.place,
        )
        return AssessedObject(replace(start, verified="offline", rejections=(missing,)), desired)
    if live is not None:
        if why := describe_termination(live):
            return AssessedObject(replace(start, actions=("no-op",), blocked=why, leaving=True), desired)
        adopts = desired.address in context.consent.adopt
        if why := _foreign(context, live, adopts=adopts):
            left = find_residue(context.masker, desired.address, live, desired.body)
            return AssessedObject(replace(start, actions=("no-op",), blocked=why, residue=left), desired)
        if ownership.is_applied_already(live, desired.body):
            left = find_residue(context.masker, desired.address, live, desired.body)
            return AssessedObject(replace(_unchanged(start), residue=left), desired)
    return _dry_run(context, desired, live, start)


def _foreign(context: DryRunContext, live: Mapping[str, Plain], *, adopts: bool) -> str:
    """Return why gpupool must not write an object, including a claim of another tool; empty where it may."""
    why = explain_foreign(live, context.observed.inventory.place.id, adopts=adopts)
    if ownership.find_applied_entry(live) is not None:
        return why
    return "; ".join(
        filter(None, (why, explain_missing_consent(find_tool_marks(live), context.consent.adopt_from)))
    )


def _start(context: DryRunContext, desired: DesiredObject, live: Mapping[str, Plain] | None) -> Change:
    before = None if live is None else context.masker.mask(desired.address, strip_server_fields(dict(live)))
    return Change(
        address=desired.address,
        actions=("create",) if live is None else ("update",),
        place=desired.place,
        reason="",
        before=before,
        after=None,
        fields=(),
        body=context.masker.seal(desired.address, dict(desired.body)),
        pre=Precondition("", 0, "") if live is None else Precondition(uid_of(live), generation_of(live), ""),
        verified="server",
        managed_by=() if live is None else tuple(sign.tool for sign in find_tool_marks(live)),
        inputs=desired.inputs,
    )


def _unchanged(change: Change) -> Change:
    return replace(change, actions=("no-op",), reason="matches the blueprint", before=None)


def _dry_run(
    context: DryRunContext, desired: DesiredObject, live: Mapping[str, Plain] | None, start: Change
) -> AssessedObject:
    adopts = _adopts(context, desired, live)
    request = build_apply_request(desired, force=adopts, dry_run=True)
    secrets = partial(secrets_of, context, desired.ref)
    answer = redaction.ask(context.cluster, request, secrets)
    if answer.ok:
        return _compared(context, desired, live, _Result(start, answer.body, "server", force=adopts))
    contested = field_conflicts(answer)
    if answer.status == _CONFLICT and contested and live is not None:
        forced = redaction.ask(
            context.cluster, build_apply_request(desired, force=True, dry_run=True), secrets
        )
        conflicts = build_conflicts(live, desired.body, contested, desired.find_cause)
        is_taken = all(_is_taken(context.consent, conflict) for conflict in conflicts)
        contesting = replace(start, conflicts=() if is_taken else conflicts)
        if forced.ok:
            result = _Result(contesting, forced.body, "server", force=is_taken)
            return _compared(context, desired, live, result)
        # The server checks the owner of a field before it validates the value.
        start, answer = contesting, forced
    if answer.status == _FORBIDDEN and _LACKS.search(message(answer)):
        after = desired.body if live is None else emulate_apply(live, desired.body)
        return _compared(context, desired, live, _Result(start, after, "read-only", force=False))
    rejections = _rejections(context, desired, answer)
    if not rejections:
        raise_rejection(
            request, redaction.redact_response(answer, secrets()), f"try {desired.address} in a dry run"
        )
    return AssessedObject(replace(start, rejections=rejections), desired)


def build_apply_request(
    desired: DesiredObject, *, force: bool, dry_run: bool, uid: str = "", version: str = ""
) -> Request:
    """Return the server-side apply of an object; it fails where `uid` or `version` changed."""
    body = dict(desired.body)
    preconditions: dict[str, Plain] = {
        **({"uid": uid} if uid else {}),
        **({"resourceVersion": version} if version else {}),
    }
    if preconditions:
        metadata = body["metadata"]
        fields = metadata if isinstance(metadata, dict) else {}
        body["metadata"] = {**fields, **preconditions}
    query = {"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict", "force": str(force).lower()}
    if dry_run:
        query["dryRun"] = "All"
    return Request("PATCH", desired.kind.path_of(desired.name), query, body, APPLY)


def _adopts(context: DryRunContext, desired: DesiredObject, live: Mapping[str, Plain] | None) -> bool:
    """Return whether the object is adopted from another owner with the user's consent."""
    return (
        live is not None
        and ownership.find_applied_entry(live) is None
        and desired.address in context.consent.adopt
    )


class _Result(NamedTuple):
    """The object after an apply, and how it was verified."""

    start: Change
    after: Mapping[str, Plain]
    verified: Verified
    force: bool


def _compared(
    context: DryRunContext, desired: DesiredObject, live: Mapping[str, Plain] | None, result: _Result
) -> AssessedObject:
    """Return the change from the live object to the object after an apply."""
    masker, after = context.masker, dict(plain_map(strip_server_fields(dict(result.after))))
    shown = masker.mask(desired.address, after)
    admissions = tuple(find_admissions(context, desired, after)) if result.verified == "server" else ()
    start = replace(result.start, verified=result.verified, after=shown, admissions=admissions)
    if live is None:
        return AssessedObject(replace(start, reason="does not exist"), desired)
    before = strip_server_fields(dict(live))
    changed_leaves = find_differences(before, after)
    paths = collect_planned_paths(leaf.keys for leaf in changed_leaves)
    summarized = tuple(_fields(context, desired, live, changed_leaves))
    fields = tuple(item.change for item in summarized)
    digest = calculate_fingerprint(masker.seal(desired.address, before), paths)
    pre = replace(start.pre, fingerprint=digest, paths=paths)
    left = find_residue(masker, desired.address, live, desired.body)
    adopts = _adopts(context, desired, live)
    actions: tuple[Action, ...] = ("adopt", "update") if adopts else ("update",)
    # What an adoption overwrites came from no blueprint, so each field is shown.
    summaries = () if adopts else summarize(summarized, _old_inputs(context, desired), start.inputs)
    change = replace(start, actions=actions, fields=fields, pre=pre, residue=left, summaries=summaries)
    claims = not changed_leaves and _claims(live, result.after)
    if not adopts and not claims and not any(field.semantic for field in fields):
        reason = "equivalent; only the formatting differs" if fields else "matches the blueprint"
        # A write of equivalent values would only increase the generation. Who wrote them differently owns
        # them now, without a conflict.
        return AssessedObject(replace(change, actions=("no-op",), reason=reason, conflicts=()), desired)
    return AssessedObject(replace(change, reason=_reason(change), force=result.force), desired)


def find_admissions(
    context: DryRunContext, desired: DesiredObject, after: Mapping[str, Plain]
) -> Iterator[Admission]:
    """Yield each leaf that admission changes, or would change; `after` is what the server stores."""
    for leaf in find_admission_changes(desired.body, after):
        sent, stored = (
            _shown(context.masker, desired.address, leaf.keys, value) for value in (leaf.before, leaf.after)
        )
        cause = desired.find_cause(leaf.path)
        yield Admission(leaf.path, sent, stored, None if cause is None else cause.place)


def _claims(live: Mapping[str, Plain], after: Mapping[str, Plain]) -> bool:
    """Return whether gpupool would own more fields, or fewer, than it does.

    A field that another owner set to the same value would otherwise stay that owner's alone, and the next
    change of it would be a conflict.
    """
    own, would_own = ownership.find_applied_entry(live), ownership.find_applied_entry(after)
    return would_own is not None and (own is None or own.fields != would_own.fields)


def _reason(change: Change) -> str:
    causes = {field.cause for field in change.fields if field.semantic}
    if "adopt" in change.actions:
        return "gpupool adopts it"
    if causes == {"drift"}:
        return "changed in the cluster"
    return "differs from the blueprint" if causes else "not managed by gpupool yet"


def _fields(
    context: DryRunContext, desired: DesiredObject, live: Mapping[str, Plain], leaves: Sequence[Difference]
) -> Iterator[SummarizedField]:
    masker = context.masker
    causes = desired.find_causes_since(_old_inputs(context, desired))
    found = [NO_CAUSES] * len(leaves) if causes is None else find_all_causes(causes, leaves)
    entry = context.observed.inventory.entries.get(desired.ref)
    is_same_blueprint = entry is not None and entry.digest == desired.digest
    for leaf, (leaf_causes, is_calculated) in zip(leaves, found, strict=True):
        last = ownership.find_owner(live, leaf.keys)
        change = FieldChange(
            path=leaf.path,
            op=leaf.op,
            before=_shown(masker, desired.address, leaf.keys, leaf.before),
            after=_shown(masker, desired.address, leaf.keys, leaf.after),
            semantic=leaf.semantic,
            owner="" if last is None else last.manager,
            cause=_cause(live, last, is_same_blueprint=is_same_blueprint and not _is_own(masker, leaf, last)),
            causes=leaf_causes,
        )
        yield SummarizedField(change, is_calculated)


def _old_inputs(context: DryRunContext, desired: DesiredObject) -> Mapping[str, str]:
    """Return the texts of an object's inputs at the last apply; empty where they are not known."""
    entry = context.observed.inventory.entries.get(desired.ref)
    return {} if entry is None else dict(entry.inputs)


def _is_own(masker: Masker, leaf: Difference, last: ownership.ManagerEntry | None) -> bool:
    """Return whether a sensitive value is still as gpupool wrote it.

    The inventory's digest does not cover it; but a field that another writer changed has another owner.
    """
    if last is None or last.manager != ownership.MANAGER:
        return False
    return any(masker.has_sensitive(value, leaf.keys) for value in (leaf.before, leaf.after))


def _shown(masker: Masker, address: str, keys: tuple[str | int, ...], value: Plain) -> Plain:
    return None if value is None else masker.mask(address, value, keys)


def _cause(
    live: Mapping[str, Plain], last: ownership.ManagerEntry | None, *, is_same_blueprint: bool
) -> ChangeCause:
    if ownership.find_applied_entry(live) is None:
        return "intent"  # gpupool never applied the object
    if is_same_blueprint or (last is not None and last.manager != ownership.MANAGER):
        return "drift"
    return "intent"


def _is_taken(consent: Consent, conflict: Conflict) -> bool:
    """Return whether consent covers a conflict: a field that people changed may be overwritten."""
    choice, _, paths = consent.on_conflict.partition("=")
    if choice != "take" or conflict.kind != "people":
        return False
    field = to_dotted_path(conflict.path)
    return not paths or any(
        field == path or field.startswith(f"{path}.") for path in map(to_dotted_path, paths.split(","))
    )


def _rejections(context: DryRunContext, desired: DesiredObject, answer: Response) -> tuple[Rejection, ...]:
    """Return the causes for which the server rejects an object; empty for other errors."""
    full_text = message(answer)
    is_schema_error = answer.status == _BROKEN and _TYPED_PATCH in full_text
    if answer.status not in {_BAD_REQUEST, _FORBIDDEN, _NOT_FOUND, _INVALID} and not is_schema_error:
        return ()
    named = [(cause.field, cause.message or cause.reason) for cause in read_causes(answer)] or [
        ("", full_text)
    ]
    bodies = (desired.body, context.observed.live.get(desired.ref, {}))
    secrets = secrets_of(context, desired.ref)
    causes = [desired.find_cause(field) if field else None for field, _ in named]
    return tuple(
        Rejection(
            redaction.redact_path(field, bodies, secrets),
            _with_advice(redact_secrets(text, secrets)),
            desired.place if cause is None else cause.place,
            cause,
        )
        for (field, text), cause in zip(named, causes, strict=True)
    )


def without_secrets(context: DryRunContext, ref: Ref, text: str) -> str:
    """Return a text about an object without its sensitive values, live and desired."""
    return redact_secrets(text, secrets_of(context, ref))


def secrets_of(context: DryRunContext, ref: Ref) -> list[str]:
    """Return the sensitive values of all objects; this one may have been read again since the others were."""
    return [*context.secrets(), *context.masker.find_values(dict(context.observed.live.get(ref, {})))]


def _with_advice(text: str) -> str:
    if any(sign in text for sign in _NEVER_CHANGES):
        return f"{text}: this field is immutable; create a pool with another name"
    return text
