"""Differences between two bodies of one object, leaf by leaf, semantic or in formatting only.

Lists that Kubernetes treats as sets, or whose items have a name, are compared as such; quantities and
durations by their amount. Writing a difference in formatting only would change nothing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from decimal import Decimal
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from gpupool.karpenter.comparison import load_rules
from gpupool.karpenter.durations import parse_nanoseconds
from gpupool.karpenter.quantities import find_quantity_problem, parse_amount
from gpupool.planning.ownership import is_equal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.planning.plan import Operation
    from gpupool.yamlio.located import Plain

LeafPath: TypeAlias = tuple[str | int, ...]

_SERVER_ONLY: Final = frozenset({
    "managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink",
    "deletionTimestamp", "deletionGracePeriodSeconds", "finalizers", "ownerReferences",
})  # fmt: skip
_TOOL_ANNOTATIONS = re.compile(
    r"kubectl\.kubernetes\.io/last-applied-configuration|karpenter(\.k8s\.aws|\.sh)/\w+-hash(-version)?"
)


class Difference(NamedTuple):
    """One leaf that differs."""

    path: str
    """The readable path, with names in place of numbers in lists."""

    keys: LeafPath
    """The path as keys and numbers in the body that has it (`after`, where both have)."""

    op: Operation
    before: Plain
    after: Plain
    semantic: bool


def strip_server_fields(body: Plain) -> Plain:
    """Return an object without its status and the metadata of server, kubectl and Karpenter."""
    if not isinstance(body, dict):
        return body
    metadata = body.get("metadata")
    kept = {key: value for key, value in body.items() if key not in {"status", "metadata"}}
    if not isinstance(metadata, dict):
        return kept
    own_metadata = {key: value for key, value in metadata.items() if key not in _SERVER_ONLY}
    annotations = own_metadata.get("annotations")
    if isinstance(annotations, dict):
        own = {key: value for key, value in annotations.items() if not _TOOL_ANNOTATIONS.fullmatch(key)}
        own_metadata = {**own_metadata, "annotations": own}
        if not own:
            del own_metadata["annotations"]
    return {
        key: own_metadata if key == "metadata" else value for key, value in body.items() if key != "status"
    }


def find_differences(before: Plain, after: Plain) -> list[Difference]:
    """Find every leaf that differs between two stripped bodies, in the order of `after`."""
    return list(_compare(before, after, (), ""))


def _compare(before: Plain, after: Plain, keys: LeafPath, path: str) -> Iterator[Difference]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*after, *(key for key in before if key not in after)]:
            inner = _join_path(path, key)
            if key not in before:
                yield from _compare_leaves((*keys, key), inner, "add", after[key])
            elif key not in after:
                yield from _compare_leaves((*keys, key), inner, "remove", before[key])
            else:
                yield from _compare(before[key], after[key], (*keys, key), inner)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _compare_lists(before, after, keys, path)
    elif not is_equal(before, after):
        is_semantic = _meaning(keys, before) != _meaning(keys, after)
        yield Difference(path, keys, "replace", before, after, semantic=is_semantic)


def _join_path(path: str, key: str) -> str:
    if "." in key or "/" in key:
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key


def collect_paths(body: Plain, path: str = "") -> Iterator[str]:
    """Yield the path of every map's value in a body, as in `Difference.path`; a list is one value."""
    if path:
        yield path
    if isinstance(body, dict):
        for key, item in body.items():
            yield from collect_paths(item, _join_path(path, key))


def cut_at_list(path: LeafPath) -> tuple[str, ...]:
    """Return a path up to its first list; the index of an item changes when another is added or removed."""
    return tuple(map(str, takewhile(lambda key: isinstance(key, str), path)))


def to_dotted_path(path: str) -> str:
    """Convert a path to the API server's form, without brackets around keys with dots."""
    return path.replace("[", ".").replace("]", "")


