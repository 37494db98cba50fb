"""What becomes of one object if it is applied: asked of the API server in a dry run, where that is needed."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.client import APPLY, FIELD_MANAGER, Request
from gpupool.cluster.rejections import field_conflicts, message, raise_rejection, read_causes
from gpupool.planning import ownership
from gpupool.planning.admission import changed
from gpupool.planning.compare import differences, flat, stripped
from gpupool.planning.emulated_apply import merged
from gpupool.planning.fingerprint import fingerprint, planned
from gpupool.planning.foreign_fields import belonging, conflicts_of, residue
from gpupool.planning.message_redaction import without
from gpupool.planning.plan import Admission, Before, Change, FieldChange, Rejection
from gpupool.planning.tools import not_agreed, signs
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
"""What a 403 says about a right that is missing; others are an admission policy's, or a webhook's."""

_NEVER_CHANGES: Final = ("immutable", "Cannot transition")


@dataclass(frozen=True, slots=True)
class DryRunContext:
    """What every object is judged with."""

    cluster: Cluster
    observed: LiveState
    masker: Masker
    consent: Consent
    secrets: Callable[[], tuple[str, ...]]
    """Every sensitive text there is: a webhook may quote one object in what it says of another."""


class Assessed(NamedTuple):
    """A change, and what stays in memory beside it."""

    change: Change
    wish: DesiredObject


def assess(asking: DryRunContext, wish: DesiredObject) -> Assessed:
    """Return what becomes of an object.

    Raises:
        ClusterError: where the server can't be asked.
    """
    live = asking.observed.live.get(wish.ref)
    start = _start(asking, wish, live)
    if wish.kind.name not in asking.observed.served:
        missing = Rejection(
            "", f"the API server does not serve {wish.kind.name}: Karpenter's CRDs are missing", wish.place()
        )
        return Assessed(replace(start, verified="offline", rejections=(missing,)), wish)
    if live is not None:
        if why := describe_termination(live):
            return Assessed(replace(start, actions=("no-op",), blocked=why, leaving=True), wish)
        adopts = wish.address in asking.consent.adopt
        if why := _foreign(asking, live, adopts=adopts):
            left = residue(asking.masker, wish.address, live, wish.body)
            return Assessed(replace(start, actions=("no-op",), blocked=why, residue=left), wish)
        if ownership.is_applied_already(live, wish.body):
            left = residue(asking.masker, wish.address, live, wish.body)
            return Assessed(replace(_unchanged(start), residue=left), wish)
    return _dry_run(asking, wish, live, start)


def _foreign(asking: DryRunContext, live: Mapping[str, Plain], *, adopts: bool) -> str:
    """Return why an object is not ours to write, another tool's claim to it included."""
    why = belonging(live, asking.observed.inventory.place.id, adopts=adopts)
    if ownership.applied(live) is not None:
        return why
    return "; ".join(filter(None, (why, not_agreed(signs(live), asking.consent.adopt_from))))


def _start(asking: DryRunContext, wish: DesiredObject, live: Mapping[str, Plain] | None) -> Change:
    before = None if live is None else asking.masker.shown(wish.address, stripped(dict(live)))
    return Change(
        address=wish.address,
        actions=("create",) if live is None else ("update",),
        place=wish.place(),
        reason="",
        before=before,
        after=None,
        fields=(),
        body=asking.masker.sealed(wish.address, dict(wish.body)),
        pre=Before("", 0, "") if live is None else Before(uid_of(live), generation_of(live), ""),
        verified="server",
        managed_by=() if live is None else tuple(each.tool for each in signs(live)),
    )


def _unchanged(change: Change) -> Change:
    return replace(change, actions=("no-op",), reason="matches the blueprint", before=None)


