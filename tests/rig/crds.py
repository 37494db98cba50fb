"""Karpenter's CRDs as JSON Schemas, closed where the CRD is closed, for kubeconform."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from tests.rig.cache import digest, made_once, root
from tests.rig.sources import crd_folder

LOCATION = "{{ .Group }}_{{ .ResourceKind }}_{{ .ResourceAPIVersion }}.json"
"""How kubeconform finds the schema of an object in the folder."""

INT_RANGES = {"int32": 2**31, "int64": 2**63}
TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
METADATA = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string", "maxLength": 253}, "labels": TEXTS, "annotations": TEXTS},
}
"""A CRD says nothing about metadata; this much of it is the same for every kind."""


def schema_folder() -> Path:
    """Return the folder with one schema per kind and version, written on first use."""
    files = sorted(crd_folder().glob("*.yaml"))
    # This module's own text is part of the name: another way to convert gives other schemas.
    folder = root() / digest(Path(__file__).read_bytes(), *(file.read_bytes() for file in files)) / "schemas"
    made_once(folder, partial(_write_all, files))
    return folder


def schemas(crd: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the schemas of a CRD by file name, one for each version it serves."""
    spec = crd["spec"]
    group, kind = spec["group"], spec["names"]["kind"]
    return {
        f"{group}_{kind.lower()}_{version['name']}.json": _root(version, f"{group}/{version['name']}", kind)
        for version in spec["versions"]
    }


def json_schema(crd: dict[str, Any]) -> dict[str, Any]:
    """Turn a structural schema of a CRD (OpenAPI v3) into JSON Schema; CEL rules have no counterpart."""
    found = {key: value for key, value in crd.items() if not key.startswith("x-kubernetes-")}
    found.pop("nullable", None)
    for key in ("properties", "patternProperties"):
        if key in crd:
            found[key] = {name: json_schema(inner) for name, inner in crd[key].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(crd.get(key), dict):
            found[key] = json_schema(crd[key])
    return found | _types(crd) | _closing(crd)


def _root(version: dict[str, Any], api_version: str, kind: str) -> dict[str, Any]:
    found = json_schema(version["schema"]["openAPIV3Schema"])
    found["properties"] |= {
        "apiVersion": {"type": "string", "const": api_version},
        "kind": {"type": "string", "const": kind},
        "metadata": METADATA,
    }
    found["required"] = sorted({"apiVersion", "kind", "metadata", *found.get("required", ())})
    return {"$schema": "http://json-schema.org/draft-07/schema#", **found}


def _types(crd: dict[str, Any]) -> dict[str, Any]:
    if crd.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    if "type" not in crd:
        return {}
    kinds = [crd["type"], "null"] if crd.get("nullable") else crd["type"]
    return {"type": kinds, **_range(crd)}


def _range(crd: dict[str, Any]) -> dict[str, Any]:
    end = INT_RANGES.get(crd.get("format", ""))
    if end is None or crd["type"] != "integer":
        return {}
    return {
        "minimum": max(crd.get("minimum", -end), -end),
        "maximum": min(crd.get("maximum", end - 1), end - 1),
    }


def _closing(crd: dict[str, Any]) -> dict[str, Any]:
    # The server drops what is not named (or refuses it, when asked to be strict), except where it is told not to.
    closed = crd.get("type") == "object" and "properties" in crd and "additionalProperties" not in crd
    return (
        {"additionalProperties": False}
        if closed and not crd.get("x-kubernetes-preserve-unknown-fields")
        else {}
    )


def _write_all(files: list[Path], folder: Path) -> None:
    folder.mkdir()
    for file in files:
        crd = yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader)
        for name, schema in schemas(crd).items():
            (folder / name).write_text(json.dumps(schema, indent=1, sort_keys=True))
