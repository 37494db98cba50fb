"""Consistency of one change of a plan file: the object that is sent results in the one that is shown.

Every genuine change fulfils these conditions, with sensitive values masked as in output:

- each value of `body` is in `after`, except for those that `admissions` names; `after` has more values only
  where the server adds defaults or other managers wrote;
- `fields` are exactly the differences between `before` and `after`, and `pre.paths` their paths;
- fields that are never shown (status, owners, finalizers, versions) are not in `body` at all.

Whether `after` has only values that the server adds can't be checked here: `apply` does a dry run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from gpupool.planning.addresses import api_version_of, is_address
from gpupool.planning.admission import find_admission_changes
from gpupool.planning.compare import Difference, find_differences, strip_server_fields
from gpupool.planning.fingerprint import calculate_fingerprint, collect_planned_paths
from gpupool.planning.masking import find_hidden_paths, find_unsealed_paths, show_sealed
from gpupool.planning.ownership import is_equal
from gpupool.planning.plan import Precondition
from gpupool.planning.summaries import calculate_effect, find_summarized
from gpupool.yamlio.located import plain_map

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gpupool.planning.plan import Change, Consent
    from gpupool.yamlio.located import Plain

Mistake: TypeAlias = tuple[tuple[str | int, ...], str]
"""The keys of a wrong value in the file, and a message."""

_ACTIONS: Final = frozenset({("create",), ("update",), ("adopt", "update"), ("delete",), ("no-op",)})
_SENT: Final = frozenset({"apiVersion", "kind", "metadata", "spec"})
_SENT_METADATA: Final = frozenset({"name", "labels", "annotations"})
_KINDS_WITH_NODES: Final = frozenset({"NodePool", "EC2NodeClass"})
_ABSENT: Final = Precondition("", 0, "")


def find_change_mistakes(change: Change, labels: Mapping[str, str], consent: Consent) -> Iterator[Mistake]:
    """Yield the mistakes in one change; `labels` are those of every object of the blueprint."""
    if change.actions not in _ACTIONS:
        actions = ", ".join(change.actions) or "none"
        yield ("actions",), f"unknown combination of actions: {actions}"
        return
    if not is_address(change.address):
        return  # reported by `agreement`
    if change.actions == ("delete",):
        yield from _select_mistakes(_deletion_rules(change))
        yield from _check_before(change)
        return
    body = change.body
    if not isinstance(body, dict):
        yield ("body",), "every change but a deletion sends an object"
        return
    yield from _check_body(change, body, labels)
    yield from _select_mistakes(_state_rules(change, consent))
    yield from _check_before(change)
    if change.after is not None:
        yield from _check_after(change, body)
    if not change.fields:
        yield from _check_summaries(change)


def _check_summaries(change: Change) -> Iterator[Mistake]:
    """Yield summaries that are not of the changed fields, as these are shown only with `-v`."""
    for index, summary in enumerate(change.summaries):
        fields = find_summarized(summary, change.fields)
        if not fields or {field.path for field in fields} != set(summary.paths):
            yield ("summaries", index, "paths"), "these are not changed fields with this cause"
        elif summary.effect != calculate_effect(fields, is_known=bool(summary.before)):
            yield ("summaries", index, "effect"), "this is not the effect of the changed fields"


def _select_mistakes(rules: Iterable[tuple[bool, str, str]]) -> Iterator[Mistake]:
    for is_wrong, key, message in rules:
        if is_wrong:
            yield (key,), message


def _deletion_rules(change: Change) -> Iterator[tuple[bool, str, str]]:
    has_count = change.ref.kind in _KINDS_WITH_NODES
    yield change.place is not None, "place", "what is deleted is not in the blueprint"
    yield not isinstance(change.before, dict), "before", "a deletion shows the object as it is"
    yield change.after is not None, "after", "a deletion leaves no object"
    yield change.fields != (), "fields", "a deletion changes no single field"
    yield change.body is not None, "body", "a deletion sends no object"
    yield (
        not change.pre.uid or change.pre.paths != (),
        "pre",
        "a deletion names one object as a whole, by its uid",
    )
    yield change.verified != "server", "verified", "a deletion is of an object that the API server listed"
    yield (
        (change.conflicts, change.rejections) != ((), ()),
        "conflicts",
        "a deletion has neither conflicts nor rejections",
    )
    yield change.residue != (), "residue", "a deletion leaves nothing behind"
    yield bool(change.blocked or change.leaving), "blocked", "what is blocked is not deleted"
    yield change.force, "force", "a deletion takes no fields over"
    yield (
        bool(change.summaries or change.inputs),
        "summaries",
        "a deletion has no values in the blueprint",
    )
    count = change.node_claims
    is_wrong = (count is None or count < 0) if has_count else count is not None
    yield is_wrong, "nodeClaims", "a deletion of a pool or a class counts its NodeClaims, and no other does"


def _state_rules(change: Change, consent: Consent) -> Iterator[tuple[bool, str, str]]:
    """Yield the rules of a change other than a deletion: whether it is broken, the key and the message."""
    is_new, is_idle = change.actions == ("create",), not change.writes
    has_result = change.after is not None
    yield change.node_claims is not None, "nodeClaims", "only a deletion counts NodeClaims"
    yield is_new and change.before is not None, "before", "an object that is created does not exist before"
    yield is_new and change.pre != _ABSENT, "pre", "an object that is created has no uid and no generation"
    yield not is_new and not change.pre.uid, "pre", "an object that exists has a uid"
    yield change.pre.generation < 0, "pre", "a generation is at least 0"
    yield bool(change.rejections) and (has_result or is_idle), "rejections", "what is rejected has no result"
    yield (
        change.verified == "offline" and not change.rejections,
        "verified",
        "what no server judged is rejected",
    )
    yield not is_idle and not has_result and not change.rejections, "after", "a change shows what it makes"
    yield has_result and not is_new and change.before is None, "before", "a change shows the object as it is"
    yield not has_result and change.fields != (), "fields", "fields change only where a result is shown"
    yield bool(change.blocked) and (not is_idle or has_result), "blocked", "what is blocked is not written"
    yield change.leaving and not change.blocked, "leaving", "an object that is being deleted is blocked"
    yield (
        is_idle and bool(change.conflicts or change.force),
        "conflicts",
        "what is left as it is takes no fields over",
    )
    yield (
        "adopt" in change.actions and change.address not in consent.adopt,
        "actions",
        "the consent does not name this object under `adopt`",
    )
    yield (
        is_idle and any(field.semantic for field in change.fields),
        "fields",
        "a field changes, and no action says so",
    )


def _check_body(change: Change, body: dict[str, Any], labels: Mapping[str, str]) -> Iterator[Mistake]:
    kind, name = change.ref
    metadata = plain_map(body.get("metadata"))
    own = plain_map(metadata.get("labels"))
    expected: list[tuple[tuple[str, ...], Plain, str]] = [
        (("kind",), body.get("kind"), kind),
        (("apiVersion",), body.get("apiVersion"), api_version_of(kind)),
        (("metadata", "name"), metadata.get("name"), name),
        *((("metadata", "labels", key), own.get(key), value) for key, value in labels.items()),
    ]
    for key_path, value, required in expected:
        if value != required:
            yield (
                ("body", *key_path),
                f"expected `{required}` in the body of `{change.address}`",
            )
    unknown: list[tuple[str, ...]] = [("body", key) for key in body if key not in _SENT]
    unknown += [("body", "metadata", key) for key in metadata if key not in _SENT_METADATA]
    for key_path in unknown:
        yield key_path, "this would be sent, and no plan shows it"
    if not unknown and not is_equal(strip_server_fields(body), body):
        yield (
            ("body", "metadata", "annotations"),
            "annotations of kubectl or Karpenter would be sent, and no plan shows them",
        )
    for path in find_unsealed_paths(body):
        yield ("body", *path), "a sensitive value is not a digest here, as in every plan"


def _check_before(change: Change) -> Iterator[Mistake]:
    if change.before is None:
        return
    if not isinstance(change.before, dict):
        yield ("before",), "this is not an object"
        return
    kind, name = change.ref
    before, pre = change.before, change.pre
    if before.get("kind", kind) != kind or plain_map(before.get("metadata")).get("name") != name:
        yield ("before",), f"this is not `{change.address}`"
    has_fingerprint = change.after is not None or change.actions == ("delete",)
    if not has_fingerprint:
        if (pre.fingerprint, pre.paths) != ("", ()):
            yield ("pre",), "there is nothing that this change could be held against"
    elif _is_visible(before, pre) and calculate_fingerprint(before, pre.paths) != pre.fingerprint:
        yield ("pre", "fingerprint"), "this is not the digest of what `before` shows"


def _is_visible(before: dict[str, Any], pre: Precondition) -> bool:
    """Return whether no value under the fingerprint is masked, so that it can be calculated here."""
    metadata = plain_map(before.get("metadata"))
    parts: list[Plain] = [metadata.get("annotations"), *(_at(before, path) for path in pre.paths)]
    return not any(path is not None for part in parts for path in find_hidden_paths(part))


def _at(body: Plain, path: Iterable[str]) -> Plain:
    for key in path:
        body = plain_map(body).get(key)
    return body


def _check_after(change: Change, body: dict[str, Any]) -> Iterator[Mistake]:
    if not isinstance(change.after, dict):
        yield ("after",), "this is not an object"
        return
    sent = show_sealed(body)
    yield from _check_admissions(change, plain_map(sent), change.after)
    if change.before is None:
        if change.verified != "server" and not is_equal(sent, change.after):
            yield ("after",), "no server was asked, so this is what would be sent and no more"
        if change.fields:
            yield ("fields",), "an object that is created has no changed fields"
    elif isinstance(change.before, dict):
        yield from _check_fields(change, body, change.before, change.after)


def _check_admissions(
    change: Change, sent: Mapping[str, Plain], after: Mapping[str, Plain]
) -> Iterator[Mistake]:
    """Yield values that would be sent and are not shown, unless `admissions` names them."""
    admissions = [(admission.path, admission.said, admission.stored) for admission in change.admissions]
    named = [
        leaf
        for leaf in find_admission_changes(sent, after)
        if (leaf.path, leaf.before, leaf.after) in admissions
    ]
    if len(named) != len(admissions) or (admissions and change.verified != "server"):
        yield ("admissions",), "these are not differences between `body` and `after`"
    for path in find_missing_values(dict(sent), dict(after)):
        if not any(path[: len(leaf.keys)] == leaf.keys[: len(path)] for leaf in named):
            yield ("body", *path), "this would be sent, and `after` does not show it"


def _check_fields(
    change: Change, body: dict[str, Any], before: dict[str, Any], after: dict[str, Any]
) -> Iterator[Mistake]:
    leaves = find_differences(before, after)
    if not _is_same_fields(change, leaves):
        yield ("fields",), "these are not the differences between `before` and `after`"
    elif change.fields:
        yield from _check_summaries(change)
    if change.pre.paths != collect_planned_paths(leaf.keys for leaf in leaves):
        yield ("pre", "paths"), "these are not the paths that the change touches"
    yield from _check_residue(change, body, before)


def _is_same_fields(change: Change, leaves: list[Difference]) -> bool:
    return len(leaves) == len(change.fields) and all(
        (leaf.path, leaf.op, leaf.semantic) == (field.path, field.op, field.semantic)
        and is_equal(leaf.before, field.before)
        and is_equal(leaf.after, field.after)
        for leaf, field in zip(leaves, change.fields, strict=True)
    )


def _check_residue(change: Change, body: dict[str, Any], before: dict[str, Any]) -> Iterator[Mistake]:
    """Yield residue that is not in the live object, or is in the body as well."""
    spec, shown = before.get("spec"), plain_map(show_sealed(body)).get("spec")
    left = [leaf for leaf in find_differences({"spec": spec}, {"spec": shown}) if leaf.op == "remove"]
    for index, residue in enumerate(change.residue):
        if not any(leaf.path == residue.path and is_equal(leaf.before, residue.value) for leaf in left):
            yield ("residue", index), "the object has no such value beside what is sent"


def find_missing_values(
    body: Plain, after: Plain, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of each value of a body that an object lacks; lists have the same items in order."""
    if isinstance(body, dict) and isinstance(after, dict):
        for key, item in body.items():
            if key in after:
                yield from find_missing_values(item, after[key], (*path, key))
            else:
                yield (*path, key)
    elif isinstance(body, list) and isinstance(after, list) and len(body) == len(after):
        for index, (item, other) in enumerate(zip(body, after, strict=True)):
            yield from find_missing_values(item, other, (*path, index))
    elif isinstance(body, dict | list) or not is_equal(body, after):
        yield path
