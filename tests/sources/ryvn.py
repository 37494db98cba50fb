"""Say the Ryvn guide's pools and pool configurations in Karpenter's words."""

from copy import deepcopy
from typing import Any

_IN_WORDS = {
    "instanceCategories": "karpenter.k8s.aws/instance-category",
    "instanceFamilies": "karpenter.k8s.aws/instance-family",
    "arch": "kubernetes.io/arch",
    "hypervisor": "karpenter.k8s.aws/instance-hypervisor",
}
_MIN_WORDS = {"minGeneration": "karpenter.k8s.aws/instance-generation"}
_SAME_WORDS = ("limits", "disruption")
_WORDS = {"nodeClassName", "requirements", "labels", "taints", *_SAME_WORDS}


def node_pool_spec(pool: dict[str, Any]) -> dict[str, Any]:
    """Return the NodePool spec that a Ryvn pool stands for."""
    assert set(pool) <= _WORDS, f"words without a rule: {set(pool) - _WORDS}"
    template = {
        "metadata": {"labels": pool["labels"]},
        "spec": {
            "nodeClassRef": {
                "group": "karpenter.k8s.aws",
                "kind": "EC2NodeClass",
                "name": pool["nodeClassName"],
            },
            "requirements": [_requirement(*item) for item in pool["requirements"].items()],
            "taints": pool["taints"],
        },
    }
    return {"template": template} | {word: pool[word] for word in _SAME_WORDS}


def _requirement(word: str, value: Any) -> dict[str, Any]:  # noqa: ANN401 # a text, a number or a list
    if word in _MIN_WORDS:
        return {"key": _MIN_WORDS[word], "operator": "Gte", "values": [str(value)]}
    return {"key": _IN_WORDS[word], "operator": "In", "values": value if isinstance(value, list) else [value]}


def g6_pool(p5_pool: dict[str, Any]) -> dict[str, Any]:
    """Return the pool that the guide tells of and does not print: "g6 for L4s", all else as it is."""
    pool = deepcopy(p5_pool)
    pool["requirements"] |= {"instanceCategories": ["g"], "instanceFamilies": ["g6"]}
    pool["labels"] = {"workload-type": "gpu-inference"}
    pool["nodeClassName"] = "gpu-node-class-nvme"
    return pool
