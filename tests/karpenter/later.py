"""Objects that the API server takes and Karpenter stumbles over, one for each way there is."""

from typing import Any

from gpupool.codes import Code
from tests.karpenter.examples import CUSTOM, EC2NODECLASS, GONE, NODEOVERLAY, NODEPOOL

_SPEC = "spec template spec"
_REQUIREMENTS = f"{_SPEC} requirements"
_LONG = "x" * 64
_AWS_KEY = "karpenter.k8s.aws/ec2nodeclass"
_TAINT = {"key": "team", "effect": "NoSchedule"}
_KUBELET = "spec kubelet"
_MOMENTS: tuple[object, ...] = ("2026-08-20t12:00:00z", [])

Case = tuple[dict[str, Any], str, object, Code, str]
"""A whole object, the path of the change, the new value, and the finding's code and path."""


def _requirement(key: str, operator: str = "Exists", **more: object) -> list[dict[str, object]]:
    return [{"key": key, "operator": operator, **more}]


BROKEN: list[Case] = [
    (NODEPOOL, "spec template metadata labels", {"a b": "x"}, Code.NOT_A_QUALIFIED_NAME, "spec.template.metadata.labels"),
    (NODEPOOL, "spec template metadata labels", {_LONG: "x"}, Code.NOT_A_QUALIFIED_NAME, "spec.template.metadata.labels"),
    (NODEPOOL, "spec template metadata labels", {_AWS_KEY: "x"}, Code.RESTRICTED_LABEL, "spec.template.metadata.labels"),
    (NODEPOOL, _REQUIREMENTS, _requirement(_LONG), Code.NOT_A_QUALIFIED_NAME, "spec.template.spec.requirements[0]"),
    (NODEPOOL, _REQUIREMENTS, _requirement(_AWS_KEY), Code.RESTRICTED_LABEL, "spec.template.spec.requirements[0]"),
    (NODEPOOL, _REQUIREMENTS, _requirement("a", "In", values=["a b!"]), Code.NOT_A_LABEL_VALUE, "spec.template.spec.requirements[0]"),
    (NODEPOOL, _REQUIREMENTS, _requirement("a", "NotIn", values=[_LONG]), Code.NOT_A_LABEL_VALUE, "spec.template.spec.requirements[0]"),
    (NODEPOOL, _REQUIREMENTS, _requirement("a", "Gt", values=["+1"]), Code.NOT_A_LABEL_VALUE, "spec.template.spec.requirements[0]"),
    (NODEPOOL, _REQUIREMENTS, _requirement("karpenter.sh/capacity-type", "In", values=["Spot"]), Code.NO_KNOWN_VALUE, "spec.template.spec.requirements[0]"),
    (
        NODEPOOL, _REQUIREMENTS,
        _requirement("karpenter.k8s.aws/instance-tenancy", "In", values=["default", "host"], minValues=2),
        Code.NO_KNOWN_VALUE,
        "spec.template.spec.requirements[0]",
    ),
    (NODEPOOL, f"{_SPEC} taints", [{**_TAINT, "key": _LONG}], Code.NOT_A_QUALIFIED_NAME, "spec.template.spec.taints[0]"),
    (NODEPOOL, f"{_SPEC} startupTaints", [{**_TAINT, "value": _LONG}], Code.NOT_A_QUALIFIED_NAME, "spec.template.spec.startupTaints[0]"),
    (NODEPOOL, f"{_SPEC} taints", [_TAINT, _TAINT], Code.TAINT_TWICE, "spec.template.spec"),
    (NODEOVERLAY, "spec requirements", _requirement(_LONG), Code.NOT_A_QUALIFIED_NAME, "spec.requirements[0]"),
    (NODEOVERLAY, "spec requirements", _requirement(_AWS_KEY), Code.RESTRICTED_LABEL, "spec.requirements[0]"),
    (NODEOVERLAY, "spec requirements", _requirement("a", "In", values=["a b"]), Code.NOT_A_LABEL_VALUE, "spec.requirements[0]"),
    (NODEOVERLAY, "spec requirements", _requirement("karpenter.sh/capacity-type", "In", values=["x"]), Code.NO_KNOWN_VALUE, "spec.requirements[0]"),
    *(
        (NODEOVERLAY, "spec capacity", {name: 1}, Code.OVERLAY_RESOURCE, "spec.capacity")
        for name in ("vpc.amazonaws.com/efa", "vpc.amazonaws.com/pod-eni", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "habana.ai/gaudi")
    ),
    *(
        (NODEPOOL, path, value, Code.ENDLESS_DURATION, path.replace(" ", ".").replace(".1.", "[1]."))
        for path, value in (
            (f"{_SPEC} expireAfter", "2562048h"),
            (f"{_SPEC} terminationGracePeriod", "153722868m"),
            ("spec disruption consolidateAfter", "9223372037s"),
            ("spec disruption budgets 1 duration", "2562048h"),
        )
    ),
    (NODEPOOL, "spec limits", {"cpu": "1e3.5"}, Code.UNREADABLE_QUANTITY, "spec.limits"),
    (NODEPOOL, "spec limits", {"cpu": "1e-2147483648"}, Code.UNREADABLE_QUANTITY, "spec.limits"),
    (NODEOVERLAY, "spec capacity", {"example.com/a": "1E+1."}, Code.UNREADABLE_QUANTITY, "spec.capacity"),
    *(
        (NODEPOOL, f"{_SPEC} {name}", [{**_TAINT, "timeAdded": moment}], Code.UNREADABLE_TIME, f"spec.template.spec.{name}[0]")
        for name in ("taints", "startupTaints")
        for moment in _MOMENTS
    ),
    *(
        (NODEPOOL, f"{_SPEC} {name}", [{**_TAINT, "value": "a/b"}], Code.TAINT_WITH_SLASH, f"spec.template.spec.{name}[0]")
        for name in ("taints", "startupTaints")
    ),
    (NODEPOOL, "spec disruption budgets 1 nodes", "2147483648", Code.BUDGET_OVERFLOW, "spec.disruption.budgets[1].nodes"),
    (NODEPOOL, "spec disruption budgets 1 nodes", "9" * 5000, Code.BUDGET_OVERFLOW, "spec.disruption.budgets[1].nodes"),
    (NODEPOOL, "spec disruption consolidateAfter", f"{'9' * 5000}h", Code.ENDLESS_DURATION, "spec.disruption.consolidateAfter"),
    (NODEPOOL, "spec limits", {"cpu": f"1e{'9' * 5000}"}, Code.UNREADABLE_QUANTITY, "spec.limits"),
    (EC2NODECLASS, "spec userData", "x" * 16385, Code.USER_DATA_SIZE, "spec"),
    (NODEPOOL, f"{_SPEC} nodeClassRef kind", "EC2Nodeclass", Code.IGNORED_POOL, "spec.template.spec.nodeClassRef"),
    (NODEPOOL, f"{_SPEC} nodeClassRef group", "karpenter.sh", Code.IGNORED_POOL, "spec.template.spec.nodeClassRef"),
    (NODEPOOL, "metadata name", _LONG, Code.NAME_NO_LABEL, "metadata.name"),
    (EC2NODECLASS, "metadata name", _LONG, Code.NAME_NO_LABEL, "metadata.name"),
    (EC2NODECLASS, "spec", GONE, Code.NO_SPEC, ""),
    (EC2NODECLASS, "spec amiSelectorTerms", [{"alias": "al2023@v1@x"}], Code.ALIAS_CRASH, "spec.amiSelectorTerms[0].alias"),
    *(
        (CUSTOM, f"spec {terms}", [term], Code.SELECTS_EVERYTHING, f"spec.{terms}[0]")
        for terms, term in (
            ("amiSelectorTerms", {"name": ""}),
            ("amiSelectorTerms", {"tags": {}}),
            ("subnetSelectorTerms", {"tags": {}}),
            ("securityGroupSelectorTerms", {"tags": {}}),
            ("capacityReservationSelectorTerms", {"tags": {}}),
        )
    ),
    (
        EC2NODECLASS, f"{_KUBELET} evictionSoftGracePeriod", {"memory.available": "1d", "nodefs.available": "1m"},
        Code.UNREADABLE_GRACE, "spec.kubelet.evictionSoftGracePeriod",
    ),
    (EC2NODECLASS, f"{_KUBELET} kubeReserved", {"cpu": "1e3.5"}, Code.RESERVE_CRASH, "spec.kubelet.kubeReserved"),
    (EC2NODECLASS, f"{_KUBELET} systemReserved", {"memory": "1e3.5"}, Code.RESERVE_CRASH, "spec.kubelet.systemReserved"),
    *(
        (EC2NODECLASS, f"{_KUBELET} evictionHard", {signal: level}, Code.RESERVE_CRASH, "spec.kubelet.evictionHard")
        for signal in ("memory.available", "nodefs.available")
        for level in ("", "1e3.5")
    ),
    (EC2NODECLASS, "spec blockDeviceMappings", [{"deviceName": "/dev/xvda"}], Code.DISK_CRASH, "spec.blockDeviceMappings[0]"),
    (EC2NODECLASS, "spec blockDeviceMappings", [{"ebs": {"volumeSize": "1Gi"}}], Code.DISK_CRASH, "spec.blockDeviceMappings[0]"),
]  # fmt: skip

