"""`gpupool schema`: a JSON Schema that editors can use, and that agrees with what gpupool takes."""

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from gpupool.profiles.load import shipped_names
from tests.cli.run import gpupool, process

ROOT = Path(__file__).parents[2]
KINDS = ("blueprint", "profile")
EXAMPLES = [
    path
    for path in sorted((ROOT / "docs" / "examples").rglob("*.yaml"))
    if "kind: Blueprint" in path.read_text("utf-8")
]


@pytest.fixture(params=KINDS)
def schema(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The schema of one kind of file."""
    return copy.deepcopy(said(request.param))


@pytest.fixture
def blueprint() -> dict[str, Any]:
    """The schema of a blueprint."""
    return copy.deepcopy(said("blueprint"))


@cache
def said(kind: str) -> dict[str, Any]:
    ended = process("schema", kind, folder=ROOT)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.endswith("}\n")
    made: dict[str, Any] = json.loads(ended.out)
    return made


def mistakes(schema: dict[str, Any], document: object) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(document)]


def parts(schema: object, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every map in a schema with its path."""
    if isinstance(schema, dict):
        yield path, schema
        for key, inner in schema.items():
            yield from parts(inner, f"{path}/{key}")
    elif isinstance(schema, list):
        for index, inner in enumerate(schema):
            yield from parts(inner, f"{path}/{index}")


def test_a_blueprint_s_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert gpupool(capsys, "schema").out == gpupool(capsys, "schema", "blueprint").out


def test_is_a_valid_schema(schema: dict[str, Any]) -> None:
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)


def test_every_property_is_described(schema: dict[str, Any]) -> None:
    properties = [
        (f"{path}/{name}", inner)
        for path, part in parts(schema)
        for name, inner in part.get("properties", {}).items()
        if not path.endswith("/properties")
    ]

    assert len(properties) > 100
    assert [path for path, inner in properties if len(inner.get("description", "")) < 10] == []


def test_every_model_is_described_and_refuses_unknown_keys(schema: dict[str, Any]) -> None:
    models = {
        path: part for path, part in parts(schema) if "properties" in part and part.get("type") == "object"
    }

    assert [path for path, part in models.items() if not part.get("description")] == []
    assert [path for path, part in models.items() if "additionalProperties" not in part] == []
    open_ones = {path for path, part in models.items() if part["additionalProperties"] is not False}
    assert open_ones <= {"/$defs/Limits", "/$defs/NvidiaDevicePluginValues"}


@pytest.mark.parametrize(
    "path", EXAMPLES, ids=lambda path: path.relative_to(ROOT / "docs" / "examples").as_posix()
)
def test_takes_every_example(path: Path, blueprint: dict[str, Any]) -> None:
    assert mistakes(blueprint, yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)) == []


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 3


@pytest.mark.parametrize("name", shipped_names())
def test_takes_every_shipped_profile(name: str) -> None:
    text = (ROOT / "profiles" / f"{name}.yaml").read_text("utf-8")

    assert mistakes(said("profile"), yaml.load(text, yaml.CSafeLoader)) == []


GOOD: dict[str, Any] = {
    "apiVersion": "gpupool.dev/v1alpha1",
    "kind": "Blueprint",
    "metadata": {"name": "demo"},
    "pools": {
        "train": {
            "accelerator": ["h100", "h200"],
            "instances": {"gpus": {"min": 8}, "memory": {"min": "512Gi"}},
            "limits": {"nodes": 2, "aws.amazon.com/neuron": 16},
            "taints": {"nvidia.com/gpu": "true:NoSchedule"},
            "disruption": {"budgets": [{"nodes": "10%"}]},
            "nodeClass": {"disk": {"size": "500Gi"}, "userData": {"file": "boot.sh"}},
        }
    },
}
REFUSED: list[tuple[str, object]] = [
    ("poolz", {}),
    ("apiVersion", "gpupool.dev/v1"),
    ("apiVersion", None),
    ("kind", "Profile"),
    ("metadata name", "Demo"),
    ("metadata name", 1),
    ("cluster", []),
    ("cluster karpenter", 1.14),
    ("cluster features", ["Nodeoverlay"]),
    ("pools", []),
    ("pools train", "training"),
    ("pools train profil", "training"),
    ("pools train accelerator", {"name": "h100"}),
    ("pools train arch", "arm65"),
    ("pools train capacity", "spott"),
    ("pools train weight", 0),
    ("pools train weight", "50"),
    ("pools train limits nodes", -1),
    ("pools train limits gpus", "8"),
    ("pools train instances gpus", "two"),
    ("pools train instances gpus min", "two"),
    ("pools train instances gpus least", 2),
    ("pools train instances memory min", 512),
    ("pools train instances memory min", "512"),
    ("pools train taints", "x"),
    ("pools train expireAfter", "1 day"),
    ("pools train disruption budgets", {}),
    ("pools train disruption budgets", [{"nodes": "10x"}]),
    ("pools train disruption budgets", [{"node": 1}]),
    ("pools train nodeClass disk size", 500),
    ("pools train nodeClass userData", ["x"]),
    ("pools train nodeClass userData", {"path": "x"}),
    ("pools train sharing timeSlicing", 1),
    ("pools train doNotDisrupt", "yes"),
    ("pools train tiers", ["spot"]),
    ("stack nvidia-device-plugin version", 0.2),
]


def test_takes_what_is_right(blueprint: dict[str, Any]) -> None:
    assert mistakes(blueprint, GOOD) == []


@pytest.mark.parametrize(("path", "value"), REFUSED)
def test_refuses_what_is_wrong(path: str, value: object, blueprint: dict[str, Any]) -> None:
    changed = copy.deepcopy(GOOD)
    here = changed
    *above, last = path.split(" ")
    for key in above:
        here = here.setdefault(key, {})
    here[last] = value

    assert mistakes(blueprint, changed) != []