def _dry_run(
    asking: DryRunContext, wish: DesiredObject, live: Mapping[str, Plain] | None, start: Change
) -> Assessed:
    adopts = _adopts(asking, wish, live)
    request = build_apply_request(wish, force=adopts, dry_run=True)
    secrets = partial(secrets_of, asking, wish.ref)
    answer = redaction.ask(asking.cluster, request, secrets)
    if answer.ok:
        return _judged(asking, wish, live, _Result(start, answer.body, "server", force=adopts))
    contested = field_conflicts(answer)
    if answer.status == _CONFLICT and contested and live is not None:
        forced = redaction.ask(asking.cluster, build_apply_request(wish, force=True, dry_run=True), secrets)
        found = conflicts_of(live, wish.body, contested)
        taken = all(_is_taken(asking.consent, each) for each in found)
        contesting = replace(start, conflicts=() if taken else found)
        if forced.ok:
            return _judged(asking, wish, live, _Result(contesting, forced.body, "server", force=taken))
        # The server looks who owns a field before it looks at what is said there.
        start, answer = contesting, forced
    if answer.status == _FORBIDDEN and _LACKS.search(message(answer)):
        after = wish.body if live is None else merged(live, wish.body)
        return _judged(asking, wish, live, _Result(start, after, "read-only", force=False))
    rejections = _rejections(asking, wish, answer)
    if not rejections:
        raise_rejection(
            request, redaction.redact_response(answer, secrets()), f"try {wish.address} in a dry run"
        )
    return Assessed(replace(start, rejections=rejections), wish)


def build_apply_request(
    wish: DesiredObject, *, force: bool, dry_run: bool, uid: str = "", version: str = ""
) -> Request:
    """Return the server-side apply of an object; `uid` and `version` are what it has to be still."""
    body = dict(wish.body)
    fence: dict[str, Plain] = {
        **({"uid": uid} if uid else {}),
        **({"resourceVersion": version} if version else {}),
    }
    if fence:
        metadata = body["metadata"]
        known = metadata if isinstance(metadata, dict) else {}
        body["metadata"] = {**known, **fence}
    query = {"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict", "force": str(force).lower()}
    if dry_run:
        query["dryRun"] = "All"
    return Request("PATCH", wish.kind.path_of(wish.name), query, body, APPLY)


def _adopts(asking: DryRunContext, wish: DesiredObject, live: Mapping[str, Plain] | None) -> bool:
    """Return whether the object is taken over from somebody else, as was agreed to."""
    return live is not None and ownership.applied(live) is None and wish.address in asking.consent.adopt


class _Result(NamedTuple):
    """What the object would be, and who says so."""

    start: Change
    after: Mapping[str, Plain]
    verified: Verified
    force: bool


def _judged(
    asking: DryRunContext, wish: DesiredObject, live: Mapping[str, Plain] | None, result: _Result
) -> Assessed:
    """Compare what is with what would be."""
    masker, after = asking.masker, dict(plain_map(stripped(dict(result.after))))
    shown = masker.shown(wish.address, after)
    admissions = tuple(find_admissions(asking, wish, after)) if result.verified == "server" else ()
    start = replace(result.start, verified=result.verified, after=shown, admissions=admissions)
    if live is None:
        return Assessed(replace(start, reason="does not exist"), wish)
    before = stripped(dict(live))
    found = differences(before, after)
    paths = planned(each.keys for each in found)
    fields = tuple(_fields(asking, wish, live, found))
    digest = fingerprint(masker.sealed(wish.address, before), paths)
    pre = replace(start.pre, fingerprint=digest, paths=paths)
    left = residue(masker, wish.address, live, wish.body)
    adopts = _adopts(asking, wish, live)
    actions: tuple[Action, ...] = ("adopt", "update") if adopts else ("update",)
    change = replace(start, actions=actions, fields=fields, pre=pre, residue=left)
    claims = not found and _claims(live, result.after)
    if not adopts and not claims and not any(each.semantic for each in fields):
        only_words = "equivalent; only the formatting differs" if fields else "matches the blueprint"
        # To write what differs in words would bring a new generation, and nothing else; who wrote it in other
        # words owns it now, and there is nothing to contest.
        return Assessed(replace(change, actions=("no-op",), reason=only_words, conflicts=()), wish)
    return Assessed(replace(change, reason=_reason(change), force=result.force), wish)


def find_admissions(
    asking: DryRunContext, wish: DesiredObject, after: Mapping[str, Plain]
) -> Iterator[Admission]:
    """Yield what admission changed, or would change, of an object; `after` is what the server stores."""
    for each in changed(wish.body, after):
        said, stored = (
            _shown(asking.masker, wish.address, each.keys, value) for value in (each.before, each.after)
        )
        yield Admission(each.path, said, stored, wish.place(each.path))


