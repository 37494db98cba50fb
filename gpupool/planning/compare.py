"""What differs between two bodies of one object, leaf by leaf, and whether it means something.

Lists that Kubernetes treats as sets, or whose items have a name, are compared as that; quantities and
durations by what they amount to. What differs in words only is told apart: writing it would change nothing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from gpupool.karpenter.durations import nanoseconds
from gpupool.karpenter.quantities import amount, problem
from gpupool.planning.ownership import is_equal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.planning.plan import Operation
    from gpupool.yamlio.located import Plain

LeafPath: TypeAlias = tuple[str | int, ...]

_NAMED: Final = {
    "requirements": ("key", "operator"),
    "taints": ("key", "effect"),
    "startupTaints": ("key", "effect"),
}
"""Lists whose items are told apart by these of their keys."""

_SETS: Final = frozenset({
    "values", "budgets", "reasons", "amiSelectorTerms", "subnetSelectorTerms", "securityGroupSelectorTerms",
    "capacityReservationSelectorTerms",
})  # fmt: skip
_QUANTITIES: Final = frozenset({"limits", "capacity", "kubeReserved", "systemReserved", "evictionHard"})
_SIZES: Final = frozenset({"volumeSize"})
_DURATIONS: Final = frozenset({"consolidateAfter", "expireAfter", "terminationGracePeriod", "duration"})
_LABEL_MAPS: Final = frozenset({"labels", "annotations", "tags"})
_SERVER_ONLY: Final = frozenset({
    "managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink",
    "deletionTimestamp", "deletionGracePeriodSeconds", "finalizers", "ownerReferences",
})  # fmt: skip
_KEPT_BY_OTHERS = re.compile(
    r"kubectl\.kubernetes\.io/last-applied-configuration|karpenter(\.k8s\.aws|\.sh)/\w+-hash(-version)?"
)


class Difference(NamedTuple):
    """One leaf that differs."""

    path: str
    """As people read it, with names in place of numbers in lists."""

    keys: LeafPath
    """The same as keys and numbers, in the body that has it (the later one, where both have)."""

    op: Operation
    before: Plain
    after: Plain
    semantic: bool


def strip_server_fields(body: Plain) -> Plain:
    """Return an object without its status and what the server, kubectl and Karpenter keep in its metadata."""
    if not isinstance(body, dict):
        return body
    metadata = body.get("metadata")
    kept = {key: value for key, value in body.items() if key not in {"status", "metadata"}}
    if not isinstance(metadata, dict):
        return kept
    said = {key: value for key, value in metadata.items() if key not in _SERVER_ONLY}
    annotations = said.get("annotations")
    if isinstance(annotations, dict):
        own = {key: value for key, value in annotations.items() if not _KEPT_BY_OTHERS.fullmatch(key)}
        said = {**said, "annotations": own}
        if not own:
            del said["annotations"]
    return {key: said if key == "metadata" else value for key, value in body.items() if key != "status"}


def find_differences(before: Plain, after: Plain) -> list[Difference]:
    """Return every leaf that differs between two stripped bodies, in the order of the later one."""
    return list(_between(before, after, (), ""))


def _between(before: Plain, after: Plain, keys: LeafPath, path: str) -> Iterator[Difference]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*after, *(key for key in before if key not in after)]:
            inner = _step(path, key)
            if key not in before:
                yield from _whole((*keys, key), inner, "add", after[key])
            elif key not in after:
                yield from _whole((*keys, key), inner, "remove", before[key])
            else:
                yield from _between(before[key], after[key], (*keys, key), inner)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _lists(before, after, keys, path)
    elif not is_equal(before, after):
        meant = _meaning(keys, before) != _meaning(keys, after)
        yield Difference(path, keys, "replace", before, after, semantic=meant)


def _step(path: str, key: str) -> str:
    if "." in key or "/" in key:
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key


def collect_paths(body: Plain, path: str = "") -> Iterator[str]:
    """Yield the path of every map's value in a body, as differences name it; a list is one value."""
    if path:
        yield path
    if isinstance(body, dict):
        for key, item in body.items():
            yield from collect_paths(item, _step(path, key))


