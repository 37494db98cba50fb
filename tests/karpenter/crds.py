"""Karpenter's real CRDs, read from its Go module at test time."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import yaml
from jsonschema import Draft202012Validator, ValidationError

from tests.rig.sources import crd_folder

FILES = {
    "NodePool": "karpenter.sh_nodepools.yaml",
    "NodeOverlay": "karpenter.sh_nodeoverlays.yaml",
    "EC2NodeClass": "karpenter.k8s.aws_ec2nodeclasses.yaml",
}


@cache
def schema(kind: str) -> dict[str, Any]:
    """The OpenAPI schema of a kind; the API server drops the status of a new object unread."""
    crd = yaml.safe_load((crd_folder() / FILES[kind]).read_text())
    (version,) = crd["spec"]["versions"]
    found: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    found["properties"]["status"] = {"description": "Written by Karpenter."}
    return found


def errors(kind: str, value: object) -> Iterator[ValidationError]:
    """Each error of the structure of the real CRD (CEL left out) in a value."""
    return _validator(kind).iter_errors(value)


def refusals(kind: str, value: object) -> list[str]:
    """What the structure of the real CRD (CEL left out) says against a value."""
    return [error.message for error in errors(kind, value)]


def validator_at(kind: str, path: str) -> Draft202012Validator:
    """The structure of the real CRD (CEL left out) for what stands at `spec limits cpu` and the like."""
    part: dict[str, Any] = _as_server_reads(schema(kind))
    for step in path.split():
        inside = part.get("properties", {})
        part = inside[step] if step in inside else part.get("items") or part["additionalProperties"]
    return Draft202012Validator(part)


@cache
def _validator(kind: str) -> Draft202012Validator:
    return Draft202012Validator(_as_server_reads(schema(kind)))


def _as_server_reads(part: Any) -> Any:  # noqa: ANN401 - any part of a schema
    """Say in plain JSON Schema what the API server does: RE2, widths, sets, defaults, strict decoding."""
    if isinstance(part, list):
        return [_as_server_reads(item) for item in part]
    if not isinstance(part, dict):
        return part
    found = {word: _as_server_reads(value) for word, value in part.items()}
    if isinstance(found.get("pattern"), str):
        found["pattern"] = "(?a)" + found["pattern"].replace("$", r"\Z")
    if found.get("format") in {"int32", "int64"}:
        width = 31 if found["format"] == "int32" else 63
        found = {"minimum": -(2**width), "maximum": 2**width - 1, **found}
    if found.get("x-kubernetes-list-type") == "set":
        found["uniqueItems"] = True
    if (
        found.get("type") == "object"
        and found.get("properties")
        and "x-kubernetes-preserve-unknown-fields" not in found
    ):
        filled = {name for name, child in found["properties"].items() if "default" in child}
        found["additionalProperties"] = False
        found["required"] = [name for name in found.get("required", []) if name not in filled]
    return found


def leaves(kind: str) -> Iterator[str]:
    """Each field of a kind's spec, as `spec taints [] key`."""
    yield from _fields(schema(kind)["properties"]["spec"], "spec")


def paths(value: object, path: str = "") -> Iterator[str]:
    """Each place of a value, in the same form."""
    yield path
    if isinstance(value, dict):
        for key, child in value.items():
            yield from paths(child, f"{path} {key}".strip())
    if isinstance(value, list):
        for child in value:
            yield from paths(child, f"{path} []")


def _fields(part: dict[str, Any], path: str) -> Iterator[str]:
    yield path
    for name, child in part.get("properties", {}).items():
        yield from _fields(child, f"{path} {name}")
    if "items" in part:
        yield from _fields(part["items"], f"{path} []")
