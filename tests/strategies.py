"""Blueprints made at random: every word that a pool, tier, class or default may say, in combinations that fit."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeAlias

from hypothesis import strategies as st

if TYPE_CHECKING:
    from random import Random

    from hypothesis.strategies import SearchStrategy

Words: TypeAlias = dict[str, Any]

_NVIDIA = ("t4", "a10g", "l4", "l40s", "a100", "h100", "h200")
_NEURON = ("inferentia2", "trainium")
_PROFILES = {
    "nvidia": ("training", "inference", "inference-spot", "batch-spot", "spot-tiered"),
    "neuron": ("neuron-inference", "neuron-training"),
    "none": ("general", "graviton"),
}
_GPU_WORDS: dict[str, SearchStrategy[Any]] = {
    "nvidia": st.one_of(
        st.sampled_from(_NVIDIA), st.lists(st.sampled_from(_NVIDIA), min_size=1, unique=True)
    ),
    "neuron": st.sampled_from(_NEURON),
    "none": st.just("none"),
}
_FAMILIES = {
    "nvidia": (("g5", "g6", "p5"), "g7"),
    "neuron": (("inf2", "trn1"), "trn1n"),
    "none": (("c7i", "m7i"), "m7i-flex"),
}
"""Families with such accelerators, and one more to shut out."""

_POOL_NAMES = ("train", "serve", "chat", "people", "web", "p1")
_CLASS_NAMES = ("roomy", "fast")
_TIER_NAMES = ("reserved", "cheap", "steady")
_LABELS = ("team", "workload", "example.com/cost-centre", "app.kubernetes.io/part-of")
_TAINTS = {
    "nvidia": ("nvidia.com/gpu", "dedicated"),
    "neuron": ("aws.amazon.com/neuron",),
    "none": ("dedicated",),
}
_TEXTS = ("ml", "true", "0x10", "1e3", "no", "2026-10-01", "a.b_c-d")
_DURATIONS = ("30s", "5m", "1h30m", "14d", "36h")


def _some(words: dict[str, SearchStrategy[Any]]) -> SearchStrategy[Words]:
    """Return maps of any of the words; most of them stay short."""
    return st.fixed_dictionaries({}, optional=words)


def _one_or_list(values: tuple[str, ...]) -> SearchStrategy[Any]:
    return st.one_of(st.sampled_from(values), st.lists(st.sampled_from(values), min_size=1, unique=True))


_labels = st.dictionaries(st.sampled_from(_LABELS), st.sampled_from(_TEXTS), max_size=3)
_effects = st.sampled_from(("NoSchedule", "PreferNoSchedule", "NoExecute"))
_taint = st.one_of(_effects, st.builds("{}:{}".format, st.sampled_from(("true", "ml", "a.b")), _effects))


def _taints(keys: tuple[str, ...]) -> SearchStrategy[Any]:
    """Return taints in short words, or as Karpenter's own list."""
    listed = st.builds(lambda key, effect: [{"key": key, "effect": effect}], st.sampled_from(keys), _effects)
    return st.one_of(st.dictionaries(st.sampled_from(keys), _taint, max_size=2), listed, st.just([]))


_bounds: SearchStrategy[Any] = st.one_of(
    st.integers(1, 8),
    st.lists(st.integers(1, 8), min_size=1, max_size=3, unique=True),
    st.fixed_dictionaries({"min": st.integers(1, 4)}, optional={"max": st.integers(4, 16)}),
    st.fixed_dictionaries({"above": st.integers(0, 4)}, optional={"below": st.integers(5, 16)}),
)


def _instances(kind: str) -> SearchStrategy[Words]:
    families, but = _FAMILIES[kind]
    return _some(
        {
            "families": st.one_of(_one_or_list(families), st.just({"not": [but], "minValues": 2})),
            "sizes": _one_or_list(("xlarge", "2xlarge", "48xlarge")),
            "hypervisor": st.just("nitro"),
            "generation": _bounds,
            "cpu": _bounds,
            "memory": st.just({"min": "64Gi"}),
            "localNvme": st.just({"min": "1TB"}),
            "networkBandwidth": st.just({"min": "100Gbps"}),
        }
    )


