"""JSON Schemas of Karpenter's kinds for kubeconform and editors, without rules beyond the CRD's structure.

They are built from the types in this package. Rules of CEL, of the controller and of the API server's
own code are left out, so that the API server rejects everything that these schemas reject.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, get_args

from pydantic import BaseModel

from gpupool.karpenter.validation.status import STATUS, StatusField
from gpupool.karpenter.validation.types import TYPES
from gpupool.karpenter.versions import LATEST, REASONS_DIFFER_SINCE, VALUES_SINCE, is_supported
from gpupool.shapes.annotations import Since
from gpupool.shapes.docs import build_json_schema

_Schema: TypeAlias = dict[str, Any]

DIALECT: Final = "http://json-schema.org/draft-07/schema#"
"""The newest dialect that all versions of kubeconform and common editors read."""

_COPIED_KEYWORDS: Final = frozenset(
    {
        "type", "description", "enum", "const", "pattern", "minimum", "maximum", "minLength", "maxLength",
        "minItems", "maxItems", "minProperties", "maxProperties", "uniqueItems", "required",
    }
)  # fmt: skip
"""Keywords that are copied. `propertyNames` is a CEL rule in the CRD; `default` would add no check."""

_NULL: Final = {"type": "null"}
_END: Final = 9223372036854776000
"""The largest int64 in kubeconform, which reads numbers as 64-bit floats of sixteen digits."""

_ENDS: Final = {2**63 - 1: _END, -(2**63): -_END}
_INT64: Final = {"minimum": -_END, "maximum": _END}
_DATE_TIME: Final = {
    "type": ["string", "array"],
    "pattern": r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})([Tt].*)?$",
}
"""The API server's `format: date-time` as a pattern, because validators disagree on that format.

The lengths of months are not checked. The server also accepts any list for this format.
"""


def build_schemas(target: str = LATEST) -> dict[str, str]:
    """Build the text of each schema, by its file's path `GROUP/KIND_VERSION.json` in lower case."""
    built = {kind: _build_schema(kind, target) for kind in TYPES}
    return {_build_path(kind, schema): json.dumps(schema, indent=2) + "\n" for kind, schema in built.items()}


def _build_path(kind: str, schema: _Schema) -> str:
    group, _, version = str(schema["properties"]["apiVersion"]["const"]).partition("/")
    return f"{group}/{kind.lower()}_{version}.json"


def _build_schema(kind: str, target: str) -> _Schema:
    model = TYPES[kind].load()
    document = build_json_schema(model)
    later = frozenset(_find_later_fields(model, target))
    schema = _Converter(document.get("$defs", {}), later, target).convert(document, model.__name__)
    schema["properties"]["status"] |= _build_status(STATUS[kind])
    schema["properties"]["metadata"] |= _build_metadata(schema["properties"]["metadata"])
    schema["required"] = ["apiVersion", "kind", *schema["required"]]
    return {"$schema": DIALECT, "title": kind, **schema}


