"""Our models against Karpenter's CRDs, word by word: every difference is listed here with its reason."""

from collections.abc import Iterator
from typing import Any

import pytest

from gpupool.shapes.base import Shape
from tests.karpenter import crds
from tests.karpenter.examples import MODELS

WORDS = {
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "uniqueItems",
    "pattern",
    "type",
}
NOT_COMPARED = {
    "description",  # ours are our own
    "title",  # pydantic's
    "x-kubernetes-validations",  # CEL: rules, not structure
    "x-kubernetes-map-type",  # how server-side apply merges
    "default",  # see test_server_defaults
}
UNDERSTOOD = (
    WORDS
    | NOT_COMPARED
    | {
        "properties",
        "additionalProperties",
        "items",
        "required",
        "enum",
        "format",
        "anyOf",
        "x-kubernetes-list-type",
        "x-kubernetes-int-or-string",
    }
)
WIDTHS = {"int32": 31, "int64": 63}
Facts = dict[tuple[str, str], object]
Difference = tuple[object, object]

MAPS_OF_KUBELET = {
    "evictionHard": "signals",
    "evictionSoft": "signals",
    "evictionSoftGracePeriod": "signals",
    "kubeReserved": "resources",
    "systemReserved": "resources",
}
KEYS = {
    "signals": [
        "imagefs.available",
        "imagefs.inodesFree",
        "memory.available",
        "nodefs.available",
        "nodefs.inodesFree",
        "pid.available",
    ],
    "resources": ["cpu", "ephemeral-storage", "memory", "pid"],
}
ITEM_TEXT = r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"

EXPECTED: dict[str, dict[tuple[str, str], Difference]] = {
    "NodePool": {
        # An object without a name can't be written anywhere.
        ("", "required"): (["spec"], ["metadata", "spec"]),
        # The CRD leaves these to the API server, which knows one value for each.
        ("apiVersion", "enum"): (None, ["karpenter.sh/v1"]),
        ("kind", "enum"): (None, ["NodePool"]),
        # Text constraints that the CRD hangs on a list do nothing there; the controller checks the items.
        ("spec.template.spec.requirements[].values", "maxLength"): (63, None),
        ("spec.template.spec.requirements[].values", "pattern"): (ITEM_TEXT, None),
        # The pattern of a taint key asks for a character anyway; one mistake gets one error.
        ("spec.template.spec.startupTaints[].key", "minLength"): (1, None),
        ("spec.template.spec.taints[].key", "minLength"): (1, None),
        # The server fills a budget's `nodes` in, so nobody has to write it.
        ("spec.disruption.budgets[]", "required"): (["nodes"], []),
        # `spec.replicas` is the path of the scale subresource, which holds 32 bits.
        ("spec.replicas", "maximum"): (2**63 - 1, 2**31 - 1),
    },
    "NodeOverlay": {
        ("", "required"): (["spec"], ["metadata", "spec"]),
        ("apiVersion", "enum"): (None, ["karpenter.sh/v1alpha1"]),
        ("kind", "enum"): (None, ["NodeOverlay"]),
        ("spec.requirements[].values", "maxLength"): (63, None),
        ("spec.requirements[].values", "pattern"): (ITEM_TEXT, None),
    },
    "EC2NodeClass": {
        # An object without metadata has no name.
        ("", "required"): ([], ["metadata"]),
        ("apiVersion", "enum"): (None, ["karpenter.k8s.aws/v1"]),
        ("kind", "enum"): (None, ["EC2NodeClass"]),
        # The CRD says the keys of these maps in CEL; as types they complete in an editor.
        **{(f"spec.kubelet.{name}", "keys"): (None, KEYS[kind]) for name, kind in MAPS_OF_KUBELET.items()},
    },
}

SERVER_DEFAULTS = {
    "NodePool": {
        "spec.disruption": {"consolidateAfter": "0s"},
        "spec.disruption.budgets": [{"nodes": "10%"}],
        "spec.disruption.budgets[].nodes": "10%",
        "spec.disruption.consolidationPolicy": "WhenEmptyOrUnderutilized",
        "spec.template.spec.expireAfter": "720h",
    },
    "NodeOverlay": {},
    "EC2NodeClass": {
        "spec.metadataOptions": {
            "httpEndpoint": "enabled",
            "httpProtocolIPv6": "disabled",
            "httpPutResponseHopLimit": 1,
            "httpTokens": "required",
        },
        "spec.metadataOptions.httpEndpoint": "enabled",
        "spec.metadataOptions.httpProtocolIPv6": "disabled",
        "spec.metadataOptions.httpPutResponseHopLimit": 1,
        "spec.metadataOptions.httpTokens": "required",
    },
}


@pytest.mark.parametrize("kind", MODELS)
def test_every_difference_from_the_crd_is_known(kind: str) -> None:
    theirs = dict(crd_facts(crds.schema(kind)))
    document = MODELS[kind].model_json_schema()
    ours = dict(our_facts(document, document["$defs"]))

    differences = {
        at: (theirs.get(at), ours.get(at))
        for at in theirs.keys() | ours.keys()
        if theirs.get(at) != ours.get(at)
    }

    assert differences == EXPECTED[kind]


@pytest.mark.parametrize(("kind", "least"), [("NodePool", 100), ("EC2NodeClass", 180), ("NodeOverlay", 25)])
def test_the_comparison_sees_the_whole_schema(kind: str, least: int) -> None:
    assert len(dict(crd_facts(crds.schema(kind)))) > least


@pytest.mark.parametrize("kind", MODELS)
def test_server_defaults(kind: str) -> None:
    """Our models hold no default of the server's: what nobody said is not rendered."""
    assert dict(defaults(crds.schema(kind))) == SERVER_DEFAULTS[kind]
    assert set(model_defaults(MODELS[kind])) == {MODELS[kind].model_fields["api_version"].default, kind}


