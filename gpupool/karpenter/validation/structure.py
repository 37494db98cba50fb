"""Structural validation of an object against the schema of its CRD.

The types in `gpupool.karpenter` are that schema; this module checks them as the API server does.
Fields of a status are checked by name only.
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
from gpupool.shapes.error_messages import ErrorPath, format_path
from gpupool.yamlio.located import Located, Plain, find, items, mapping, place, plain, text_at

_FIXES = {
    "spec.disruption.consolidateAfter": "add `consolidateAfter: 0s`, the default without `disruption`",
    "spec.template.spec.requirements": "add `requirements: []` to allow any instance type",
    "spec.template.spec.nodeClassRef.group": "add `group: karpenter.k8s.aws`",
}
"""The fix for a missing required field, where there is an obvious one."""

_CODES: Mapping[str, str] = {
    Code.UNKNOWN_KEY: Code.UNKNOWN_FIELD,
    Code.MISSING: Code.MISSING_FIELD,
    Code.WRONG_TYPE: Code.FIELD_TYPE,
    Code.WRONG_VALUE: Code.FIELD_VALUE,
}
_STOPPING_ERRORS = frozenset({"literal_error", "string_too_long", "too_long", "date_time", "too_large"})
"""Errors that stop the server before its CEL rules, as do wrong types and missing fields."""

_WHOLE_METADATA_FIELDS = ("metadata.labels", "metadata.annotations", "metadata.finalizers")
_COLLECTION_ERRORS = frozenset({"too_long", "too_short"})
"""Errors of a list or map as a whole, which is allowed at its path."""

_SECOND = 2
_KEY = "[key]"
"""Pydantic's path step for an error in a key; the CRD restricts keys in CEL."""


class Structure(NamedTuple):
    """The result of the structural validation of one object."""

    findings: tuple[Finding, ...]
    broken: frozenset[ErrorPath]
    """The paths that do not match the schema, so that no other rule can run on them."""


def check_structure(kind: str, body: Located, data: Plain, target: str = LATEST) -> Structure:
    """Check an object against its type; `body` comes from `as_server_reads`, `data` is its plain form."""
    model = TYPES[kind]
    findings, broken = (
        [*_check_owners(body), *_check_status_fields(kind, body), *_check_has_name(body)],
        set(),
    )
    if is_supported(target, REASONS_DIFFER_SINCE):
        findings += _check_duplicate_reasons(body)
    try:
        validate(model, data)
    except ValidationError as problem:
        for details in problem.errors(include_url=False):
            if _is_reported_elsewhere(details):
                continue
            finding = error_messages.convert_error(details, body, model)
            code = _CODES.get(finding.code, finding.code)
            fix = finding.fix or (_FIXES.get(finding.path, "") if code == Code.MISSING_FIELD else "")
            reported = finding._replace(code=code, path=_get_server_path(finding.path), fix=fix)
            findings += _check_misplaced_map(body, details, reported) or [reported]
            if _is_stopping(details, finding):
                broken.add(details["loc"])
    return Structure(tuple(findings), frozenset(broken))


def _check_status_fields(kind: str, body: Located) -> Iterator[Finding]:
    status = find(body, "status")
    for path, node in find_unknown_fields(status, STATUS[kind], ("status",)) if status is not None else ():
        message = f"unknown field `{path[-1]}` in `{format_path(path[:-1])}`"
        fix = "remove `status`: Karpenter writes it"
        yield Finding(Code.UNKNOWN_FIELD, message, node.key or node.at, fix, path=format_path(path))


def _check_has_name(body: Located) -> Iterator[Finding]:
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


def _is_reported_elsewhere(details: ErrorDetails) -> bool:
    """Return whether another check reports this error: a key, which CEL restricts, or an item of a set."""
    is_key_of_spec = details["loc"][0] == "spec" and details["loc"][-1] == _KEY
    return is_key_of_spec or "item" in details.get("ctx", {})


def _check_misplaced_map(body: Located, details: ErrorDetails, finding: Finding) -> list[Finding]:
    """Return unknown-field findings for the keys of a misplaced map, as the server reports them."""
    node, _, _ = error_messages.locate(body, details["loc"])
    if details["loc"][0] != "spec" or finding.code not in (Code.FIELD_TYPE, Code.FIELD_VALUE):
        return []
    return [
        finding._replace(
            code=Code.UNKNOWN_FIELD,
            message=f"unknown field `{path[-1]}`: {finding.message}",
            at=item.key or item.at,
            path=format_path(path),
        )
        for path, item in find_unknown_fields(node, VALUE, details["loc"])
        if details["type"] not in _COLLECTION_ERRORS
    ]


def _get_server_path(path: str) -> str:
    """Return the path as the server reports it, without single labels, annotations or finalizers."""
    for field in _WHOLE_METADATA_FIELDS:
        if path.startswith(field):
            return field
    return path


def _check_owners(body: Located) -> Iterator[Finding]:
    """Find invalid owners, and more than one controller; duplicates of an owner count once."""
    references = find(body, "metadata", "ownerReferences")
    owners = [mapping(owner) for owner in items(references)]
    controlling = {
        tuple((key, str(value.value)) for key, value in sorted(owner.items()))
        for owner in owners
        if "controller" in owner and owner["controller"].value is True
    }
    events = [owner for owner in items(references) if _get_identity(owner) == ("v1", "Event")]
    if references is not None and (events or len(controlling) > 1):
        message = "an Event can't be an owner" if events else "more than one owner has `controller: true`"
        fix = "remove `ownerReferences`" if events else "keep one `controller: true`"
        yield Finding(Code.FIELD_VALUE, message, place(references), fix, path="metadata.ownerReferences")


def _get_identity(owner: Located) -> tuple[str, str]:
    return text_at(owner, "apiVersion"), text_at(owner, "kind")


def _check_duplicate_reasons(body: Located) -> Iterator[Finding]:
    """Find duplicate reasons of a budget, whose list is a set; each is reported once."""
    for index, budget in enumerate(items(find(body, "spec", "disruption", "budgets"))):
        seen: Counter[str] = Counter()
        reasons = items(find(budget, "reasons"))
        for item, reason in enumerate(reasons if len(reasons) > 1 else ()):
            seen[repr(plain(reason))] += 1
            if seen[repr(plain(reason))] == _SECOND:
                path = f"spec.disruption.budgets[{index}].reasons[{item}]"
                message = f"duplicate reason `{str(plain(reason))[:40]}`"
                yield Finding(Code.FIELD_VALUE, message, place(reason), "remove it", path=path)


def _is_stopping(details: ErrorDetails, finding: Finding) -> bool:
    return details["type"] in _STOPPING_ERRORS or finding.code in (Code.MISSING, Code.WRONG_TYPE)
