"""Label keys against the lists in the real CRDs."""

import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpupool.karpenter import labels
from gpupool.karpenter.scalars import Architecture, OperatingSystem
from tests.karpenter import crds
from tests.tiers import examples

FINE = [
    *labels.WELL_KNOWN,
    *labels.ALIASES,
    *("team", "Team", "a_b.c-d", "example.com/team", "x" * 63, "d" * 253 + "/" + "n" * 63),
    "node.kubernetes.io/instance-family",  # a slip, but a custom label
    "node-role.kubernetes.io/gpu",
    "kubernetes.io/role",
    "eks.amazonaws.com/instance-gpu-name",
    "foo/karpenter.sh",
]
REFUSED = {
    "karpenter.sh/nodepool": "is reserved",
    "kubernetes.io/hostname": "is reserved",
    "karpenter.k8s.aws/ec2nodeclass": "is reserved",
    "karpenter.sh/do-not-disrupt": "is an annotation",
    "karpenter.sh/initialized": "the domain karpenter.sh is reserved",
    "xkarpenter.sh/foo": "the domain karpenter.sh is reserved",
    "a.karpenter.sh/foo": "the domain karpenter.sh is reserved",
    "karpenter.sh": "the domain karpenter.sh is reserved",
    "karpenter.k8s.aws/instance-pods": "the domain karpenter.k8s.aws is reserved",
    "karpenter.k8s.aws/instance-gpu-nam": "did you mean `karpenter.k8s.aws/instance-gpu-name`?",
    "": "letters, digits",
    "a b": "letters, digits",
    "-a": "letters, digits",
    "a.": "letters, digits",
    "a\n": "letters, digits",
    "é": "letters, digits",
    "example.com/": "after the `/`",
    "a/b/c": "more than one `/`",
    "/a": "before the `/`",
    "Example.com/a": "before the `/`",
    "a_b/c": "before the `/`",
    "d" * 254 + "/a": "at most 253",
    "x" * 64: "64 characters",
    "example.com/" + "x" * 64: "64 characters",
}
PIECES = [
    *(
        "karpenter.sh",
        "karpenter.k8s.aws",
        "kubernetes.io",
        "example.com",
        "/",
        "/",
        ".",
        "-",
        "a",
        "B",
        "x" * 64,
    ),
    *(
        "nodepool",
        "capacity-type",
        "hostname",
        "ec2nodeclass",
        "instance-cpu",
        "instance-tenancy",
        "placement-group-id",
    ),
]
KEYS = st.lists(st.sampled_from(PIECES), max_size=5).map("".join) | st.sampled_from(
    [*labels.WELL_KNOWN, *REFUSED]
)


@pytest.mark.parametrize("key", FINE)
def test_fine(key: str) -> None:
    assert labels.find_key_problem(key) is None


@pytest.mark.parametrize(("key", "words"), REFUSED.items())
def test_refused_in_words(key: str, words: str) -> None:
    assert words in (labels.find_key_problem(key) or "")


def test_the_allow_list_is_the_crds() -> None:
    pool = crds.schema("NodePool")["properties"]["spec"]["properties"]["template"]["properties"]
    template = pool["metadata"]["properties"]["labels"]

    assert allowed(template)["karpenter.k8s.aws"] == labels.AWS_ALLOWED
    assert allowed(pool_key())["karpenter.k8s.aws"] == labels.AWS_ALLOWED
    assert allowed(pool_key())["karpenter.sh"] == {labels.CAPACITY_TYPE, labels.NODEPOOL}
    assert set(allowed(pool_key())) == set(labels.RESTRICTED_DOMAINS)


def test_the_overlays_allow_list_is_the_crds() -> None:
    assert allowed(overlay_key())["karpenter.k8s.aws"] == labels.AWS_ALLOWED - labels.OVERLAY_REFUSED


@settings(derandomize=True, max_examples=examples(500), deadline=None, database=None)
@given(key=KEYS)
def test_what_the_crd_refuses_has_a_problem(key: str) -> None:
    if crd_refuses(pool_key(), key):
        assert labels.find_key_problem(key) is not None
    if crd_refuses(overlay_key(), key):
        assert labels.find_overlay_key_problem(key) is not None


