"""JSON Schemas of Karpenter's kinds, for kubeconform: what the CRD's structure demands, and nothing more.

They are made from the types in this package. What only CEL, the controller or the API server's own
code asks is left out, so that whatever these schemas refuse, the API server refuses too.
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
from gpupool.shapes.docs import json_schema

_Schema: TypeAlias = dict[str, Any]

DIALECT: Final = "http://json-schema.org/draft-07/schema#"
"""The newest that every version of kubeconform and every editor reads."""

_KEPT: Final = frozenset(
    {
        "type", "description", "enum", "const", "pattern", "minimum", "maximum", "minLength", "maxLength",
        "minItems", "maxItems", "minProperties", "maxProperties", "uniqueItems", "required",
    }
)  # fmt: skip
"""What is said as it is. `propertyNames` is CEL's in the CRD; a `default` would make nobody's values."""

_NULL: Final = {"type": "null"}
_END: Final = 9223372036854776000
"""The last int64 as kubeconform has it: it reads numbers as 64-bit floats, to sixteen digits."""

_ENDS: Final = {2**63 - 1: _END, -(2**63): -_END}
_INT64: Final = {"minimum": -_END, "maximum": _END}
_DATE_TIME: Final = {
    "type": ["string", "array"],
    "pattern": r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})([Tt].*)?$",
}
"""The API server's `format: date-time`, but for the lengths of months: validators disagree on that word.

The server lets any list through where this format stands.
"""


def build_schemas(target: str = LATEST) -> dict[str, str]:
    """Return the text of each schema by its file's path, `GROUP/KIND_VERSION.json` in lower case."""
    made = {kind: _root(kind, target) for kind in TYPES}
    return {_path(kind, schema): json.dumps(schema, indent=2) + "\n" for kind, schema in made.items()}


def _path(kind: str, schema: _Schema) -> str:
    group, _, version = str(schema["properties"]["apiVersion"]["const"]).partition("/")
    return f"{group}/{kind.lower()}_{version}.json"


def _root(kind: str, target: str) -> _Schema:
    model = TYPES[kind].load()
    document = json_schema(model)
    later = frozenset(_later_fields(model, target))
    found = _Reading(document.get("$defs", {}), later, target).of(document, model.__name__)
    found["properties"]["status"] |= _status(STATUS[kind])
    found["properties"]["metadata"] |= _metadata(found["properties"]["metadata"])
    found["required"] = ["apiVersion", "kind", *found["required"]]
    return {"$schema": DIALECT, "title": kind, **found}


@dataclass(frozen=True, slots=True)
class _Reading:
    """How one document of pydantic's is read: definitions in place, unions with null as lists of types."""

    definitions: Mapping[str, _Schema]
    later: frozenset[tuple[str, str]]
    """The fields to leave out, each by the name of its type and its own."""

    target: str

    def of(self, part: _Schema, model: str = "") -> _Schema:
        """Return a part of the document in words that the API server's own schema could have."""
        if "$ref" in part:
            name = part["$ref"].rpartition("/")[2]
            return self.of(self.definitions[name], name) | _described(part)
        if "anyOf" in part:
            return self._union(part)
        found = {word: _widened(value) for word, value in part.items() if word in _KEPT}
        if "properties" in part:
            found["properties"] = dict(self._fields(part["properties"], model))
            found["additionalProperties"] = False
        elif "patternProperties" in part or part.get("additionalProperties"):
            found |= self._open_map(part)
        if part.get("format") == "date-time":
            found |= _DATE_TIME
        if "items" in part:
            found["items"] = self.of(part["items"])
        return found

    def _fields(self, properties: Mapping[str, _Schema], model: str) -> Iterator[tuple[str, _Schema]]:
        for name, part in properties.items():
            if (model, name) not in self.later:
                yield name, self._known(name, self.of(part))

    def _known(self, name: str, field: _Schema) -> _Schema:
        """Take out of a field what the target does not know yet."""
        if "enum" in field:
            field["enum"] = [value for value in field["enum"] if self._knows(name, value)]
        if name == "reasons" and not is_supported(self.target, REASONS_DIFFER_SINCE):
            del field["uniqueItems"]
        return field

    def _knows(self, name: str, value: object) -> bool:
        since = VALUES_SINCE.get((name, str(value)))
        return since is None or is_supported(self.target, since)

    def _union(self, part: _Schema) -> _Schema:
        found: _Schema = {word: value for word, value in part.items() if word in _KEPT}
        kinds: list[str] = []
        for choice in part["anyOf"]:
            made = self.of(choice)
            kinds += _types(made)
            found = made | found if choice != _NULL else found
        if "null" in kinds and "const" in found:
            found["enum"] = [found.pop("const")]
        if "null" in kinds and "enum" in found:
            found["enum"] = [*found["enum"], None]
        if "integer" in kinds and "string" in kinds:
            found |= _INT64
        return found | ({"type": kinds} if kinds else {})

    def _open_map(self, part: _Schema) -> _Schema:
        """Let a null in: the API server drops an entry that is null before it looks."""
        patterns = part.get("patternProperties", {})
        found: _Schema = {}
        if patterns:
            found["patternProperties"] = {key: _or_null(self.of(value)) for key, value in patterns.items()}
        others = part.get("additionalProperties", not patterns)
        found["additionalProperties"] = _or_null(self.of(others)) if isinstance(others, dict) else others
        return found


def _types(schema: _Schema) -> list[str]:
    kind = schema.get("type", [])
    return [kind] if isinstance(kind, str) else list(kind)


def _or_null(schema: _Schema) -> _Schema:
    return {**schema, "type": [*_types(schema), "null"]} if _types(schema) else schema


def _described(part: _Schema) -> _Schema:
    return {"description": part["description"]} if "description" in part else {}


def _widened(value: Any) -> Any:  # noqa: ANN401 - any word of a schema
    return _ENDS.get(value, value) if type(value) is int else value


def _metadata(closed: _Schema) -> _Schema:
    """Ask for a name, and let nulls stand in lists: the API server's own types read those as empty."""
    fields = {
        name: {**field, "items": _or_null(field["items"])} if "items" in field else field
        for name, field in closed["properties"].items()
    }
    return {"properties": fields, "anyOf": [{"required": ["name"]}, {"required": ["generateName"]}]}


def _status(known: StatusField) -> _Schema:
    """Refuse unknown fields only: the API server drops a new object's status, whatever the values are."""
    values = _status(known.values) if known.values else False
    found: _Schema = {"additionalProperties": values}
    if known.fields:
        found["properties"] = {name: _status(below) for name, below in known.fields.items()}
    if known.items:
        found["items"] = _status(known.items)
    return found


def _later_fields(model: type[BaseModel], target: str) -> Iterator[tuple[str, str]]:
    for name, field in model.model_fields.items():
        marks = [mark for mark in field.metadata if isinstance(mark, Since)]
        if any(not is_supported(target, mark) for mark in marks):
            yield model.__name__, field.alias or name
        for below in _models(field.annotation):
            yield from _later_fields(below, target)


def _models(kind: object) -> Iterator[type[BaseModel]]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for argument in get_args(kind):
        yield from _models(argument)
