"""The one merge rule: maps merge, everything else is replaced, `null` removes."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpupool.blueprint import merge_schema
from gpupool.blueprint.load import find_conflicting_fields
from gpupool.blueprint.merge import ANY, MergeKind, merge, merge_all, remove_nulls
from gpupool.findings import Location
from gpupool.yamlio.located import Located, Plain, find, leaves, plain
from gpupool.yamlio.read import read
from tests.tiers import examples


def node(text: str, file: str = "a.yaml") -> Located:
    result = read(text.encode(), file)
    assert result.findings == ()
    assert result.node is not None
    return result.node


def merged(*layers: str, kind: MergeKind = ANY) -> Plain:
    return plain(merge_all([node(text) for text in layers], kind))


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        ("{a: 1}", "{b: 2}", {"a": 1, "b": 2}),
        ("{a: 1}", "{a: 2}", {"a": 2}),
        ("{a: {b: 1}}", "{a: {c: 2}}", {"a": {"b": 1, "c": 2}}),
        ("{a: [1, 2]}", "{a: [3]}", {"a": [3]}),
        ("{a: [1]}", "{a: []}", {"a": []}),
        ("{a: {b: 1}}", "{a: 1}", {"a": 1}),
        ("{a: 1}", "{a: {b: 1}}", {"a": {"b": 1}}),
        ("{a: {b: 1}}", "{a: [1]}", {"a": [1]}),
        ("{a: 1}", "{a: null}", {"a": None}),
        ("{a: {b: 1}}", "{a: null}", {"a": None}),
        ("{a: null}", "{a: 1}", {"a": 1}),
        ("{a: null}", "{a: {b: 1}}", {"a": {"b": 1}}),
        ("{a: {b: 1}}", "{a: {}}", {"a": {"b": 1}}),
        ("{}", "{a: {b: null}}", {"a": {"b": None}}),
    ],
)
def test_two_layers(lower: str, upper: str, expected: Plain) -> None:
    assert merged(lower, upper) == expected


def test_keys_keep_the_order_in_which_they_were_first_said() -> None:
    result = merge(node("{b: 1, a: 1}"), node("{c: 1, a: 2}"))

    assert isinstance(result.value, dict)
    assert list(result.value) == ["b", "a", "c"]


def test_each_leaf_keeps_its_place_and_what_it_replaced() -> None:
    result = merge(node("a: 1\nb: 2\n", "low.yaml"), node("x: 0\nb: 3\n", "high.yaml"))
    a, b = find(result, "a"), find(result, "b")

    assert a is not None
    assert b is not None
    assert a.at == Location("low.yaml", 1, 4)
    assert b.at == Location("high.yaml", 2, 4)
    assert b.previous is not None
    assert b.previous.at == Location("low.yaml", 2, 4)


def test_a_map_s_own_key_is_the_later_one() -> None:
    inner = find(merge(node("a:\n  b: 1\n", "low.yaml"), node("\n\na: {c: 1}\n", "high.yaml")), "a")

    assert inner is not None
    assert inner.key == Location("high.yaml", 3, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{a: null, b: 1}", {"b": 1}),
        ("{a: {b: null}, c: 1}", {"c": 1}),
        ("{a: {b: {c: null}}}", None),
        ("{a: {}, b: []}", {"a": {}, "b": []}),
        ("{a: {b: {}}}", {"a": {"b": {}}}),
        ("[null]", [None]),
        ("{a: [null, {b: null}, {c: 1, d: null}]}", {"a": [None, {}, {"c": 1}]}),
        ("{a: 0, b: false, c: ''}", {"a": 0, "b": False, "c": ""}),
    ],
)
def test_settled_takes_nulls_out_and_keeps_what_is_empty(text: str, expected: Plain) -> None:
    assert plain(remove_nulls(node(text))) == expected


POOL = [
    ("{limits: {gpus: 8}}", "{limits: {usdPerHour: 5}}", {"limits": {"gpus": 8, "usdPerHour": 5}}),
    # a later word replaces an earlier one that reaches the same label, short or long
    ("{arch: amd64}", "{requirements: {kubernetes.io/arch: arm64}}", {"requirements": {"kubernetes.io/arch": "arm64"}}),
    ("{requirements: {kubernetes.io/arch: arm64, x: z}}", "{arch: amd64}", {"requirements": {"x": "z"}, "arch": "amd64"}),
    (
        "{instances: {gpus: 8, types: p5.48xlarge}}",
        "{requirements: {karpenter.k8s.aws/instance-gpu-count: '4'}}",
        {"instances": {"types": "p5.48xlarge"}, "requirements": {"karpenter.k8s.aws/instance-gpu-count": "4"}},
    ),
    (
        "{requirements: [{key: kubernetes.io/os, operator: In, values: [linux]}, {key: x, operator: Exists}]}",
        "{os: windows}",
        {"requirements": {"x": [{"key": "x", "operator": "Exists"}]}, "os": "windows"},
    ),
    ("{zones: b}", "{zones: use1-az1}", {"zones": "use1-az1"}),
    ("{doNotDisrupt: true}", "{annotations: {karpenter.sh/do-not-disrupt: 'false'}}",
     {"annotations": {"karpenter.sh/do-not-disrupt": "false"}}),
    ("{sharing: {timeSlicing: 4}}", "{labels: {nvidia.com/device-plugin.config: x}}",
     {"labels": {"nvidia.com/device-plugin.config": "x"}}),
    ("{limits: {gpus: 8, nodes: 1}}", "{limits: {nvidia.com/gpu: 4}}", {"limits": {"nodes": 1, "nvidia.com/gpu": 4}}),
    ("{nodeClass: gpu}", "{nodeClassRef: {name: x}}", {"nodeClassRef": {"name": "x"}}),
    ("{nodeClassRef: {name: x}}", "{nodeClass: gpu}", {"nodeClass": "gpu"}),
    # a constraint, a taint's value and a selector are one value
    ("{instances: {cpu: {min: 4}}}", "{instances: {cpu: {max: 8}}}", {"instances": {"cpu": {"max": 8}}}),
    ("{arch: {not: arm64}}", "{arch: {in: [amd64]}}", {"arch": {"in": ["amd64"]}}),
    ("{taints: {a: x:NoSchedule}}", "{taints: {b: NoExecute}}", {"taints": {"a": "x:NoSchedule", "b": "NoExecute"}}),
    ("{taints: {a: [x:NoSchedule, y:NoExecute]}}", "{taints: {a: NoExecute}}", {"taints": {"a": "NoExecute"}}),
    ("{nodeClass: {subnets: {a: b}}}", "{nodeClass: {subnets: {c: d}}}", {"nodeClass": {"subnets": {"c": "d"}}}),
    ("{nodeClass: {tags: {a: b}}}", "{nodeClass: {tags: {c: d}}}", {"nodeClass": {"tags": {"a": "b", "c": "d"}}}),
    (
        "{nodeClass: {ami: al2023@v1}}", "{nodeClass: {amiSelectorTerms: [{id: ami-1}]}}",
        {"nodeClass": {"amiSelectorTerms": [{"id": "ami-1"}]}},
    ),
    ("{nodeClass: {role: a}}", "{nodeClass: {instanceProfile: b}}", {"nodeClass": {"instanceProfile": "b"}}),
    (
        "{nodeClass: {disk: {size: 1Gi}, osDisk: {size: 2Gi}}}", "{nodeClass: {blockDeviceMappings: []}}",
        {"nodeClass": {"blockDeviceMappings": []}},
    ),
    ("{nodeClass: {disk: {size: 1Gi}}}", "{nodeClass: {osDisk: {size: 2Gi}}}",
     {"nodeClass": {"disk": {"size": "1Gi"}, "osDisk": {"size": "2Gi"}}}),
    # a removed word still stands, to work against what lies below
    ("{arch: amd64}", "{arch: null}", {"arch": None}),
    ("{taints: {a: NoExecute}}", "{taints: {a: null}}", {"taints": {"a": None}}),
]  # fmt: skip


@pytest.mark.parametrize(("lower", "upper", "expected"), POOL, ids=[f"{low} < {up}" for low, up, _ in POOL])
def test_two_layers_of_a_pool(lower: str, upper: str, expected: Plain) -> None:
    assert merged(lower, upper, kind=merge_schema.POOL) == expected


def test_karpenter_s_list_of_taints_merges_by_key() -> None:
    lower = (
        "{taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoExecute}, {key: b, effect: NoExecute}]}"
    )

    assert merged(lower, "{taints: {a: x:NoSchedule}}", kind=merge_schema.POOL) == {
        "taints": {"a": "x:NoSchedule", "b": [{"key": "b", "effect": "NoExecute"}]}
    }
    assert merged(lower, "{taints: []}", kind=merge_schema.POOL) == {"taints": []}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{arch: amd64}", []),
        ("{arch: amd64, requirements: {kubernetes.io/arch: arm64}}", ["requirements.kubernetes.io/arch"]),
        ("{instances: {gpus: 8}, requirements: {karpenter.k8s.aws/instance-gpu-count: '8'}}",
         ["requirements.karpenter.k8s.aws/instance-gpu-count"]),
        ("{nodeClass: a, nodeClassRef: {name: b}}", ["nodeClassRef"]),
        ("{nodeClass: {role: a, instanceProfile: b}}", ["nodeClass.instanceProfile"]),
        ("{nodeClass: {ami: a, amiSelectorTerms: []}}", ["nodeClass.amiSelectorTerms"]),
        ("{limits: {gpus: 1, nvidia.com/gpu: 1}}", ["limits.nvidia.com/gpu"]),
        ("{tiers: {a: {arch: amd64, requirements: {kubernetes.io/arch: arm64}}}}",
         ["tiers.a.requirements.kubernetes.io/arch"]),
        ("{accelerator: h100, requirements: {karpenter.k8s.aws/instance-gpu-name: h100}}",
         ["requirements.karpenter.k8s.aws/instance-gpu-name"]),
        ("{accelerator: trainium2, requirements: {karpenter.k8s.aws/instance-gpu-name: h100}}", []),
    ],
)  # fmt: skip
def test_two_words_for_one_thing_in_one_place(text: str, expected: list[str]) -> None:
    assert [finding.path for finding in find_conflicting_fields(node(text), merge_schema.POOL)] == expected


KEYS = st.sampled_from("abcd")
TREES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers(0, 3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner),
    max_leaves=8,
)
MAPS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(KEYS, TREES, max_size=4)


def grown(value: Plain, file: str = "x") -> Located:
    """Return plain data as Nodes."""
    at = Location(file, 1, 1)
    if isinstance(value, dict):
        return Located({key: grown(item, file) for key, item in value.items()}, at, at)
    if isinstance(value, list):
        return Located([grown(item, file) for item in value], at, at)
    return Located(value, at, at)


laws = settings(derandomize=True, max_examples=examples(200), deadline=None)


@laws
@given(MAPS)
def test_nothing_laid_over_or_under_changes_nothing(layer: dict[str, Any]) -> None:
    assert plain(merge(grown(layer), grown({}))) == layer
    assert plain(merge(grown({}), grown(layer))) == layer
    assert plain(merge(grown(layer), grown(layer))) == layer


@laws
@given(MAPS, MAPS)
def test_every_leaf_of_the_upper_layer_is_in_the_result(lower: dict[str, Any], upper: dict[str, Any]) -> None:
    result = merge(grown(lower, "low"), grown(upper, "high"))

    wanted = {path: item.value for path, item in leaves(grown(upper)) if path and item.value != {}}
    found = {path: item.value for path, item in leaves(result) if item.at.file == "high" and item.value != {}}
    assert {path: plain(grown_or(value)) for path, value in found.items()} == {
        path: plain(grown_or(value)) for path, value in wanted.items()
    }


def grown_or(value: object) -> Located:
    return Located(value, Location("x"))  # type: ignore[arg-type] # a leaf's value is what a Node holds


@laws
@given(MAPS)
def test_settling_twice_is_settling_once(layer: dict[str, Any]) -> None:
    once = remove_nulls(grown(layer))

    assert plain(remove_nulls(once)) == plain(once)
