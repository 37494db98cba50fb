"""JSON Schemas of the models, with field descriptions, for editors and reference pages.

The description of a field is the docstring under it. It is read from the source only when a schema is built:
pydantic itself would read all of them whenever a model is imported, which would slow every command.
"""

import ast
import inspect
import sys
from functools import cache
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import DataclassSchema, DictSchema, ModelSchema

from gpupool.shapes.annotations import Since
from gpupool.shapes.field_models import build_model
from gpupool.shapes.fields import Fields

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DEFS = "#/$defs/"
_PREFIX = "Blueprint"
"""The prefix of types that share their name with a type of Karpenter or Kubernetes."""


def build_json_schema(model: type[BaseModel] | type[Fields]) -> dict[str, Any]:
    """Build the JSON Schema of a model or a table, with a description of every field."""
    if issubclass(model, Fields):
        model = build_model(model)
    return {
        "$schema": DIALECT,
        **_shorten_names(model.model_json_schema(schema_generator=_DescribingGenerator)),
    }


def build_dataclass_schema(kind: type[Any]) -> dict[str, Any]:
    """Build the JSON Schema of a dataclass with a description of every field."""
    return {"$schema": DIALECT, **TypeAdapter(kind).json_schema(schema_generator=_DescribingGenerator)}


def _shorten_names(schema: dict[str, Any]) -> dict[str, Any]:
    """Rename the definitions of a schema to the names in the documentation: `Pool`, not `BlueprintPool`."""
    names = {
        name: name.removeprefix(_PREFIX) if name.removeprefix(_PREFIX) not in schema["$defs"] else name
        for name in schema.get("$defs", {})
    }

    def rename(part: Any) -> Any:  # noqa: ANN401 - any part of a schema
        if isinstance(part, list):
            return [rename(item) for item in part]
        if not isinstance(part, dict):
            return part
        entry = {key: rename(value) for key, value in part.items()}
        if isinstance(entry.get("$ref"), str):
            entry["$ref"] = _DEFS + names[entry["$ref"].removeprefix(_DEFS)]
        if isinstance(entry.get("title"), str):
            entry["title"] = names.get(entry["title"], entry["title"])
        return entry

    renamed: dict[str, Any] = rename(schema)
    if names:
        renamed["$defs"] = dict(sorted((names[name], part) for name, part in renamed["$defs"].items()))
    return renamed


def read_field_docs(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstring of each field of a model by its Python name; a subclass overrides its base."""
    docs: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base is not BaseModel:
            docs |= _read_module_docs(base.__module__).get(base.__qualname__, {})
    since = {name: _describe_since(model, name) for name in model.model_fields}
    return {name: f"{doc} {since[name]}".strip() for name, doc in docs.items() if name in since}


class _DescribingGenerator(GenerateJsonSchema):
    """Pydantic's generator, with the docstring of each field as its description."""

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        result = super().model_schema(schema)
        model: type[BaseModel] = schema["cls"]
        docs = read_field_docs(model)
        for name, field in model.model_fields.items():
            described = result.get("properties", {}).get(field.alias or name)
            if described is not None and name in docs:
                described["description"] = docs[name]
                described.pop("title", None)
                if described.get("default", 0) is None:
                    del described["default"]
        return result

    def dataclass_schema(self, schema: DataclassSchema) -> JsonSchemaValue:
        result = super().dataclass_schema(schema)
        kind = schema["cls"]
        docs = _read_module_docs(kind.__module__).get(kind.__qualname__, {})
        for field, described in zip(schema["fields"], result.get("properties", {}).values(), strict=True):
            described.pop("title", None)
            if field in docs:
                described["description"] = docs[field]
        return {**result, "description": inspect.getdoc(kind)}

    def dict_schema(self, schema: DictSchema) -> JsonSchemaValue:
        """Reject keys that match no pattern: an editor would accept them otherwise."""
        result = super().dict_schema(schema)
        return {**result, "additionalProperties": False} if "patternProperties" in result else result


def _describe_since(model: type[BaseModel], name: str) -> str:
    for mark in model.model_fields[name].metadata:
        if isinstance(mark, Since):
            gate = f", with the feature gate {mark.gate}" if mark.gate else ""
            return f"Since Karpenter {mark.minor}{gate}."
    return ""


@cache
def _read_module_docs(module: str) -> dict[str, dict[str, str]]:
    parsed = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: _read_class_docs(node) for node in parsed.body if isinstance(node, ast.ClassDef)}


def _read_class_docs(node: ast.ClassDef) -> dict[str, str]:
    docs = {}
    for field, statement in zip(node.body, node.body[1:], strict=False):
        text = _read_docstring(statement)
        targets = field.targets if isinstance(field, ast.Assign) else [getattr(field, "target", None)]
        if text and isinstance(targets[0], ast.Name):
            docs[targets[0].id] = " ".join(text.split())
    return docs


def _read_docstring(node: ast.stmt) -> str:
    """Return the text of a statement that is only a string; empty for any other statement."""
    value = node.value.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) else None
    return value if isinstance(value, str) else ""