def _claims(live: Mapping[str, Plain], after: Mapping[str, Plain]) -> bool:
    """Return whether gpupool would own more, or less, than it does.

    What somebody else wrote before the blueprint said the same would stay that owner's alone, and be in the
    way of the next change.
    """
    own, would_own = ownership.applied(live), ownership.applied(after)
    return would_own is not None and (own is None or own.fields != would_own.fields)


def _reason(change: Change) -> str:
    causes_ = {each.cause for each in change.fields if each.semantic}
    if "adopt" in change.actions:
        return "gpupool adopts it"
    if causes_ == {"drift"}:
        return "changed in the cluster"
    return "differs from the blueprint" if causes_ else "not managed by gpupool yet"


def _fields(
    asking: DryRunContext, wish: DesiredObject, live: Mapping[str, Plain], found: Sequence[Difference]
) -> Iterator[FieldChange]:
    masker = asking.masker
    known = asking.observed.inventory.known.get(wish.ref)
    is_same_blueprint = known is not None and known.digest == wish.digest
    for each in found:
        last = ownership.owner(live, each.keys)
        yield FieldChange(
            path=each.path,
            op=each.op,
            before=_shown(masker, wish.address, each.keys, each.before),
            after=_shown(masker, wish.address, each.keys, each.after),
            semantic=each.semantic,
            owner="" if last is None else last.manager,
            cause=_cause(live, last, is_same_blueprint=is_same_blueprint and not _is_own(masker, each, last)),
        )


def _is_own(masker: Masker, found: Difference, last: ownership.ManagerEntry | None) -> bool:
    """Return whether a sensitive value is still as gpupool wrote it.

    The inventory's digest tells nothing of it; but if anybody else had changed it, the field would be theirs.
    """
    if last is None or last.manager != ownership.MANAGER:
        return False
    return any(masker.has_sensitive(each, found.keys) for each in (found.before, found.after))


def _shown(masker: Masker, address: str, keys: tuple[str | int, ...], value: Plain) -> Plain:
    return None if value is None else masker.shown(address, value, keys)


def _cause(
    live: Mapping[str, Plain], last: ownership.ManagerEntry | None, *, is_same_blueprint: bool
) -> ChangeCause:
    if ownership.applied(live) is None:
        return "intent"  # nothing of it ever was as the blueprint says
    if is_same_blueprint or (last is not None and last.manager != ownership.MANAGER):
        return "drift"
    return "intent"


def _is_taken(consent: Consent, conflict: Conflict) -> bool:
    """Return whether a contested field may be overwritten: what people changed, where that was agreed to."""
    word, _, paths = consent.on_conflict.partition("=")
    if word != "take" or conflict.kind != "people":
        return False
    said = flat(conflict.path)
    return not paths or any(
        said == each or said.startswith(f"{each}.") for each in map(flat, paths.split(","))
    )


def _rejections(asking: DryRunContext, wish: DesiredObject, answer: Response) -> tuple[Rejection, ...]:
    """Return what the server holds against an object; nothing where the answer is about something else."""
    text = message(answer)
    typed = answer.status == _BROKEN and _TYPED_PATCH in text
    if answer.status not in {_BAD_REQUEST, _FORBIDDEN, _NOT_FOUND, _INVALID} and not typed:
        return ()
    named = [(each.field, each.message or each.reason) for each in read_causes(answer)] or [("", text)]
    bodies = (wish.body, asking.observed.live.get(wish.ref, {}))
    secrets = secrets_of(asking, wish.ref)
    return tuple(
        Rejection(
            redaction.redact_path(field, bodies, secrets),
            _with_advice(without(said, secrets)),
            wish.place(field),
        )
        for field, said in named
    )


def without_secrets(asking: DryRunContext, ref: Ref, text: str) -> str:
    """Return a text about an object without its sensitive values, live and desired."""
    return without(text, secrets_of(asking, ref))


def secrets_of(asking: DryRunContext, ref: Ref) -> list[str]:
    """Return the sensitive values of all objects; this one may have been read again since the others were."""
    return [*asking.secrets(), *asking.masker.values(dict(asking.observed.live.get(ref, {})))]


def _with_advice(said: str) -> str:
    if any(word in said for word in _NEVER_CHANGES):
        return f"{said}: this field is immutable; create a pool with another name"
    return said