_requirements: SearchStrategy[Any] = st.one_of(
    st.dictionaries(
        st.sampled_from(("example.com/rack", "example.com/row")),
        st.one_of(st.sampled_from(_TEXTS), st.just({"exists": True}), st.just({"not": ["a", "b"]})),
        max_size=2,
    ),
    st.just([{"key": "example.com/rack", "operator": "In", "values": ["7", "8"]}]),
)
_amounts = st.sampled_from((1, 64, "500", "100"))


def _limits(kind: str) -> SearchStrategy[Words]:
    accelerators = {
        "nvidia": {"gpus": st.integers(8, 64)},
        "neuron": {"aws.amazon.com/neuron": st.integers(8, 64)},
    }
    words: dict[str, SearchStrategy[Any]] = {
        "nodes": st.integers(1, 9),
        "cpu": _amounts,
        "memory": st.just("2000Gi"),
    }
    return _some(words | accelerators.get(kind, {}))


_reasons = st.lists(st.sampled_from(("Underutilized", "Empty", "Drifted")), min_size=1, unique=True)
_nodes: SearchStrategy[Any] = st.one_of(st.integers(0, 5), st.sampled_from(("10%", "100%", "0")))
_window = _some(
    {
        "days": st.sampled_from(("mon-fri", "sat", ["sat", "sun"], "daily")),
        "hours": st.sampled_from(("22:00-06:00", "09:00-17:00", "00:30-01:00", "08:00-24:00")),
        "nodes": _nodes,
        "reasons": st.one_of(_reasons, st.just("all")),
        "timezone": st.sampled_from(("Asia/Tokyo", "UTC", "America/New_York")),
    }
)
_budget = st.one_of(
    _some({"nodes": _nodes, "reasons": _reasons}),
    st.fixed_dictionaries(
        {"nodes": _nodes, "schedule": st.just("0 9 * * mon-fri"), "duration": st.just("8h")}
    ),
)
_disruption = st.fixed_dictionaries(
    {"consolidateAfter": st.sampled_from((*_DURATIONS, "Never"))},
    optional={
        "consolidationPolicy": st.sampled_from(("WhenEmpty", "WhenEmptyOrUnderutilized")),
        "budgets": st.lists(_budget, max_size=3),
        "protect": st.one_of(_window, st.lists(_window, min_size=1, max_size=2)),
        "maintenance": _window,
    },
)
_disk = st.fixed_dictionaries(
    {"size": st.sampled_from(("20Gi", "200Gi", "2T"))},
    optional={
        "iops": st.just(6000),
        "encrypted": st.sampled_from((True, False, None)),
        "type": st.just("gp3"),
    },
)
_class_words = _some(
    {
        "disk": _disk,
        "tags": _labels,
        "role": st.just("gpu-nodes"),
        "subnets": st.sampled_from((["subnet-0a1b2c"], {"rack": "a"}, [{"rack": "a"}, {"rack": "b"}])),
        "instanceStorePolicy": st.just("RAID0"),
        "userData": st.sampled_from(("#!/bin/bash\necho ready\n", "#!/bin/sh\n\n# two\n\ttouch /tmp/x   \n")),
        "metadataOptions": st.just({"httpPutResponseHopLimit": 2}),
        "kubelet": st.just({"maxPods": 40}),
        "metadata": st.just({"annotations": {"example.com/owner": "ml"}}),
    }
)


