"""Rules about fields, values and label keys that are newer than the target Karpenter version."""

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel

from gpupool.codes import Code
from gpupool.findings import Finding
from gpupool.karpenter.labels import OVERLAY_REFUSED, WELL_KNOWN
from gpupool.karpenter.validation.rules import ITEMS, Complaint, FieldRule
from gpupool.karpenter.validation.types import TYPES
from gpupool.karpenter.versions import STATUS_SINCE, VALUES_SINCE, is_supported
from gpupool.shapes.annotations import Since
from gpupool.shapes.error_messages import ErrorPath, flatten_types, format_path
from gpupool.yamlio.located import Located, items, mapping, place

_LABELS: Final[Mapping[str, str]] = {"NodePool": "spec template metadata labels"}
_KEYS: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    "NodePool": (f"spec template spec requirements {ITEMS} key", frozenset()),
    "NodeOverlay": (f"spec requirements {ITEMS} key", OVERLAY_REFUSED),
}
"""Where a kind has requirements, and the keys that no version accepts there, so no upgrade would help."""


@cache
def build_version_rules(kind: str, target: str) -> tuple[FieldRule, ...]:
    """Build the rules that find values and label keys which Karpenter `target` does not support yet."""
    rules = []
    for path, _ in _list_fields(TYPES[kind].load(), ()):
        values = {value: since for (field, value), since in VALUES_SINCE.items() if field == path[-1]}
        if any(not is_supported(target, since) for since in values.values()):
            rules.append(FieldRule(Code.TOO_NEW, " ".join(path), partial(_check_value, values, target)))
    if kind in _LABELS:
        rules.append(FieldRule(Code.TOO_NEW, _LABELS[kind], partial(_check_label, target)))
    if kind in _KEYS:
        at, rejected = _KEYS[kind]
        rules.append(FieldRule(Code.TOO_NEW, at, partial(_check_key, target, rejected)))
    return tuple(rules)


def find_newer_fields(kind: str, body: Located, target: str) -> Iterator[Finding]:
    """Find the fields that Karpenter `target` does not support yet.

    The API server rejects such a field by its name alone, even if its value is null or invalid.
    """
    for path, since in _find_newer_paths(kind, target):
        for field_path, node in _find_paths(body, path):
            at, message, fix = _build_complaint(f"`{path[-1]}`", since, target, node)
            yield Finding(Code.TOO_NEW, message, at, fix, path=format_path(field_path))


@cache
def _find_newer_paths(kind: str, target: str) -> tuple[tuple[tuple[str, ...], Since], ...]:
    marked = [(path, since) for path, marks in _list_fields(TYPES[kind].load(), ()) for since in marks]
    marked += [(tuple(path.split()), since) for (owner, path), since in STATUS_SINCE.items() if owner == kind]
    return tuple((path, since) for path, since in marked if not is_supported(target, since))


def _find_paths(
    node: Located, path: tuple[str, ...], prefix: ErrorPath = ()
) -> Iterator[tuple[ErrorPath, Located]]:
    """Yield each concrete path that matches `path`, with its value."""
    if not path:
        yield prefix, node
    elif path[0] == ITEMS:
        for index, item in enumerate(items(node)):
            yield from _find_paths(item, path[1:], (*prefix, index))
    elif path[0] in mapping(node):
        yield from _find_paths(mapping(node)[path[0]], path[1:], (*prefix, path[0]))


def _check_value(values: Mapping[str, Since], target: str, node: Located) -> Iterator[Complaint]:
    since = values.get(str(node.value))
    if since is not None and not is_supported(target, since):
        yield _build_complaint(f"`{node.value}`", since, target, node)


def _check_label(target: str, labels: Located) -> Iterator[Complaint]:
    for key, value in mapping(labels).items():
        if since := _find_since(key, target):
            yield _build_complaint(f"the label `{key}`", since, target, value)


def _check_key(target: str, rejected: frozenset[str], key: Located) -> Iterator[Complaint]:
    since = _find_since(str(key.value), target)
    if since and key.value not in rejected:
        yield _build_complaint(f"the label `{key.value}`", since, target, key)


def _find_since(key: str, target: str) -> Since | None:
    label = WELL_KNOWN.get(key)
    since = Since(label.since) if label is not None and label.since else None
    return since if since is not None and not is_supported(target, since) else None


def _build_complaint(subject: str, since: Since, target: str, node: Located) -> Complaint:
    message = f"{subject} requires Karpenter {since.minor}, but the target is {target}"
    return Complaint(place(node), message, f"remove it, or upgrade Karpenter to {since.minor}")


def _list_fields(kind: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[Since]]]:  # noqa: ANN401 - any type
    """Yield the path of each field under a type, with its version marks."""
    for branch in flatten_types([kind]):
        if get_origin(branch) is list:
            yield from _list_fields(get_args(branch)[0], (*path, ITEMS))
        elif isinstance(branch, type) and issubclass(branch, BaseModel):
            for name, field in branch.model_fields.items():
                here = (*path, field.alias or name)
                yield here, [mark for mark in field.metadata if isinstance(mark, Since)]
                yield from _list_fields(field.annotation, here)
