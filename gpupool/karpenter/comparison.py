"""Rules of comparing Karpenter's objects, derived from the types of their fields."""

from __future__ import annotations

from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, Union, get_args, get_origin

from gpupool.shapes.annotations import Compared
from gpupool.shapes.compiled import Model, load_cached

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import BaseModel

_OBJECTS: Final = (
    Model("gpupool.karpenter.v1.nodepool", "NodePool"),
    Model("gpupool.karpenter.v1.ec2nodeclass", "EC2NodeClass"),
    Model("gpupool.karpenter.v1alpha1.nodeoverlay", "NodeOverlay"),
)


_Rule: TypeAlias = tuple[str, str, tuple[str, ...]]
"""The name of a field, the kind of its rule, and the keys of named items."""


class ComparisonRules(NamedTuple):
    """How fields are compared, by the name of the field; no name stands for two rules."""

    named: Mapping[str, tuple[str, ...]]
    """Lists of items with a name, with the keys that form it."""

    sets: frozenset[str]
    """Lists whose order has no meaning."""

    quantities: frozenset[str]
    durations: frozenset[str]
    quantity_maps: frozenset[str]
    """Maps whose values are quantities."""

    text_maps: frozenset[str]
    """Maps whose keys and values are any texts, such as labels."""


@cache
def load_rules() -> ComparisonRules:
    """Return the rules; the types are read once after each change of them."""
    path = Path(cache_from_source(__file__)).with_suffix(".rules")
    rules: ComparisonRules = load_cached(path, _build_rules)
    return rules


def _build_rules() -> ComparisonRules:
    named: dict[str, tuple[str, ...]] = {}
    names: dict[str, set[str]] = {
        kind: set() for kind in ("set", "quantity", "duration", "quantities", "texts")
    }
    for model in _OBJECTS:
        for name, kind, keys in set(_find_rules(model.load())):
            if kind == "named":
                named[name] = keys
            else:
                names[kind].add(name)
    return ComparisonRules(
        named=named,
        sets=frozenset(names["set"]),
        quantities=frozenset(names["quantity"]),
        durations=frozenset(names["duration"]),
        quantity_maps=frozenset(names["quantities"]),
        text_maps=frozenset(names["texts"]),
    )


def _find_rules(model: type[BaseModel]) -> Iterator[_Rule]:
    """Yield the rule of each field that has one."""
    for name, field in model.model_fields.items():
        yield from _find_in_type(field.alias or name, field.annotation, [*field.metadata])


def _find_in_type(name: str, kind: Any, marks: list[Any]) -> Iterator[_Rule]:  # noqa: ANN401 - any type
    """Yield the rules in a field's type; `marks` are those around it."""
    while hasattr(kind, "__metadata__"):
        kind, marks = kind.__origin__, [*marks, *kind.__metadata__]
    own = [(name, mark.by, mark.keys) for mark in marks if isinstance(mark, Compared)]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is dict:
        values = [*_find_in_type(name, inner[1], [])]
        yield from _find_in_map(name, inner[1], values)
    elif origin is list:
        yield from own
        # An item has no name of its own: only the fields inside count.
        yield from (rule for rule in _find_in_type("", inner[0], []) if rule[0])
    elif origin in (Union, UnionType):
        for part in inner:
            yield from _find_in_type(name, part, marks)
    elif hasattr(kind, "model_fields"):
        yield from _find_rules(kind)
    elif kind is not type(None):
        yield from own


def _find_in_map(name: str, kind: Any, values: list[_Rule]) -> Iterator[_Rule]:  # noqa: ANN401 - any type
    """Yield the rule of a map, given the rules of its values' type."""
    if any(by == "quantity" for _, by, _ in values):
        yield name, "quantities", ()
    elif getattr(kind, "__origin__", kind) is str:
        yield name, "texts", ()