def _pool_words(kind: str) -> dict[str, SearchStrategy[Any]]:
    """Return the words that a pool with such an accelerator may say, in any combination."""
    return {
        "arch": _one_or_list(("amd64", "arm64")),
        "os": st.just("linux"),
        "instances": _instances(kind),
        "requirements": _requirements,
        "capacity": st.one_of(st.just("any"), _one_or_list(("reserved", "spot", "on-demand"))),
        "zones": st.sampled_from(("a", ["a", "b"], "euw1-az1", "eu-west-1c")),
        "labels": _labels,
        "annotations": _labels,
        "taints": _taints(_TAINTS[kind]),
        "startupTaints": _taints(("example.com/ready", "example.com/disks")),
        "expireAfter": st.sampled_from((*_DURATIONS, "Never")),
        "terminationGracePeriod": st.sampled_from(_DURATIONS),
        "disruption": _disruption,
        "limits": _limits(kind),
        "weight": st.integers(1, 100),
        "doNotDisrupt": st.booleans(),
        "metadata": st.just({"labels": {"team": "ml"}}),
    }


@st.composite
def _pool(draw: st.DrawFn) -> Words:
    kind = draw(st.sampled_from(tuple(_GPU_WORDS)))
    words = _pool_words(kind)
    pool: Words = {"accelerator": draw(_GPU_WORDS[kind]), **draw(_some(words))}
    if draw(st.booleans()):
        pool["profile"] = draw(st.sampled_from(_PROFILES[kind]))
    if pool.get("profile") == "spot-tiered":
        pool["limits"] = {"gpus": draw(st.integers(1, 64))}  # of which a tier takes a share
    if "profile" not in pool and draw(st.booleans()):
        pool["tiers"] = draw(
            st.dictionaries(st.sampled_from(_TIER_NAMES), _some(words), min_size=1, max_size=3)
        )
    pool |= draw(_some({"nodeClass": st.one_of(st.sampled_from(_CLASS_NAMES), _class_words)}))
    return pool


_pools: SearchStrategy[Words] = st.dictionaries(st.sampled_from(_POOL_NAMES), _pool(), min_size=1, max_size=2)


@st.composite
def blueprints(draw: st.DrawFn) -> Words:
    """Return blueprints whose words go together, so that each of them renders."""
    alias = draw(st.sampled_from(("al2023@v20260810", "al2023@latest", "bottlerocket@v1.52.0")))
    defaults: Words = {"nodeClass": {**draw(_class_words), "ami": alias}}
    under = {
        key: words
        for key, words in _pool_words("none").items()
        if key in ("labels", "taints", "expireAfter", "disruption")
    }
    if draw(st.booleans()):
        defaults["pool"] = draw(_some(under))
    return {
        "apiVersion": "gpupool.dev/v1alpha1",
        "kind": "Blueprint",
        "metadata": {"name": "lab"},
        "cluster": {"name": "lab", "region": "eu-west-1", "timezone": "Europe/Dublin"},
        "defaults": defaults,
        "nodeClasses": {name: draw(_class_words) for name in _CLASS_NAMES},
        "pools": draw(_pools),
    }


_junk: SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(
        ("h100", "100%", "Never", "b", "nvidia.com/gpu", "al2023@", "arn:aws:iam::1:role/x", "1T", "0s")
    ),
    st.sampled_from(([], {}, [[]], [None], {"": ""}, {"not": []}, {"min": 1, "in": [2]}, [{}])),
)


@st.composite
def damaged_blueprints(draw: st.DrawFn) -> Words:
    """Return blueprints in which up to three values were replaced by anything at all."""
    blueprint = deepcopy(draw(blueprints()))  # its parts belong to the strategies, which draw them again
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(blueprint))
        inside, key = places[draw(st.integers(0, len(places) - 1))]
        inside[key] = deepcopy(draw(_junk))
    return blueprint


def _places(value: Any) -> list[tuple[Any, Any]]:  # noqa: ANN401 - any part of a file
    """Return each map or list inside a value with each of its keys or indexes."""
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    return [place for key, inner in entries for place in ((value, key), *_places(inner))]


def in_another_order(value: Any, random: Random, key: str = "") -> Any:  # noqa: ANN401 - any part of a file
    """Return the same data with the keys of every map shuffled; `tiers` are tried in their order, so it stays."""
    if isinstance(value, dict):
        keys = list(value)
        if key != "tiers":
            random.shuffle(keys)
        return {each: in_another_order(value[each], random, each) for each in keys}
    return [in_another_order(item, random) for item in value] if isinstance(value, list) else value
