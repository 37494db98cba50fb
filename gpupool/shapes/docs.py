"""JSON Schema with the docstring under each field as its description, for editors and reference pages.

The docstrings are read from the source only when a schema is asked for: pydantic's own way reads
them whenever a model is imported, which every command would pay for.
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

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DEFS = "#/$defs/"
_OWN = "Blueprint"
"""The prefix of types whose field Karpenter or Kubernetes has under the same name."""


def build_json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return a model's JSON Schema, every field described."""
    return {"$schema": DIALECT, **_short_names(model.model_json_schema(schema_generator=_Described))}


def build_dataclass_schema(kind: type[Any]) -> dict[str, Any]:
    """Return the JSON Schema of a dataclass, every field described."""
    return {"$schema": DIALECT, **TypeAdapter(kind).json_schema(schema_generator=_Described)}


def _short_names(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema whose definitions have the names that users know: `Pool`, not `BlueprintPool`."""
    names = {
        name: name.removeprefix(_OWN) if name.removeprefix(_OWN) not in schema["$defs"] else name
        for name in schema.get("$defs", {})
    }

    def renamed(part: Any) -> Any:  # noqa: ANN401 - any part of a schema
        if isinstance(part, list):
            return [renamed(item) for item in part]
        if not isinstance(part, dict):
            return part
        made = {key: renamed(value) for key, value in part.items()}
        if isinstance(made.get("$ref"), str):
            made["$ref"] = _DEFS + names[made["$ref"].removeprefix(_DEFS)]
        if isinstance(made.get("title"), str):
            made["title"] = names.get(made["title"], made["title"])
        return made

    made: dict[str, Any] = renamed(schema)
    if names:
        made["$defs"] = dict(sorted((names[name], part) for name, part in made["$defs"].items()))
    return made


def read_field_docs(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstring of each field of a model by its Python name; a subclass' word wins."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base is not BaseModel:
            found |= _docs_in_module(base.__module__).get(base.__qualname__, {})
    since = {name: _since(model, name) for name in model.model_fields}
    return {name: f"{doc} {since[name]}".strip() for name, doc in found.items() if name in since}


class _Described(GenerateJsonSchema):
    """Pydantic's generator, plus each field's docstring."""

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        made = super().model_schema(schema)
        model: type[BaseModel] = schema["cls"]
        docs = read_field_docs(model)
        for name, field in model.model_fields.items():
            described = made.get("properties", {}).get(field.alias or name)
            if described is not None and name in docs:
                described["description"] = docs[name]
                described.pop("title", None)
                if described.get("default", 0) is None:
                    del described["default"]
        return made

    def build_dataclass_schema(self, schema: DataclassSchema) -> JsonSchemaValue:
        made = super().dataclass_schema(schema)
        kind = schema["cls"]
        docs = _docs_in_module(kind.__module__).get(kind.__qualname__, {})
        for field, described in zip(schema["fields"], made.get("properties", {}).values(), strict=True):
            described.pop("title", None)
            if field in docs:
                described["description"] = docs[field]
        return {**made, "description": inspect.getdoc(kind)}

    def dict_schema(self, schema: DictSchema) -> JsonSchemaValue:
        """Refuse names that no key pattern allows: an editor would take them otherwise."""
        made = super().dict_schema(schema)
        return {**made, "additionalProperties": False} if "patternProperties" in made else made


def _since(model: type[BaseModel], name: str) -> str:
    for mark in model.model_fields[name].metadata:
        if isinstance(mark, Since):
            gate = f", with the feature gate {mark.gate}" if mark.gate else ""
            return f"Since Karpenter {mark.minor}{gate}."
    return ""


@cache
def _docs_in_module(module: str) -> dict[str, dict[str, str]]:
    parsed = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: _docs_in_class(node) for node in parsed.body if isinstance(node, ast.ClassDef)}


def _docs_in_class(node: ast.ClassDef) -> dict[str, str]:
    found = {}
    for field, below in zip(node.body, node.body[1:], strict=False):
        text = _text(below)
        if text and isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            found[field.target.id] = " ".join(text.split())
    return found


def _text(node: ast.stmt) -> str:
    """Return the text that stands alone as a statement, or an empty one."""
    value = node.value.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) else None
    return value if isinstance(value, str) else ""
