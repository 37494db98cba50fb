"""Fields, values and label keys that came after the Karpenter version that an object is for."""

from collections.abc import Iterator, Mapping
from functools import cache, partial
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BaseModel

from gpupool.codes import Code
from gpupool.karpenter.labels import WELL_KNOWN
from gpupool.karpenter.validation.rules import ITEMS, Complaint, Rule
from gpupool.karpenter.validation.types import TYPES
from gpupool.karpenter.versions import VALUES_SINCE, knows
from gpupool.shapes.base import Since
from gpupool.yamlio.nodes import Node, mapping, place

_LABELS: Final[Mapping[str, str]] = {"NodePool": "spec template metadata labels"}
_KEYS: Final[Mapping[str, str]] = {
    "NodePool": f"spec template spec requirements {ITEMS} key",
    "NodeOverlay": f"spec requirements {ITEMS} key",
}


@cache
def newer(kind: str, target: str) -> tuple[Rule, ...]:
    """Give the rules that find what Karpenter `target` does not know yet."""
    rules = []
    for path, marks in _fields(TYPES[kind], ()):
        later = (since for since in marks if not knows(target, since))
        rules += [
            Rule(Code.TOO_NEW, " ".join(path), partial(_field, path[-1], since, target)) for since in later
        ]
        values = {value: since for (field, value), since in VALUES_SINCE.items() if field == path[-1]}
        if any(not knows(target, since) for since in values.values()):
            rules.append(Rule(Code.TOO_NEW, " ".join(path), partial(_value, values, target)))
    rules += [Rule(Code.TOO_NEW, at, partial(_label, target)) for at in (_LABELS.get(kind),) if at]
    rules += [Rule(Code.TOO_NEW, at, partial(_key, target)) for at in (_KEYS.get(kind),) if at]
    return tuple(rules)


def _field(name: str, since: Since, target: str, node: Node) -> Iterator[Complaint]:
    yield _told(f"`{name}`", since, target, node)


def _value(values: Mapping[str, Since], target: str, node: Node) -> Iterator[Complaint]:
    since = values.get(str(node.value))
    if since is not None and not knows(target, since):
        yield _told(f"`{node.value}`", since, target, node)


def _label(target: str, labels: Node) -> Iterator[Complaint]:
    for key, value in mapping(labels).items():
        if since := _since(key, target):
            yield _told(f"the label `{key}`", since, target, value)


def _key(target: str, key: Node) -> Iterator[Complaint]:
    if since := _since(str(key.value), target):
        yield _told(f"the label `{key.value}`", since, target, key)


def _since(key: str, target: str) -> Since | None:
    label = WELL_KNOWN.get(key)
    since = Since(label.since) if label is not None and label.since else None
    return since if since is not None and not knows(target, since) else None


def _told(what: str, since: Since, target: str, node: Node) -> Complaint:
    message = f"{what} is new in Karpenter {since.minor}, and the target is {target}"
    return Complaint(place(node), message, f"take it out, or upgrade Karpenter to {since.minor}")


def _fields(kind: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[Since]]]:  # noqa: ANN401 - any type
    """Give the path of each field under a type, with the marks it carries."""
    origin = get_origin(kind)
    if origin is Annotated:
        yield from _fields(get_args(kind)[0], path)
    elif origin in (Union, UnionType):
        for branch in get_args(kind):
            yield from _fields(branch, path)
    elif origin is list:
        yield from _fields(get_args(kind)[0], (*path, ITEMS))
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        for name, field in kind.model_fields.items():
            here = (*path, field.alias or name)
            yield here, [mark for mark in field.metadata if isinstance(mark, Since)]
            yield from _fields(field.annotation, here)
