"""Pydantic models of the tables of fields, built where validators are compiled or schemas are written."""

from __future__ import annotations

import sys
from functools import reduce
from importlib import import_module
from operator import or_
from types import GenericAlias, new_class
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_args

from pydantic import BaseModel, Discriminator, Field, Tag

from gpupool.shapes import base
from gpupool.shapes.annotations import Since, form
from gpupool.shapes.base import NOT_EMPTY, Shape
from gpupool.shapes.fields import (
    Fields,
    ListOf,
    ListOfParts,
    MapOf,
    Named,
    Part,
    Parts,
    Row,
    Several,
    TableRow,
    TextOrPart,
    TextsOrParts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_PLACEHOLDER = "Value"
"""The name of a table's `value_type` in its annotations."""

_MODELS: dict[type[Fields], type[BaseModel]] = {}
_Type: TypeAlias = Any
"""A type that is only known at run time."""


def build_model(table: type[Fields]) -> type[BaseModel]:
    """Build the model of a table, with the same name, bases and documentation; the same one each time."""
    if table not in _MODELS:
        _MODELS[table] = _build_model(table)
    return _MODELS[table]


def _build_model(table: type[Fields]) -> type[BaseModel]:
    own = vars(table)
    own_rows = {row.key: row for row in own.values() if isinstance(row, Row)}
    rows = table.rows if "value_type" in own else own_rows
    names = _find_types(table)
    types = {
        row.name: _build_type(row, _find_annotation(table, row.name, names), names)
        for row in rows.values()
        if not row.is_inherited
    }
    namespace: dict[str, Any] = {
        "__module__": table.__module__,
        "__qualname__": table.__qualname__,
        "__doc__": table.__doc__,
        "__annotations__": types,
        **{
            row.name: Field(... if row.is_required else None, alias=row.key)
            for row in rows.values()
            if row.name in types
        },
    }
    if "title" in own:
        namespace["model_config"] = {"title": table.title}
    if "other_type" in own:
        namespace["model_config"] = {"extra": "allow"}
        types["__pydantic_extra__"] = GenericAlias(dict, (str, names[table.other_type] | None))
    return new_class(table.__name__, _find_bases(table), {}, lambda body: body.update(namespace))


def _find_bases(table: type[Fields]) -> tuple[type[BaseModel], ...]:
    if "inherits" in vars(table):
        module, _, name = table.inherits.partition(":")
        return (getattr(import_module(module), name),)
    bases = [build_model(kind) for kind in table.__bases__ if issubclass(kind, Fields) and kind.rows]
    return tuple(bases) or (Shape,)


def _find_types(table: type[Fields]) -> dict[str, Any]:
    """Return the types that the annotations of a table can name."""
    names = dict(vars(base)) | (dict(vars(import_module(table.type_names))) if table.type_names else {})
    return {**names, _PLACEHOLDER: names.get(table.value_type, Any)}


def _find_annotation(table: type[Fields], name: str, names: Mapping[str, _Type]) -> _Type:
    """Return the annotation of a field; None where its kind says all, as for a part."""
    for kind in table.__mro__:
        text = vars(kind).get("__annotations__", {}).get(name)
        if text is not None:
            return eval(text, {**vars(sys.modules[kind.__module__]), **names})  # noqa: S307 - of our own tables
    return None


def _build_type(row: Row[Any], hint: _Type, names: Mapping[str, _Type]) -> _Type:
    """Return the pydantic type of a field; its annotation can override that of its kind."""
    # `Annotated[Several[Text], CapacitySetting]` names the type, as that of the kind is not enough.
    own = getattr(hint, "__metadata__", ())
    built = own[0] if own else _build_kind(row, hint, names)
    if not row.is_required:
        built |= None
    return Annotated[built, Since(row.since, row.gate)] if row.since else built


def _build_kind(row: Row[Any], hint: _Type, names: Mapping[str, _Type]) -> _Type:
    """Return the type of a kind of field, around the model of its table or the type of its annotation."""
    inner = build_model(row.table) if isinstance(row, TableRow) else get_args(hint)[0]
    build = next(_KINDS[kind] for kind in type(row).__mro__ if kind in _KINDS)
    return build(row, inner, names)


def _union(single: _Type, model: _Type, item: _Type = None) -> _Type:
    """Return the union of those that are given: a single value, a map, a list of items."""
    forms = [
        Annotated[single, Tag("<one>")] if single else None,
        Annotated[model, Tag("<map>")] if model else None,
        Annotated[GenericAlias(list, (item,)), Tag("<list>"), NOT_EMPTY] if item else None,
    ]
    return Annotated[reduce(or_, filter(None, forms)), Discriminator(form)]


_KINDS: dict[type, Callable[[Any, _Type, Mapping[str, _Type]], _Type]] = {
    TextOrPart: lambda row, model, names: _union(names[row.text], model),
    Part: lambda _row, model, _names: model,
    ListOfParts: lambda _row, model, _names: GenericAlias(list, (model,)),
    TextsOrParts: lambda _row, model, _names: _union(str, model, _union(str, model)),
    Parts: lambda _row, model, _names: _union(None, model, model),
    Named: lambda _row, model, names: GenericAlias(dict, (names["Name"], model | None)),
    Several: lambda _row, value, _names: _union(value, None, value),
    ListOf: lambda _row, value, _names: GenericAlias(list, (value,)),
    MapOf: lambda _row, value, _names: GenericAlias(dict, (str, value | None)),
    Row: lambda _row, value, _names: value,
}
"""How the type of each kind of field is built, from the field, its inner type and the names of types."""