@pytest.mark.parametrize(
    ("word", "change"),
    [
        ("maximum", {"maximum": 99}),
        ("pattern", {"pattern": "^x$"}),
        ("enum", {"enum": ["other"]}),
        ("minLength", {"minLength": 3}),
    ],
)
def test_a_change_in_the_crd_would_be_seen(word: str, change: dict[str, object]) -> None:
    schema = {"type": "object", "properties": {"weight": {"type": "integer"}}}
    changed = {"type": "object", "properties": {"weight": {"type": "integer", **change}}}

    assert ("weight", word) not in dict(crd_facts(schema))
    assert dict(crd_facts(changed))["weight", word] == next(iter(change.values()))


def test_a_word_that_the_comparison_does_not_know_is_refused() -> None:
    with pytest.raises(AssertionError, match="multipleOf"):
        dict(crd_facts({"type": "integer", "multipleOf": 2}))


def crd_facts(schema: dict[str, Any], path: str = "") -> Iterator[tuple[tuple[str, str], object]]:
    """Each thing that an OpenAPI schema says, by path and word."""
    assert not schema.keys() - UNDERSTOOD, f"{path}: {schema.keys() - UNDERSTOOD}"
    if schema.get("x-kubernetes-int-or-string"):
        schema = {**schema, "type": "integer or string"}
    if schema.get("x-kubernetes-list-type") == "set":
        schema = {**schema, "uniqueItems": True}
    yield from numbers_of_width(schema, path)
    yield from words(schema, path)
    if path != "metadata":  # CRDs leave it to the API server; test_accepted.py has ours
        yield from below(schema, path)


def numbers_of_width(schema: dict[str, Any], path: str) -> Iterator[tuple[tuple[str, str], object]]:
    kind = schema.get("format")
    if kind in WIDTHS:
        yield (path, "minimum"), -(2 ** WIDTHS[kind])
        yield (path, "maximum"), 2 ** WIDTHS[kind] - 1
    elif kind is not None:
        yield (path, "format"), kind


def words(schema: dict[str, Any], path: str) -> Iterator[tuple[tuple[str, str], object]]:
    for word in sorted(WORDS & schema.keys()):
        yield (path, word), schema[word]
    if "enum" in schema:
        yield (path, "enum"), sorted(schema["enum"])


def below(schema: dict[str, Any], path: str) -> Iterator[tuple[tuple[str, str], object]]:
    for name, child in schema.get("properties", {}).items():
        yield from crd_facts(child, f"{path}.{name}".lstrip("."))
    if "properties" in schema:
        yield (path, "properties"), sorted(schema["properties"])
        yield (path, "required"), sorted(schema.get("required", []))
    if "items" in schema:
        yield from crd_facts(schema["items"], f"{path}[]")
    if schema.get("additionalProperties"):
        yield from crd_facts(schema["additionalProperties"], f"{path}.*")


def our_facts(schema: dict[str, Any], known: dict[str, Any]) -> Iterator[tuple[tuple[str, str], object]]:
    """The same of a model, after its JSON Schema was put into the words of a CRD."""
    plain = crd_words(schema, known)
    keys: dict[str, list[str]] = {}
    pull_keys(plain, "", keys)
    yield from crd_facts(plain)
    for path, names in keys.items():
        yield (path, "keys"), sorted(names)


def crd_words(schema: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Put a JSON Schema of pydantic's into the words that CRDs use."""
    if "$ref" in schema:
        return crd_words(known[schema["$ref"].rpartition("/")[2]], known)
    choices = [choice for choice in schema.get("anyOf", []) if choice != {"type": "null"}]
    if len(choices) == 1:
        return crd_words(choices[0], known)
    found = {word: value for word, value in schema.items() if word not in {"$defs", "anyOf", "const"}}
    if choices == [{"type": "integer"}, {"type": "string"}]:
        found |= {"x-kubernetes-int-or-string": True}
    else:
        assert not choices, f"a union that no CRD has: {choices}"
    if "const" in schema:
        found["enum"] = [schema["const"]]
    return found | children(schema, known)


def children(schema: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "properties" in schema:
        assert schema["additionalProperties"] is False, "a model that lets unknown keys through"
        found["properties"] = {name: crd_words(child, known) for name, child in schema["properties"].items()}
    elif isinstance(schema.get("additionalProperties"), dict):
        found["additionalProperties"] = crd_words(schema["additionalProperties"], known)
    if "items" in schema:
        found["items"] = crd_words(schema["items"], known)
    return found


def pull_keys(schema: dict[str, Any], path: str, keys: dict[str, list[str]]) -> None:
    """Take out what is said of the keys of maps, for which CRDs have no word."""
    if "propertyNames" in schema:
        keys[path] = schema.pop("propertyNames")["enum"]
    for name, child in schema.get("properties", {}).items():
        if path or name != "metadata":
            pull_keys(child, f"{path}.{name}".lstrip("."), keys)
    if "items" in schema:
        pull_keys(schema["items"], f"{path}[]", keys)


def defaults(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, object]]:
    if "default" in schema:
        yield path, schema["default"]
    for name, child in schema.get("properties", {}).items():
        yield from defaults(child, f"{path}.{name}".lstrip("."))
    if "items" in schema:
        yield from defaults(schema["items"], f"{path}[]")


def model_defaults(model: type[Shape]) -> Iterator[object]:
    document = model.model_json_schema()
    for shape in [document, *document["$defs"].values()]:
        for field in shape["properties"].values():
            if field.get("default") is not None:
                yield field["default"]
