"""Agreement inside one change of a plan file: what is sent gives what is shown, and nothing else.

The relation that every genuine change fulfils, with sensitive values as people see them:

- each value of `body` is in `after`, but for what `admissions` names; `after` holds more only where the
  server adds defaults or others wrote;
- `fields` are exactly the differences between `before` and `after`, and `pre.paths` their paths;
- what is never shown (status, owners, finalizers, versions) is not in `body` at all.

That `after` holds no more than the server adds is for the server to say: `apply` asks it.
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
from gpupool.yamlio.located import plain_map

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gpupool.planning.plan import Change, Consent
    from gpupool.yamlio.located import Plain

Mistake: TypeAlias = tuple[tuple[str | int, ...], str]
"""Where something is wrong, as the keys of the file, and what."""

_ACTIONS: Final = frozenset({("create",), ("update",), ("adopt", "update"), ("delete",), ("no-op",)})
_SENT: Final = frozenset({"apiVersion", "kind", "metadata", "spec"})
_SENT_METADATA: Final = frozenset({"name", "labels", "annotations"})
_COUNTED: Final = frozenset({"NodePool", "EC2NodeClass"})
_ABSENT: Final = Precondition("", 0, "")


def find_change_mistakes(change: Change, labels: Mapping[str, str], consent: Consent) -> Iterator[Mistake]:
    """Yield each mistake in one change; `labels` are those of every object of the blueprint."""
    if change.actions not in _ACTIONS:
        said = ", ".join(change.actions) or "none"
        yield ("actions",), f"unknown combination of actions: {said}"
        return
    if not is_address(change.address):
        return  # reported where all addresses are
    if change.actions == ("delete",):
        yield from _chosen(_deletion(change))
        yield from _before(change)
        return
    body = change.body
    if not isinstance(body, dict):
        yield ("body",), "every change but a deletion sends an object"
        return
    yield from _body(change, body, labels)
    yield from _chosen(_state(change, consent))
    yield from _before(change)
    if change.after is not None:
        yield from _after(change, body)


def _chosen(rules: Iterable[tuple[bool, str, str]]) -> Iterator[Mistake]:
    for is_wrong, key, message in rules:
        if is_wrong:
            yield (key,), message


def _deletion(change: Change) -> Iterator[tuple[bool, str, str]]:
    counts = change.ref.kind in _COUNTED
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
    count = change.node_claims
    wrong = (count is None or count < 0) if counts else count is not None
    yield wrong, "nodeClaims", "a deletion of a pool or a class counts its NodeClaims, and no other does"


def _state(change: Change, consent: Consent) -> Iterator[tuple[bool, str, str]]:
    """Yield rules about what a change other than a deletion has, each with whether it is broken."""
    is_new, is_idle = change.actions == ("create",), not change.writes
    is_judged = change.after is not None
    yield change.node_claims is not None, "nodeClaims", "only a deletion counts NodeClaims"
    yield is_new and change.before is not None, "before", "an object that is created does not exist before"
    yield is_new and change.pre != _ABSENT, "pre", "an object that is created has no uid and no generation"
    yield not is_new and not change.pre.uid, "pre", "an object that exists has a uid"
    yield change.pre.generation < 0, "pre", "a generation is at least 0"
    yield bool(change.rejections) and (is_judged or is_idle), "rejections", "what is rejected has no result"
    yield (
        change.verified == "offline" and not change.rejections,
        "verified",
        "what no server judged is rejected",
    )
    yield not is_idle and not is_judged and not change.rejections, "after", "a change shows what it makes"
    yield is_judged and not is_new and change.before is None, "before", "a change shows the object as it is"
    yield not is_judged and change.fields != (), "fields", "fields change only where a result is shown"
    yield bool(change.blocked) and (not is_idle or is_judged), "blocked", "what is blocked is not written"
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
        is_idle and any(each.semantic for each in change.fields),
        "fields",
        "a field changes, and no action says so",
    )


def _body(change: Change, body: dict[str, Any], labels: Mapping[str, str]) -> Iterator[Mistake]:
    kind, name = change.ref
    metadata = plain_map(body.get("metadata"))
    own = plain_map(metadata.get("labels"))
    expected: list[tuple[tuple[str, ...], Plain, str]] = [
        (("kind",), body.get("kind"), kind),
        (("apiVersion",), body.get("apiVersion"), api_version_of(kind)),
        (("metadata", "name"), metadata.get("name"), name),
        *((("metadata", "labels", key), own.get(key), value) for key, value in labels.items()),
    ]
    for key_path, value, wanted in expected:
        if value != wanted:
            yield (
                ("body", *key_path),
                f"expected `{wanted}` in the body of `{change.address}`",
            )
    extra: list[tuple[str, ...]] = [("body", key) for key in body if key not in _SENT]
    extra += [("body", "metadata", key) for key in metadata if key not in _SENT_METADATA]
    for hidden in extra:
        yield hidden, "this would be sent, and no plan shows it"
    if not extra and not is_equal(strip_server_fields(body), body):
        yield (
            ("body", "metadata", "annotations"),
            "annotations of kubectl or Karpenter would be sent, and no plan shows them",
        )
    for path in find_unsealed_paths(body):
        yield ("body", *path), "a sensitive value is not a digest here, as in every plan"


def _before(change: Change) -> Iterator[Mistake]:
    if change.before is None:
        return
    if not isinstance(change.before, dict):
        yield ("before",), "this is not an object"
        return
    kind, name = change.ref
    before, pre = change.before, change.pre
    if before.get("kind", kind) != kind or plain_map(before.get("metadata")).get("name") != name:
        yield ("before",), f"this is not `{change.address}`"
    is_pinned = change.after is not None or change.actions == ("delete",)
    if not is_pinned:
        if (pre.fingerprint, pre.paths) != ("", ()):
            yield ("pre",), "there is nothing that this change could be held against"
    elif _is_plain(before, pre) and calculate_fingerprint(before, pre.paths) != pre.fingerprint:
        yield ("pre", "fingerprint"), "this is not the digest of what `before` shows"


def _is_plain(before: dict[str, Any], pre: Precondition) -> bool:
    """Return whether all that a fingerprint covers is shown: of what is hidden, it has the full digests."""
    metadata = plain_map(before.get("metadata"))
    parts: list[Plain] = [metadata.get("annotations"), *(_at(before, path) for path in pre.paths)]
    return not any(path is not None for part in parts for path in find_hidden_paths(part))


def _at(body: Plain, path: Iterable[str]) -> Plain:
    for key in path:
        body = plain_map(body).get(key)
    return body


def _after(change: Change, body: dict[str, Any]) -> Iterator[Mistake]:
    if not isinstance(change.after, dict):
        yield ("after",), "this is not an object"
        return
    sent = show_sealed(body)
    yield from _missing(change, plain_map(sent), change.after)
    if change.before is None:
        if change.verified != "server" and not is_equal(sent, change.after):
            yield ("after",), "no server was asked, so this is what would be sent and no more"
        if change.fields:
            yield ("fields",), "an object that is created has no changed fields"
    elif isinstance(change.before, dict):
        yield from _differences(change, body, change.before, change.after)


def _missing(change: Change, sent: Mapping[str, Plain], after: Mapping[str, Plain]) -> Iterator[Mistake]:
    """Yield what would be sent and is not shown, unless the plan says that admission changes it."""
    said = [(each.path, each.said, each.stored) for each in change.admissions]
    named = [
        each for each in find_admission_changes(sent, after) if (each.path, each.before, each.after) in said
    ]
    if len(named) != len(said) or (said and change.verified != "server"):
        yield ("admissions",), "these are not differences between `body` and `after`"
    for path in find_missing_values(dict(sent), dict(after)):
        if not any(path[: len(each.keys)] == each.keys[: len(path)] for each in named):
            yield ("body", *path), "this would be sent, and `after` does not show it"


def _differences(
    change: Change, body: dict[str, Any], before: dict[str, Any], after: dict[str, Any]
) -> Iterator[Mistake]:
    found = find_differences(before, after)
    if not _is_same_fields(change, found):
        yield ("fields",), "these are not the differences between `before` and `after`"
    if change.pre.paths != collect_planned_paths(each.keys for each in found):
        yield ("pre", "paths"), "these are not the paths that the change touches"
    yield from _residue(change, body, before)


def _is_same_fields(change: Change, found: list[Difference]) -> bool:
    return len(found) == len(change.fields) and all(
        (each.path, each.op, each.semantic) == (field.path, field.op, field.semantic)
        and is_equal(each.before, field.before)
        and is_equal(each.after, field.after)
        for each, field in zip(found, change.fields, strict=True)
    )


def _residue(change: Change, body: dict[str, Any], before: dict[str, Any]) -> Iterator[Mistake]:
    """Yield what is said to stay, and is not there, or is in the body as well."""
    spec, shown = before.get("spec"), plain_map(show_sealed(body)).get("spec")
    left = [each for each in find_differences({"spec": spec}, {"spec": shown}) if each.op == "remove"]
    for index, residue in enumerate(change.residue):
        if not any(each.path == residue.path and is_equal(each.before, residue.value) for each in left):
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
