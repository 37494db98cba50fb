"""What the API server holds against the structure of an object, by the schema of its CRD.

Karpenter's types in `gpupool.karpenter` are that schema; here they are asked the way the server asks.
Fields of a status count by name alone.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pydantic_core import ErrorDetails, ValidationError

from gpupool.codes import Code
from gpupool.findings import Finding
from gpupool.karpenter.validation.rules import find_values
from gpupool.karpenter.validation.status import STATUS, VALUE, find_unknown_fields
from gpupool.karpenter.validation.types import TYPES
from gpupool.karpenter.versions import LATEST, REASONS_DIFFER_SINCE, is_supported
from gpupool.shapes import error_messages
from gpupool.shapes.compiled import validate
from gpupool.shapes.error_messages import ErrorPath, dotted
from gpupool.yamlio.located import Located, Plain, find, items, mapping, place, plain, text_at

_FIXES = {
    "spec.disruption.consolidateAfter": "add `consolidateAfter: 0s`, the default without `disruption`",
    "spec.template.spec.requirements": "add `requirements: []` to allow any instance type",
    "spec.template.spec.nodeClassRef.group": "add `group: karpenter.k8s.aws`",
}
"""What to write for a required field, where that is known."""

_CODES: Mapping[str, str] = {
    Code.UNKNOWN_KEY: Code.UNKNOWN_FIELD,
    Code.MISSING: Code.MISSING_FIELD,
    Code.WRONG_TYPE: Code.FIELD_TYPE,
    Code.WRONG_VALUE: Code.FIELD_VALUE,
}
_STOPPING = frozenset({"literal_error", "string_too_long", "too_long", "date_time", "too_large"})
"""Errors after which the server asks no CEL rule; so do those of type and for what is missing."""

_METADATA_AS_A_WHOLE = ("metadata.labels", "metadata.annotations", "metadata.finalizers")
_OF_A_COLLECTION = frozenset({"too_long", "too_short"})
"""Errors of a list or map as a whole: it stands in the right place."""

_SECOND = 2
_KEY = "[key]"
"""Pydantic's word for an error in a key; the CRD says which keys there are in CEL."""


class Structure(NamedTuple):
    """What the schema says of one object."""

    findings: tuple[Finding, ...]
    broken: frozenset[ErrorPath]
    """Where the schema is not kept in a way that leaves nothing to ask the other rules about."""


def check_structure(kind: str, body: Located, data: Plain, target: str = LATEST) -> Structure:
    """Hold an object against its type; `body` is as `as_server_reads` gives it, `data` the same in plain."""
    model = TYPES[kind]
    found, broken = [*_owners(body), *_unknown_in_status(kind, body), *_unnamed(body)], set()
    if is_supported(target, REASONS_DIFFER_SINCE):
        found += _said_twice(body)
    try:
        validate(model, data)
    except ValidationError as problem:
        for details in problem.errors(include_url=False):
            if _is_said_elsewhere(details):
                continue
            finding = error_messages.finding(details, body, model)
            code = _CODES.get(finding.code, finding.code)
            fix = finding.fix or (_FIXES.get(finding.path, "") if code == Code.MISSING_FIELD else "")
            told = finding._replace(code=code, path=_server_path(finding.path), fix=fix)
            found += _keys_of_no_map(body, details, told) or [told]
            if _stops(details, finding):
                broken.add(details["loc"])
    return Structure(tuple(found), frozenset(broken))


def _unknown_in_status(kind: str, body: Located) -> Iterator[Finding]:
    status = find(body, "status")
    for path, node in find_unknown_fields(status, STATUS[kind], ("status",)) if status is not None else ():
        message = f"unknown field `{path[-1]}` in `{dotted(path[:-1])}`"
        fix = "remove `status`: Karpenter writes it"
        yield Finding(Code.UNKNOWN_FIELD, message, node.key or node.at, fix, path=dotted(path))


def _unnamed(body: Located) -> Iterator[Finding]:
    metadata = mapping(body)["metadata"]
    is_map = isinstance(metadata.value, dict)
    if is_map and not find_values(metadata, "name", "generateName"):
        yield Finding(
            Code.MISSING_FIELD,
            "`name` is missing in `metadata`",
            place(metadata),
            "add `name`",
            path="metadata.name",
        )


def _is_said_elsewhere(details: ErrorDetails) -> bool:
    """Return whether this is no matter of the schema: a key that the CRD forbids in CEL, an item of a set."""
    is_key_of_spec = details["loc"][0] == "spec" and details["loc"][-1] == _KEY
    return is_key_of_spec or "item" in details.get("ctx", {})


def _keys_of_no_map(body: Located, details: ErrorDetails, told: Finding) -> list[Finding]:
    """Blame the keys of a map that stands where none can, as the server does: it knows none of them."""
    node, _, _ = error_messages.locate(body, details["loc"])
    if details["loc"][0] != "spec" or told.code not in (Code.FIELD_TYPE, Code.FIELD_VALUE):
        return []
    return [
        told._replace(
            code=Code.UNKNOWN_FIELD,
            message=f"unknown field `{path[-1]}`: {told.message}",
            at=item.key or item.at,
            path=dotted(path),
        )
        for path, item in find_unknown_fields(node, VALUE, details["loc"])
        if details["type"] not in _OF_A_COLLECTION
    ]


def _server_path(path: str) -> str:
    """Return the path as the server has it: it names no single label, annotation or finalizer."""
    for whole in _METADATA_AS_A_WHOLE:
        if path.startswith(whole):
            return whole
    return path


def _owners(body: Located) -> Iterator[Finding]:
    """Find owners that can't be any, and more than one that controls; the same one twice counts once."""
    said = find(body, "metadata", "ownerReferences")
    owners = [mapping(owner) for owner in items(said)]
    controlling = {
        tuple((key, str(value.value)) for key, value in sorted(owner.items()))
        for owner in owners
        if "controller" in owner and owner["controller"].value is True
    }
    events = [owner for owner in items(said) if _identity(owner) == ("v1", "Event")]
    if said is not None and (events or len(controlling) > 1):
        what = "an Event can't be an owner" if events else "more than one owner has `controller: true`"
        fix = "remove `ownerReferences`" if events else "keep one `controller: true`"
        yield Finding(Code.FIELD_VALUE, what, place(said), fix, path="metadata.ownerReferences")


def _identity(owner: Located) -> tuple[str, str]:
    return text_at(owner, "apiVersion"), text_at(owner, "kind")


def _said_twice(body: Located) -> Iterator[Finding]:
    """Find a budget's reasons that stand there already; the list is a set, and each is blamed once."""
    for index, budget in enumerate(items(find(body, "spec", "disruption", "budgets"))):
        seen: Counter[str] = Counter()
        reasons = items(find(budget, "reasons"))
        for item, reason in enumerate(reasons if len(reasons) > 1 else ()):
            seen[repr(plain(reason))] += 1
            if seen[repr(plain(reason))] == _SECOND:
                path = f"spec.disruption.budgets[{index}].reasons[{item}]"
                message = f"duplicate reason `{str(plain(reason))[:40]}`"
                yield Finding(Code.FIELD_VALUE, message, place(reason), "remove it", path=path)


def _stops(details: ErrorDetails, finding: Finding) -> bool:
    return details["type"] in _STOPPING or finding.code in (Code.MISSING, Code.WRONG_TYPE)
