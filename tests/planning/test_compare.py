"""What differs between two bodies, where it is, and whether it means anything."""

from copy import deepcopy
from random import Random
from typing import Any

import pytest
import yaml

from gpupool.planning.compare import (
    Difference,
    collect_paths,
    find_differences,
    strip_server_fields,
    to_dotted_path,
)
from gpupool.yamlio.located import Plain
from tests.goldencases import cases


def said(found: list[Difference]) -> list[tuple[str, str, Any, Any]]:
    return [(each.op, each.path, each.before, each.after) for each in found]


def meant(found: list[Difference]) -> list[str]:
    return [each.path for each in found if each.semantic]


REQUIREMENT: dict[str, Plain] = {
    "key": "karpenter.sh/capacity-type",
    "operator": "In",
    "values": ["spot", "on-demand"],
}
ARCH: dict[str, Plain] = {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}
TAINT: dict[str, Plain] = {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}

DIFFERENT: dict[str, tuple[Plain, Plain, list[tuple[str, str, Any, Any]]]] = {
    "a value": ({"a": {"b": 1}}, {"a": {"b": 2}}, [("replace", "a.b", 1, 2)]),
    "a key with dots": (
        {"limits": {"nvidia.com/gpu": 1}},
        {"limits": {"nvidia.com/gpu": 2}},
        [("replace", "limits[nvidia.com/gpu]", 1, 2)],
    ),
    "true is not 1": ({"a": True}, {"a": 1}, [("replace", "a", True, 1)]),
    "a map comes": ({}, {"a": {"b": 1, "c": 2}}, [("add", "a.b", None, 1), ("add", "a.c", None, 2)]),
    "a map goes": ({"a": {"b": 1}}, {}, [("remove", "a.b", 1, None)]),
    "an empty map comes": ({}, {"a": {}}, [("add", "a", None, {})]),
    "a value of a requirement": (
        {"requirements": [ARCH, REQUIREMENT]},
        {"requirements": [{**REQUIREMENT, "values": ["on-demand"]}, ARCH]},
        [
            ("remove", "requirements[key=karpenter.sh/capacity-type,operator=In].values[]", "spot", None),
            (
                "replace",
                "requirements",
                ["key=kubernetes.io/arch,operator=In", "key=karpenter.sh/capacity-type,operator=In"],
                ["key=karpenter.sh/capacity-type,operator=In", "key=kubernetes.io/arch,operator=In"],
            ),
        ],
    ),
    "another operator is another requirement": (
        {"requirements": [ARCH]},
        {"requirements": [{**ARCH, "operator": "NotIn"}]},
        [
            (
                "add",
                "requirements[key=kubernetes.io/arch,operator=NotIn]",
                None,
                {**ARCH, "operator": "NotIn"},
            ),
            ("remove", "requirements[key=kubernetes.io/arch,operator=In]", ARCH, None),
        ],
    ),
    "a taint's value": (
        {"taints": [TAINT]},
        {"taints": [{**TAINT, "value": "no"}]},
        [("replace", "taints[key=nvidia.com/gpu,effect=NoSchedule].value", "true", "no")],
    ),
    "a budget": (
        {"budgets": [{"nodes": "10%"}, {"nodes": "0"}]},
        {"budgets": [{"nodes": "0"}, {"nodes": "20%"}]},
        [("remove", "budgets[]", {"nodes": "10%"}, None), ("add", "budgets[]", None, {"nodes": "20%"})],
    ),
    "an item of a plain list": (
        {"blockDeviceMappings": [{"deviceName": "a"}]},
        {"blockDeviceMappings": [{"deviceName": "b"}, {"deviceName": "c"}]},
        [
            ("replace", "blockDeviceMappings[0].deviceName", "a", "b"),
            ("add", "blockDeviceMappings[1]", None, {"deviceName": "c"}),
        ],
    ),
    "a list becomes a text": ({"a": [1]}, {"a": "1"}, [("replace", "a", [1], "1")]),
}
SAME_IN_OTHER_WORDS: dict[str, tuple[Plain, Plain]] = {
    "quantities": ({"limits": {"cpu": "1000"}}, {"limits": {"cpu": "1k"}}),
    "a number and a text": ({"limits": {"cpu": 64}}, {"limits": {"cpu": "64"}}),
    "memory": ({"limits": {"memory": "1Gi"}}, {"limits": {"memory": "1024Mi"}}),
    "durations": ({"expireAfter": "60m"}, {"expireAfter": "1h"}),
    "a budget's duration": ({"budgets": [{"duration": "60m"}]}, {"budgets": [{"duration": "1h0m"}]}),
    "a volume's size": ({"volumeSize": "1024Gi"}, {"volumeSize": "1Ti"}),
    "values in another order": ({"values": ["a", "b"]}, {"values": ["b", "a"]}),
    "requirements in another order": (
        {"requirements": [ARCH, REQUIREMENT]},
        {"requirements": [REQUIREMENT, ARCH]},
    ),
    "terms in another order": (
        {"subnetSelectorTerms": [{"id": "a"}, {"id": "b"}]},
        {"subnetSelectorTerms": [{"id": "b"}, {"id": "a"}]},
    ),
}
NOT_THE_SAME: dict[str, tuple[Plain, Plain]] = {
    "texts that only look like quantities": ({"labels": {"size": "1000"}}, {"labels": {"size": "1k"}}),
    "tags": ({"tags": {"limits": "1000"}}, {"tags": {"limits": "1k"}}),
    "Never is no duration": ({"expireAfter": "Never"}, {"expireAfter": "0s"}),
    "shares": ({"evictionHard": {"memory.available": "5%"}}, {"evictionHard": {"memory.available": "10%"}}),
    "an order that counts": ({"clusterDNS": ["a", "b"]}, {"clusterDNS": ["b", "a"]}),
    "a value twice": ({"values": ["a", "a"]}, {"values": ["a", "b"]}),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs(name: str) -> None:
    before, after, expected = DIFFERENT[name]

    assert said(find_differences(before, after)) == expected


@pytest.mark.parametrize("name", SAME_IN_OTHER_WORDS)
def test_other_words_mean_the_same(name: str) -> None:
    before, after = SAME_IN_OTHER_WORDS[name]

    for one, other in ((before, after), (after, before)):
        assert find_differences(one, other)
        assert meant(find_differences(one, other)) == []


@pytest.mark.parametrize("name", NOT_THE_SAME)
def test_what_only_looks_alike(name: str) -> None:
    before, after = NOT_THE_SAME[name]

    assert meant(find_differences(before, after))


def test_what_is_not_anybodys_to_say_is_stripped() -> None:
    body: Plain = {
        "kind": "NodePool",
        "metadata": {
            "name": "a", "uid": "u", "generation": 2, "managedFields": [], "labels": {"x": "y"},
            "annotations": {"karpenter.sh/nodepool-hash": "1", "karpenter.k8s.aws/ec2nodeclass-hash-version": "v4",
                            "kubectl.kubernetes.io/last-applied-configuration": "{}", "own": "kept"},
        },
        "spec": {"weight": 1},
        "status": {"conditions": []},
    }  # fmt: skip

    assert strip_server_fields(body) == {
        "kind": "NodePool",
        "metadata": {"name": "a", "labels": {"x": "y"}, "annotations": {"own": "kept"}},
        "spec": {"weight": 1},
    }


def test_a_path_is_known_in_the_servers_words() -> None:
    body: Plain = {"spec": {"limits": {"nvidia.com/gpu": 1}, "weight": 2}}

    assert {to_dotted_path(path): path for path in collect_paths(body)} == {
        "spec": "spec",
        "spec.limits": "spec.limits",
        "spec.limits.nvidia.com/gpu": "spec.limits[nvidia.com/gpu]",
        "spec.weight": "spec.weight",
    }


def bodies() -> list[Plain]:
    """Return every object that the golden cases render."""
    kinds = ("nodepools/", "ec2nodeclasses/", "nodeoverlays/")
    return [
        yaml.safe_load(text)
        for case in cases()
        for file, text in (case.expected_files or {}).items()
        if file.startswith(kinds)
    ]


def test_nothing_differs_from_itself() -> None:
    found = bodies()

    assert len(found) > 100
    assert [find_differences(each, deepcopy(each)) for each in found] == [[]] * len(found)


def test_every_changed_leaf_is_found_and_the_way_back_mirrors_it() -> None:
    chance = Random(1)  # noqa: S311 - it has to be the same each time
    for body in bodies():
        changed = deepcopy(body)
        for _ in range(3):
            change(changed, chance)
        there, back = find_differences(body, changed), find_differences(changed, body)

        assert bool(there) == (body != changed)
        assert sorted((each.path, str(each.before), str(each.after)) for each in there) == sorted(
            (each.path, str(each.after), str(each.before)) for each in back
        )


def change(body: Plain, chance: Random) -> None:
    """Change, drop or add something somewhere."""
    at: Any = body
    while isinstance(at, (dict, list)) and at:
        key = chance.choice(list(at)) if isinstance(at, dict) else chance.randrange(len(at))
        inner = at[key]
        if not isinstance(inner, (dict, list)) or not inner or chance.random() < 0.2:
            how = chance.choice(["drop", "change", "add"])
            if how == "drop":
                del at[key]
            elif how == "change":
                at[key] = f"changed {chance.randrange(9)}"
            elif isinstance(at, dict):
                at[f"new{chance.randrange(9)}"] = {"a": chance.randrange(9)}
            return
        at = inner