@settings(derandomize=True, max_examples=examples(500), deadline=None, database=None)
@given(key=KEYS)
def test_what_only_we_refuse_is_what_the_controller_refuses(key: str) -> None:
    """Too long a name, and the label that Karpenter sets from the node class."""
    if labels.find_key_problem(key) is not None and not crd_refuses(pool_key(), key):
        prefix, _, name = key.rpartition("/")
        assert key == labels.EC2NODECLASS or len(name) > 63 or len(prefix) > 253


def test_an_overlay_may_name_the_pool() -> None:
    assert labels.find_overlay_key_problem("karpenter.sh/nodepool") is None
    assert labels.find_overlay_key_problem("karpenter.k8s.aws/instance-gpu-count") is None
    assert "not in a NodeOverlay" in (
        labels.find_overlay_key_problem("karpenter.k8s.aws/placement-group-id") or ""
    )


def test_the_kinds_of_labels() -> None:
    integers = {key.rpartition("/")[2] for key, label in labels.WELL_KNOWN.items() if label.kind == "integer"}
    booleans = {key.rpartition("/")[2] for key, label in labels.WELL_KNOWN.items() if label.kind == "boolean"}

    assert integers == {
        *("instance-generation", "instance-cpu", "instance-cpu-sustained-clock-speed-mhz", "instance-memory"),
        *(
            "instance-local-nvme",
            "instance-ebs-bandwidth",
            "instance-network-bandwidth",
            "instance-gpu-count",
        ),
        *("instance-gpu-memory", "instance-accelerator-count", "placement-group-partition"),
    }
    assert booleans == {
        *("instance-capability-flex", "instance-encryption-in-transit-supported"),
        "capacity-reservation-interruptible",
    }
    assert all(
        label.values == ("true", "false") for label in labels.WELL_KNOWN.values() if label.kind == "boolean"
    )


def test_the_labels_that_came_later() -> None:
    assert {
        key.rpartition("/")[2]: label.since for key, label in labels.WELL_KNOWN.items() if label.since
    } == {
        "capacity-reservation-interruptible": "1.10",
        "placement-group-id": "1.11",
        "placement-group-partition": "1.11",
    }


def test_the_values_that_karpenter_insists_on() -> None:
    assert {key: set(label.values) for key, label in labels.WELL_KNOWN.items() if label.is_enforced} == {
        "karpenter.sh/capacity-type": {"on-demand", "spot", "reserved"},
        "karpenter.k8s.aws/instance-tenancy": {"default", "dedicated"},
    }
    assert labels.WELL_KNOWN[labels.ARCH].values == get_args(Architecture)
    assert labels.WELL_KNOWN[labels.OS].values == get_args(OperatingSystem)


def test_aliases_lead_to_labels_that_karpenter_knows() -> None:
    assert set(labels.ALIASES.values()) <= labels.WELL_KNOWN.keys()
    assert not labels.ALIASES.keys() & labels.WELL_KNOWN.keys()


def pool_key() -> dict[str, Any]:
    template = crds.schema("NodePool")["properties"]["spec"]["properties"]["template"]
    return requirement_key(template["properties"]["spec"])


def overlay_key() -> dict[str, Any]:
    return requirement_key(crds.schema("NodeOverlay")["properties"]["spec"])


def requirement_key(spec: dict[str, Any]) -> dict[str, Any]:
    key: dict[str, Any] = spec["properties"]["requirements"]["items"]["properties"]["key"]
    return key


def rules(schema: dict[str, Any]) -> Iterator[str]:
    for rule in schema["x-kubernetes-validations"]:
        yield rule["rule"]


def allowed(schema: dict[str, Any]) -> dict[str, set[str]]:
    """The keys that the CEL rules let through, by the domain that they close."""
    result = {}
    for rule in rules(schema):
        domain = re.search(r'endsWith\("([^"]+)"\)', rule)
        if domain:
            listed = re.search(r"in \[(.*?)\]", rule)
            assert listed is not None
            result[domain[1]] = set(re.findall(r'"([^"]+)"', listed[1]))
    return result


def crd_refuses(schema: dict[str, Any], key: str) -> bool:
    """Apply pattern, length and CEL of the CRD to a key."""
    pattern = schema["pattern"].replace("$", r"\Z")
    head = re.search(r"^([^/]+)", key)
    first = head[0] if head else ""
    closed = any(key not in keys and first.endswith(domain) for domain, keys in allowed(schema).items())
    named = any(key in re.findall(r'^self != "([^"]+)"$', rule) for rule in rules(schema))
    return closed or named or len(key) > schema["maxLength"] or not re.search(pattern, key, re.ASCII)