def _compare_leaves(keys: LeafPath, path: str, op: Operation, value: Plain) -> Iterator[Difference]:
    """Yield an added or removed value leaf by leaf: the keys of a map; any other value is one leaf."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _compare_leaves((*keys, key), _join_path(path, key), op, item)
    else:
        before, after = (None, value) if op == "add" else (value, None)
        yield Difference(path, keys, op, before, after, semantic=True)


def _compare_lists(
    before: list[Plain], after: list[Plain], keys: LeafPath, path: str
) -> Iterator[Difference]:
    name, rules = keys[-1] if keys else "", load_rules()
    if is_equal(before, after):
        return
    if name in rules.named:
        yield from _compare_named(before, after, keys, path)
    elif name in rules.sets:
        yield from _compare_sets(before, after, keys, path)
    else:
        for index in range(max(len(before), len(after))):
            inner, at = f"{path}[{index}]", (*keys, index)
            if index >= len(before):
                yield Difference(inner, at, "add", None, after[index], semantic=True)
            elif index >= len(after):
                yield Difference(inner, at, "remove", before[index], None, semantic=True)
            else:
                yield from _compare(before[index], after[index], at, inner)


def _compare_named(
    before: list[Plain], after: list[Plain], keys: LeafPath, path: str
) -> Iterator[Difference]:
    old, new = _index_by_name(before, str(keys[-1])), _index_by_name(after, str(keys[-1]))
    for name, (index, item) in new.items():
        inner, at = f"{path}[{name}]", (*keys, index)
        if name in old:
            yield from _compare(old[name][1], item, at, inner)
        else:
            yield Difference(inner, at, "add", None, item, semantic=True)
    for name, (index, item) in old.items():
        if name not in new:
            yield Difference(f"{path}[{name}]", (*keys, index), "remove", item, None, semantic=True)
    if [name for name in old if name in new] != [name for name in new if name in old]:
        yield Difference(path, keys, "replace", list(old), list(new), semantic=False)


def _index_by_name(items: list[Plain], kind: str) -> dict[str, tuple[int, Plain]]:
    by_name: dict[str, tuple[int, Plain]] = {}
    counts: Counter[str] = Counter()
    for index, item in enumerate(items):
        fields = item if isinstance(item, dict) else {}
        name = ",".join(f"{key}={fields[key]}" for key in load_rules().named[kind] if key in fields)
        counts[name] += 1
        by_name[name if counts[name] == 1 else f"{name},{counts[name]}"] = (index, item)
    return by_name


def _compare_sets(before: list[Plain], after: list[Plain], keys: LeafPath, path: str) -> Iterator[Difference]:
    left = Counter(_meaning((*keys, 0), item) for item in before)
    added = []
    for index, item in enumerate(after):
        meaning = _meaning((*keys, 0), item)
        if left[meaning] > 0:
            left[meaning] -= 1
        else:
            added.append((index, item))
    for index, item in enumerate(before):
        meaning = _meaning((*keys, 0), item)
        if left[meaning] > 0:
            left[meaning] -= 1
            yield Difference(f"{path}[]", (*keys, index), "remove", item, None, semantic=True)
    for index, item in added:
        yield Difference(f"{path}[]", (*keys, index), "add", None, item, semantic=True)
    if not added and len(before) == len(after):
        yield Difference(path, keys, "replace", before, after, semantic=False)


def _meaning(keys: LeafPath, value: Plain) -> str:
    """Return a text that is equal for equivalent values."""
    return json.dumps(_normalize(keys, value), sort_keys=True)


def _normalize(keys: LeafPath, value: Plain) -> Plain:
    if isinstance(value, dict):
        return {key: _normalize((*keys, key), item) for key, item in value.items()}
    if isinstance(value, list):
        items = [_normalize((*keys, index), item) for index, item in enumerate(value)]
        name, rules = keys[-1] if keys else "", load_rules()
        if name in rules.named or name in rules.sets:
            return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
        return items
    return value if isinstance(value, bool) or value is None else _normalize_leaf(keys, value)


def _normalize_leaf(keys: LeafPath, value: float | str) -> Plain:
    """Convert a quantity or a duration to its kind and a number; return any other value as it is."""
    last, above = keys[-1] if keys else "", keys[-2] if len(keys) > 1 else ""
    text, rules = str(value), load_rules()
    if above in rules.text_maps:
        return value
    if (above in rules.quantity_maps and "%" not in text) or last in rules.quantities:
        return value if find_quantity_problem(text) else _normalize_quantity(text)
    if last in rules.durations and isinstance(value, str):
        duration = parse_nanoseconds(value)
        return value if duration is None else f"duration {duration}"
    return value


def _normalize_quantity(text: str) -> str:
    try:
        return f"quantity {Decimal(parse_amount(text)).normalize()}"
    except ValueError:
        return text
