"""What in a rendered object the cluster's Karpenter does not know yet."""

from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from gpupool.codes import Code
from gpupool.findings import Finding
from gpupool.karpenter.labels import WELL_KNOWN
from gpupool.karpenter.versions import VALUES_SINCE, knows
from gpupool.shapes.base import Since
from gpupool.shapes.words import Path, dotted, locate
from gpupool.yamlio.nodes import Node, leaves


def too_new(model: BaseModel, body: Node, target: str) -> Iterator[Finding]:
    """Find each field, value and label key that came after `target`, where the blueprint says it."""
    for path, since in (*_fields(model, ()), *_values(body)):
        if not knows(target, since):
            node, _, _ = locate(body, path)
            message = f"`{dotted(path)}` is new in Karpenter {since.minor}, and the cluster runs {target}"
            fix = f'take it out, or upgrade and say `cluster: {{karpenter: "{since.minor}"}}`'
            yield Finding(Code.TOO_NEW, message, node.at, fix)


def _fields(value: object, path: Path) -> Iterator[tuple[Path, Since]]:
    if isinstance(value, BaseModel):
        for name in value.model_fields_set & set(type(value).model_fields):
            field = type(value).model_fields[name]
            here = (*path, field.alias or name)
            yield from ((here, mark) for mark in field.metadata if isinstance(mark, Since))
            yield from _fields(getattr(value, name), here)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _fields(item, (*path, index))


def _values(body: Node) -> Iterator[tuple[Path, Since]]:
    for path, node in leaves(body):
        since = VALUES_SINCE.get((str(path[-1]), str(node.value)))
        if since is not None:
            yield path, since
        label = WELL_KNOWN.get(_label_at(path, node))
        if label is not None and label.since:
            yield path, Since(label.since)


def _label_at(path: Sequence[str | int], node: Node) -> str:
    """Give the label key that a leaf is: a requirement's `key`, or a key under `labels`."""
    if path[-1] == "key":
        return str(node.value)
    return str(path[-1]) if len(path) > 1 and path[-2] == "labels" else ""
