"""The CEL rules of NodePools and NodeOverlays from both sides."""

from collections.abc import Iterator

from tests.differential.ruletable import Rule, put
from tests.differential.trees import ABSENT, Body
from tests.karpenter.examples import NODEOVERLAY, NODEPOOL, PRICED, STATIC


def _requirement(operator: str, *values: str, **more: object) -> Body:
    return {"key": "example.com/key", "operator": operator, "values": list(values), **more}


_RESTRICTED = {
    'label domain "karpenter.sh" is restricted': (
        ("karpenter.sh/capacity-type", "foo/karpenter.sh", "karpenter.shx/a"),
        ("karpenter.sh/x", "karpenter.sh", "xkarpenter.sh/a", "a.karpenter.sh/b"),
    ),
    'label "karpenter.sh/nodepool" is restricted': (("karpenter.sh/capacity-type",), ("karpenter.sh/nodepool",)),
    'label "kubernetes.io/hostname" is restricted': (("kubernetes.io/arch", "x.kubernetes.io/hostname"), ("kubernetes.io/hostname",)),
    'label domain "karpenter.k8s.aws" is restricted': (
        ("karpenter.k8s.aws/ec2nodeclass", "karpenter.k8s.aws/instance-family", "foo/karpenter.k8s.aws"),
        ("karpenter.k8s.aws/x", "karpenter.k8s.aws", "xkarpenter.k8s.aws/a", "a.karpenter.k8s.aws/b"),
    ),
}  # fmt: skip


def _label_rules() -> Iterator[Rule]:
    path = "template.metadata.labels"
    for message, (kept, broken) in _RESTRICTED.items():
        good, bad = (put(path, *({"team": "a", key: "b"} for key in keys)) for keys in (kept, broken))
        yield Rule(NODEPOOL, f"spec.{path}", message, good, bad)


def _key_rules(seed: Body, path: str, messages: tuple[str, ...]) -> Iterator[Rule]:
    for message in messages:
        kept, broken = _RESTRICTED[message]
        good, bad = (
            put(f"{path}.0", *({"key": key, "operator": "Exists"} for key in keys)) for keys in (kept, broken)
        )
        yield Rule(seed, f"spec.{path}[].key", message, good, bad)


def _requirement_rules(seed: Body, path: str, operators: str) -> Iterator[Rule]:
    first = f"{path}.0"
    yield Rule(
        seed, f"spec.{path}", "requirements with operator 'In' must have a value defined",
        put(first, _requirement("In", "a"), _requirement("Exists")), put(first, _requirement("In"), *({**_BARE, "operator": "In", **none} for none in _NO_VALUES)),
    )  # fmt: skip
    message = f"requirements operator {operators} must have a single positive integer value"
    numbers = put(first, *(_requirement(sign, number) for sign in _SIGNS for number in _WHOLE))
    words = put(first, *(_requirement(sign, number) for sign in _SIGNS for number in _NOT_WHOLE))
    counts = put(first, *({**_BARE, "operator": sign, **none} for sign in _SIGNS for none in _NO_VALUES))
    pairs = put(first, *(_requirement(sign, "1", "2") for sign in _SIGNS))
    yield Rule(seed, f"spec.{path}", message, numbers, (*words, *counts, *pairs))


_SIGNS = ("Gt", "Lt", "Gte", "Lte")
_WHOLE = ("0", "007", "+1", "9223372036854775807")
_NOT_WHOLE = ("-1", "1.5", " 1", "", "0x10", "1_0", "9223372036854775808")
_BARE: Body = {"key": "example.com/key"}
_NO_VALUES: tuple[Body, ...] = ({}, {"values": []}, {"values": None})


SCHEDULING: tuple[Rule, ...] = (
    *_label_rules(),
    *_key_rules(NODEPOOL, "template.spec.requirements", tuple(_RESTRICTED)),
    *_key_rules(NODEOVERLAY, "requirements", tuple(message for message in _RESTRICTED if "nodepool" not in message)),
    *_requirement_rules(NODEPOOL, "template.spec.requirements", "'Gt', 'Lt', 'Gte', or 'Lte'"),
    *_requirement_rules(NODEOVERLAY, "requirements", "'Gt', 'Lt', 'Gte' or 'Lte'"),
    Rule(
        NODEPOOL, "spec.template.spec.requirements", "requirements with 'minValues' must have at least that many values specified in the 'values' field",
        put("template.spec.requirements.0", _requirement("In", "a", "a", minValues=2), _requirement("Exists", minValues=50), _requirement("NotIn", minValues=2)),
        put("template.spec.requirements.0", _requirement("In", "a", minValues=2), _requirement("In", minValues=1), _requirement("In", *"abc", minValues=50)),
    ),
    Rule(
        STATIC, "spec", "only 'limits.nodes' is supported on static NodePools",
        ({"limits": {}}, {"limits": ABSENT}, {"limits": {"nodes": 1}}, {"limits": {"nodes": 1, "cpu": None}}), put("limits", {"cpu": 1}, {"nodes": 1, "cpu": 1}, {"Nodes": 1}),
    ),
    Rule(STATIC, "spec", "'weight' is not supported on static NodePools", ({}, {"weight": None}, {"weight": 1, "replicas": ABSENT}), ({"weight": 1}, {"weight": 100})),
    Rule(
        NODEPOOL, "spec.disruption.budgets", "'schedule' must be set with 'duration'",
        put("disruption.budgets", [{}], [], [{"schedule": "@daily", "duration": "1h"}], [{"schedule": None}]), put("disruption.budgets", [{"schedule": "@daily"}], [{"duration": "1h"}], [{}, {"duration": "1h"}]),
    ),
    *(Rule(NODEPOOL, f"spec.template.spec.nodeClassRef.{part}", f"{part} may not be empty", put(f"template.spec.nodeClassRef.{part}", " ", "x"), put(f"template.spec.nodeClassRef.{part}", "")) for part in ("group", "kind", "name")),
    Rule(PRICED, "spec", "cannot set both 'price' and 'priceAdjustment'", ({}, {"price": None, "priceAdjustment": "+1"}), ({"priceAdjustment": "+1"}, {"price": "0", "priceAdjustment": "+0"})),
    Rule(
        NODEOVERLAY, "spec.capacity", "invalid resource restricted", put("capacity", {"CPU": 1}, {"hugepages-2Mi": "2Mi"}, {}),
        put("capacity", {"cpu": 1}, {"memory": "1Gi"}, {"ephemeral-storage": 1}, {"pods": 1}, {"nvidia.com/gpu": 1, "cpu": 1}),
    ),
    Rule(
        NODEOVERLAY, "spec.requirements", "requirements with operator 'NotIn' must have a value defined", put("requirements.0", _requirement("NotIn", "a"), _requirement("Exists")),
        put("requirements.0", _requirement("NotIn"), {"key": "a", "operator": "NotIn"}),
    ),
)  # fmt: skip