@dataclass(frozen=True, slots=True)
class _Converter:
    """Converter of one pydantic schema: definitions are inlined, unions with null become lists of types."""

    definitions: Mapping[str, _Schema]
    later: frozenset[tuple[str, str]]
    """The fields to leave out, each by the name of its type and its own name."""

    target: str

    def convert(self, part: _Schema, model: str = "") -> _Schema:
        """Convert a part of the document to keywords that the API server's own schema supports."""
        if "$ref" in part:
            name = part["$ref"].rpartition("/")[2]
            return self.convert(self.definitions[name], name) | _get_description(part)
        if "anyOf" in part:
            return self._convert_union(part)
        schema = {
            keyword: _widen_number(value) for keyword, value in part.items() if keyword in _COPIED_KEYWORDS
        }
        if "properties" in part:
            schema["properties"] = dict(self._convert_fields(part["properties"], model))
            schema["additionalProperties"] = False
        elif "patternProperties" in part or part.get("additionalProperties"):
            schema |= self._convert_open_map(part)
        if part.get("format") == "date-time":
            schema |= _DATE_TIME
        if "items" in part:
            schema["items"] = self.convert(part["items"])
        return schema

    def _convert_fields(self, properties: Mapping[str, _Schema], model: str) -> Iterator[tuple[str, _Schema]]:
        for name, part in properties.items():
            if (model, name) not in self.later:
                yield name, self._drop_unsupported_values(name, self.convert(part))

    def _drop_unsupported_values(self, name: str, field: _Schema) -> _Schema:
        """Remove the values of a field that the target does not support yet."""
        if "enum" in field:
            field["enum"] = [value for value in field["enum"] if self._is_supported_value(name, value)]
        if name == "reasons" and not is_supported(self.target, REASONS_DIFFER_SINCE):
            del field["uniqueItems"]
        return field

    def _is_supported_value(self, name: str, value: object) -> bool:
        since = VALUES_SINCE.get((name, str(value)))
        return since is None or is_supported(self.target, since)

    def _convert_union(self, part: _Schema) -> _Schema:
        schema: _Schema = {keyword: value for keyword, value in part.items() if keyword in _COPIED_KEYWORDS}
        kinds: list[str] = []
        for choice in part["anyOf"]:
            converted = self.convert(choice)
            kinds += _list_types(converted)
            schema = converted | schema if choice != _NULL else schema
        if "null" in kinds and "const" in schema:
            schema["enum"] = [schema.pop("const")]
        if "null" in kinds and "enum" in schema:
            schema["enum"] = [*schema["enum"], None]
        if "integer" in kinds and "string" in kinds:
            schema |= _INT64
        return schema | ({"type": kinds} if kinds else {})

    def _convert_open_map(self, part: _Schema) -> _Schema:
        """Allow null values: the API server drops such entries before it checks."""
        patterns = part.get("patternProperties", {})
        schema: _Schema = {}
        if patterns:
            schema["patternProperties"] = {
                key: _allow_null(self.convert(value)) for key, value in patterns.items()
            }
        others = part.get("additionalProperties", not patterns)
        schema["additionalProperties"] = (
            _allow_null(self.convert(others)) if isinstance(others, dict) else others
        )
        return schema


def _list_types(schema: _Schema) -> list[str]:
    kind = schema.get("type", [])
    return [kind] if isinstance(kind, str) else list(kind)


def _allow_null(schema: _Schema) -> _Schema:
    return {**schema, "type": [*_list_types(schema), "null"]} if _list_types(schema) else schema


def _get_description(part: _Schema) -> _Schema:
    return {"description": part["description"]} if "description" in part else {}


def _widen_number(value: Any) -> Any:  # noqa: ANN401 - any value of a schema
    return _ENDS.get(value, value) if type(value) is int else value


def _build_metadata(closed: _Schema) -> _Schema:
    """Require a name, and allow nulls in lists, which the API server reads as empty objects."""
    fields = {
        name: {**field, "items": _allow_null(field["items"])} if "items" in field else field
        for name, field in closed["properties"].items()
    }
    return {"properties": fields, "anyOf": [{"required": ["name"]}, {"required": ["generateName"]}]}


def _build_status(allowed: StatusField) -> _Schema:
    """Reject unknown fields only: the API server drops a new object's status, whatever its values."""
    values = _build_status(allowed.values) if allowed.values else False
    schema: _Schema = {"additionalProperties": values}
    if allowed.fields:
        schema["properties"] = {name: _build_status(child) for name, child in allowed.fields.items()}
    if allowed.items:
        schema["items"] = _build_status(allowed.items)
    return schema


def _find_later_fields(model: type[BaseModel], target: str) -> Iterator[tuple[str, str]]:
    for name, field in model.model_fields.items():
        marks = [mark for mark in field.metadata if isinstance(mark, Since)]
        if any(not is_supported(target, mark) for mark in marks):
            yield model.__name__, field.alias or name
        for child in _find_models(field.annotation):
            yield from _find_later_fields(child, target)


def _find_models(kind: object) -> Iterator[type[BaseModel]]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for argument in get_args(kind):
        yield from _find_models(argument)
