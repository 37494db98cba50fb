"""When two specs say the same: quantities by their amount, and lists that are sets in any order."""

import json
from collections.abc import Iterator
from copy import deepcopy
from decimal import Decimal
from typing import Any, TypeAlias

Spec: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str | int, ...]

_SUFFIXES = {
    "": Decimal(1),
    "m": Decimal("0.001"),
    "k": Decimal(1000),
    "M": Decimal(10) ** 6,
    "G": Decimal(10) ** 9,
}
_SUFFIXES |= {"Ki": Decimal(2) ** 10, "Mi": Decimal(2) ** 20, "Gi": Decimal(2) ** 30, "Ti": Decimal(2) ** 40}
_QUANTITY_MAPS = ("limits",)
_QUANTITIES = ("volumeSize",)


def amount(quantity: str | int) -> Decimal:
    """Return the amount of a Kubernetes quantity: `4000Gi`, `"500"`, `64`."""
    text = str(quantity)
    suffix = text.lstrip("0123456789.")
    return Decimal(text.removesuffix(suffix)) * _SUFFIXES[suffix]


def normal(value: Any, key: str = "") -> Any:  # noqa: ANN401 # any YAML value
    """Return a form of a spec that is equal for specs that say the same."""
    if isinstance(value, dict):
        if key in _QUANTITY_MAPS:
            return {name: amount(item) for name, item in value.items()}
        return {name: normal(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return sorted((normal(item) for item in value), key=_sorted_text)
    return amount(value) if key in _QUANTITIES else value


def _sorted_text(value: Any) -> str:  # noqa: ANN401 # any YAML value
    return json.dumps(value, sort_keys=True, default=str)


def leaf_paths(value: Any, path: Path = ()) -> Iterator[Path]:  # noqa: ANN401 # any YAML value
    """Yield the path of every leaf."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaf_paths(item, (*path, key))
    else:
        yield path


def changed(spec: Spec, path: Path) -> Spec:
    """Return a copy of a spec with another value at one place."""
    copy = deepcopy(spec)
    target: Any = copy
    for key in path[:-1]:
        target = target[key]
    value = target[path[-1]]
    target[path[-1]] = (
        not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else f"1{value}"
    )
    return copy


def without(spec: Spec, path: Path) -> Spec:
    """Return a copy of a spec with nothing at one place."""
    copy = deepcopy(spec)
    target: Any = copy
    for key in path[:-1]:
        target = target[key]
    del target[path[-1]]
    return copy