SOUND: list[tuple[dict[str, Any], str, object]] = [
    (NODEPOOL, "spec template metadata labels", {"example.com/team": "", "node.kubernetes.io/instance-type": "p5.48xlarge"}),
    (NODEPOOL, "spec template metadata labels", {f"{'a' * 253}/{'b' * 63}": "x"}),
    (NODEPOOL, _REQUIREMENTS, _requirement("beta.kubernetes.io/arch", "In", values=["amd64"])),
    (NODEPOOL, _REQUIREMENTS, _requirement("karpenter.sh/capacity-type", "In", values=["Spot", "spot"])),
    (NODEPOOL, _REQUIREMENTS, _requirement("karpenter.sh/capacity-type", "NotIn", values=["Spot"])),
    (NODEPOOL, _REQUIREMENTS, _requirement("kubernetes.io/arch", "In", values=["riscv"])),
    (NODEPOOL, f"{_SPEC} taints", [_TAINT, {**_TAINT, "effect": "NoExecute"}]),
    (NODEPOOL, f"{_SPEC} expireAfter", "2562047h"),
    (NODEPOOL, f"{_SPEC} expireAfter", "Never"),
    (NODEPOOL, f"{_SPEC} terminationGracePeriod", "153722867m"),
    (NODEPOOL, "spec disruption consolidateAfter", "9223372036s"),
    (NODEPOOL, "spec limits", {"cpu": "1e3", "memory": "1E", "a": "1Ei", "b": "5n", "c": 7, "d": "1E+3"}),
    (NODEPOOL, "spec disruption budgets 1 nodes", "2147483647"),
    (NODEOVERLAY, "spec requirements", _requirement("karpenter.sh/nodepool", "In", values=["a"])),
    (NODEOVERLAY, "spec capacity", {"nvidia.com/gpu": 4, "smarter-devices/fuse": "1k"}),
    (NODEPOOL, f"{_SPEC} nodeClassRef", {"group": "eks.amazonaws.com", "kind": "NodeClass", "name": "a"}),
    (NODEPOOL, "metadata name", "x" * 63),
    (NODEOVERLAY, "metadata name", "x" * 64),
    (EC2NODECLASS, "spec userData", "x" * 16384),
    (CUSTOM, "spec subnetSelectorTerms", [{"id": "subnet-1"}, {"tags": {"a": "*"}}]),
    (CUSTOM, "spec amiSelectorTerms", [{"name": "gpu-*", "tags": {}}]),
    (EC2NODECLASS, f"{_KUBELET} evictionSoftGracePeriod", {"memory.available": "1.5h", "nodefs.available": "-1m30s"}),
    (EC2NODECLASS, f"{_KUBELET} evictionHard", {"pid.available": "", "memory.available": "100%", "nodefs.available": "1e3"}),
]  # fmt: skip
"""What looks like one of those and is none."""
