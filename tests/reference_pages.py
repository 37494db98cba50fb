"""The generated reference pages: the vocabulary and the findings."""

from collections.abc import Iterator, Mapping
from typing import Any

from gpupool.blueprint.model import Blueprint
from gpupool.codes import Code, Layer, layer
from gpupool.shapes.docs import build_json_schema

_Schema = Mapping[str, Any]
_ANYTHING = "JsonValue"
"""The one definition that is no map of keys."""


_LAYERS: Mapping[Layer, tuple[str, str]] = {
    Layer.BLUEPRINT: ("The blueprint", "gpupool rejects these itself, or reports them for information."),
    Layer.STRUCTURAL: (
        "The structure of Karpenter's objects",
        "The API server rejects these by the schema of the CRD, or the file can't be read.",
    ),
    Layer.CEL: ("The CRD's CEL rules", "The API server rejects these by a CEL rule of the CRD."),
    Layer.RUNTIME: (
        "Karpenter's own checks",
        "The API server accepts these and Karpenter rejects them: the object never becomes Ready.",
    ),
    Layer.CRASH: (
        "Crashes",
        "No check rejects these; then Karpenter crashes, stalls, or selects everything or nothing.",
    ),
    Layer.RULE: ("Lint rules", "No check rejects these; they are advice."),
}
"""The heading and the introduction of each layer's section."""


def findings_page() -> str:
    """Return the page of every finding by its code, a section for each layer."""
    head = [
        "# Findings",
        "",
        "Each finding is printed as `file:line:column: severity code [layer] message`, with its fix on the",
        "next line; the layer `blueprint` is not printed. An error ends the command with exit code 1;",
        "warnings and infos do not, but `gpupool validate --strict` fails on warnings too. A code never",
        "changes its meaning.",
        "",
    ]
    sections = (line for part in Layer for line in _layer_section(part))
    return "\n".join([*head, *sections])


def _layer_section(part: Layer) -> list[str]:
    rows = [f"| {code} | {code.meaning} |" for code in Code if layer(code) is part]
    title, text = _LAYERS[part]
    head = [f"## {title}: `{part}`", "", text, "", "| code | meaning |", "|---|---|"]
    return [*head, *rows, ""] if rows else []


def blueprint_page() -> str:
    """Return the page of every key of a blueprint, map by map."""
    schema = build_json_schema(Blueprint)
    parts = {"Blueprint": schema, **{_name(key): part for key, part in schema["$defs"].items()}}
    head = [
        "# The blueprint, field by field",
        "",
        "Every field can be `null`, which removes the value of an earlier file or layer. Where a value has",
        "its own table, it is linked. `gpupool schema` prints the same as JSON Schema, for editors.",
        "",
    ]
    return "\n".join([*head, *(line for name, part in parts.items() for line in _section(name, part))])


def _section(name: str, part: _Schema) -> Iterator[str]:
    if "properties" not in part:
        return
    yield from (f"## {name}", "", " ".join(str(part.get("description", "")).split()), "")
    yield from ("| field | value | meaning |", "|---|---|---|")
    for key, field in part["properties"].items():
        yield f"| `{key}` | {_cell(_kinds(field))} | {_cell(str(field.get('description', '')))} |"
    yield ""


def _kinds(field: _Schema) -> str:
    """Return what a value may be in words, each once."""
    return " or ".join(dict.fromkeys(kind for kind in _each_kind(field) if kind != "null"))


def _each_kind(field: _Schema) -> Iterator[str]:
    branches = field.get("anyOf") or field.get("oneOf")
    if branches:
        for branch in branches:
            yield from _each_kind(branch)
    elif "$ref" in field:
        name = _name(field["$ref"].rpartition("/")[2])
        yield "anything" if name == _ANYTHING else f"[{name}](#{name.lower()})"
    elif "enum" in field or "const" in field:
        yield from (f"`{value}`" for value in field.get("enum", [field.get("const")]))
    elif field.get("type") == "array":
        yield f"list of {_kinds(field['items'])}"
    elif field.get("type") == "object" and (inner := _values(field)):
        yield f"map of {_kinds(inner)}"
    else:
        yield {"string": "text", "integer": "number", "boolean": "true, false", "object": "map"}.get(
            str(field.get("type")), str(field.get("type", "any"))
        )


def _values(field: _Schema) -> _Schema | None:
    """Return what the values of a map by name are; pydantic says it in one of two ways."""
    for values in (*field.get("patternProperties", {}).values(), field.get("additionalProperties")):
        if isinstance(values, Mapping):
            return values
    return None


def _name(definition: str) -> str:
    """Return a definition's name as a heading: pydantic writes a generic model's parameters into it."""
    return definition.strip("_").replace("_Annotated", "").replace("_", "-")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