def to_dotted_path(path: str) -> str:
    """Return a path as the API server writes it, without brackets around keys that have dots in them."""
    return path.replace("[", ".").replace("]", "")


def _whole(keys: LeafPath, path: str, op: Operation, value: Plain) -> Iterator[Difference]:
    """Yield what was added or removed leaf by leaf: a map's keys; a list's items, each as one."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _whole((*keys, key), _step(path, key), op, item)
    else:
        before, after = (None, value) if op == "add" else (value, None)
        yield Difference(path, keys, op, before, after, semantic=True)


def _lists(before: list[Plain], after: list[Plain], keys: LeafPath, path: str) -> Iterator[Difference]:
    name = keys[-1] if keys else ""
    if is_equal(before, after):
        return
    if name in _NAMED:
        yield from _named(before, after, keys, path)
    elif name in _SETS:
        yield from _sets(before, after, keys, path)
    else:
        for index in range(max(len(before), len(after))):
            inner, at = f"{path}[{index}]", (*keys, index)
            if index >= len(before):
                yield Difference(inner, at, "add", None, after[index], semantic=True)
            elif index >= len(after):
                yield Difference(inner, at, "remove", before[index], None, semantic=True)
            else:
                yield from _between(before[index], after[index], at, inner)


def _named(before: list[Plain], after: list[Plain], keys: LeafPath, path: str) -> Iterator[Difference]:
    were, are = _by_name(before, str(keys[-1])), _by_name(after, str(keys[-1]))
    for name, (index, item) in are.items():
        inner, at = f"{path}[{name}]", (*keys, index)
        if name in were:
            yield from _between(were[name][1], item, at, inner)
        else:
            yield Difference(inner, at, "add", None, item, semantic=True)
    for name, (index, item) in were.items():
        if name not in are:
            yield Difference(f"{path}[{name}]", (*keys, index), "remove", item, None, semantic=True)
    if [name for name in were if name in are] != [name for name in are if name in were]:
        yield Difference(path, keys, "replace", list(were), list(are), semantic=False)


def _by_name(items: list[Plain], kind: str) -> dict[str, tuple[int, Plain]]:
    found: dict[str, tuple[int, Plain]] = {}
    times: Counter[str] = Counter()
    for index, item in enumerate(items):
        said = item if isinstance(item, dict) else {}
        name = ",".join(f"{key}={said[key]}" for key in _NAMED[kind] if key in said)
        times[name] += 1
        found[name if times[name] == 1 else f"{name},{times[name]}"] = (index, item)
    return found


def _sets(before: list[Plain], after: list[Plain], keys: LeafPath, path: str) -> Iterator[Difference]:
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
    """Return a text that is the same for values that mean the same."""
    return json.dumps(_canonical(keys, value), sort_keys=True)


def _canonical(keys: LeafPath, value: Plain) -> Plain:
    if isinstance(value, dict):
        return {key: _canonical((*keys, key), item) for key, item in value.items()}
    if isinstance(value, list):
        items = [_canonical((*keys, index), item) for index, item in enumerate(value)]
        name = keys[-1] if keys else ""
        if name in _NAMED or name in _SETS:
            return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
        return items
    return value if isinstance(value, bool) or value is None else _amount(keys, value)


def _amount(keys: LeafPath, value: float | str) -> Plain:
    """Return a quantity or a duration as a number with its kind before it; anything else as it is."""
    last, above = keys[-1] if keys else "", keys[-2] if len(keys) > 1 else ""
    text = str(value)
    if above in _LABEL_MAPS:
        return value
    if (above in _QUANTITIES and "%" not in text) or last in _SIZES:
        return value if problem(text) else _quantity(text)
    if last in _DURATIONS and isinstance(value, str):
        found = nanoseconds(value)
        return value if found is None else f"duration {found}"
    return value


def _quantity(text: str) -> str:
    try:
        return f"quantity {Decimal(amount(text)).normalize()}"
    except ValueError:
        return text
