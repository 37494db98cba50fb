"""JSON values as trees: change one place of an object, read it as Nodes, write it as bytes."""

import json
from copy import deepcopy
from itertools import pairwise
from typing import Any

from gpupool.findings import Location
from gpupool.yamlio.located import Located

Path = tuple[str | int, ...]
Body = dict[str, Any]

ABSENT = object()
"""As a value: the place is taken out."""

HERE = Location("case.yaml", 1, 1)


def changed(whole: Body, path: Path, value: object) -> Body:
    """Return a copy with another value at a path; parents that are missing are made, an item past the end is added."""
    result = deepcopy(whole)
    here: Any = result
    for step, following in pairwise(path):
        here = _child(here, step, [] if isinstance(following, int) else {})
    _put(here, path[-1], value)
    return result


def parts(value: object, path: Path = ()) -> list[tuple[Path, object]]:
    """Return each place of a value with what stands there, the whole first."""
    below: list[tuple[Path, object]] = []
    if isinstance(value, dict):
        below = [part for key, child in value.items() for part in parts(child, (*path, key))]
    if isinstance(value, list):
        below = [part for index, child in enumerate(value) for part in parts(child, (*path, index))]
    return [(path, value), *below]


def at(whole: object, path: Path) -> object:
    """Return what stands at a path; ABSENT where nothing does."""
    here: Any = whole
    for step in path:
        if isinstance(step, int):
            there = isinstance(here, list) and step < len(here)
        else:
            there = isinstance(here, dict) and step in here
        if not there:
            return ABSENT
        here = here[step]
    return here


def reaches(whole: object, path: Path) -> bool:
    """Return whether something can be put at a path: what stands on the way is a map or list as the path has it."""
    for end, step in enumerate(path):
        here = at(whole, path[:end])
        if not isinstance(here, list if isinstance(step, int) else dict):
            return here is ABSENT
    return True


def node(value: Any) -> Located:  # noqa: ANN401 - any JSON value
    """Return a JSON value as the Nodes that a reader of manifests would make."""
    if isinstance(value, dict):
        return Located({key: node(item) for key, item in value.items()}, HERE, HERE)
    if isinstance(value, list):
        return Located([node(item) for item in value], HERE, HERE)
    return Located(value, HERE, HERE, None if isinstance(value, str) else json.dumps(value))


def as_bytes(body: Body) -> bytes:
    """Return JSON that is YAML too: YAML has no pairs of surrogates, and JSON need not escape what they stand for."""
    text = json.dumps(body)
    return (text if r"\ud8" not in text else json.dumps(body, ensure_ascii=False)).encode()


def _child(here: Any, step: str | int, empty: object) -> Any:  # noqa: ANN401
    if isinstance(here, list) and isinstance(step, int):
        if step >= len(here):
            here.append(empty)
        return here[min(step, len(here) - 1)]
    return here.setdefault(step, empty)


def _put(here: Any, step: str | int, value: object) -> None:  # noqa: ANN401
    if value is ABSENT:
        if at(here, (step,)) is not ABSENT:
            del here[step]
    elif isinstance(here, list) and isinstance(step, int) and step >= len(here):
        here.append(value)
    else:
        here[step] = value
