"""The CEL rules of EC2NodeClasses from both sides."""

from collections.abc import Iterator

from tests.differential.ruletable import Rule, put, term
from tests.differential.trees import ABSENT, Body
from tests.karpenter.examples import CUSTOM, EC2NODECLASS

_SIGNALS = "['memory.available','nodefs.available','nodefs.inodesFree','imagefs.available','imagefs.inodesFree','pid.available']"


def _kubelet_rules() -> Iterator[Rule]:
    high, low = "imageGCHighThresholdPercent", "imageGCLowThresholdPercent"
    yield Rule(
        EC2NODECLASS, "spec.kubelet", f"{high} must be greater than {low}",
        put("kubelet", {high: 1, low: 0}, {high: 0}, {low: 100}), put("kubelet", {high: 1, low: 1}, {high: 0, low: 100}, {high: 80.0, low: 80}),
    )  # fmt: skip
    soft, grace = {"memory.available": "5%"}, {"memory.available": "1m"}
    both = {"evictionSoft": soft, "evictionSoftGracePeriod": grace}
    yield Rule(
        EC2NODECLASS, "spec.kubelet", "evictionSoft OwnerKey does not have a matching evictionSoftGracePeriod",
        put("kubelet", both, {"evictionSoft": {}}, {}), put("kubelet", {"evictionSoft": soft}, both | {"evictionSoftGracePeriod": {}}, both | {"evictionSoft": {**soft, "pid.available": "1"}}),
    )  # fmt: skip
    yield Rule(
        EC2NODECLASS, "spec.kubelet", "evictionSoftGracePeriod OwnerKey does not have a matching evictionSoft",
        put("kubelet", both, {"evictionSoftGracePeriod": {}}), put("kubelet", {"evictionSoftGracePeriod": grace}, both | {"evictionSoft": {}}, both | {"evictionSoftGracePeriod": {**grace, "pid.available": "1m"}}),
    )  # fmt: skip
    for field, other in (
        ("evictionHard", ""),
        ("evictionSoft", "evictionSoftGracePeriod"),
        ("evictionSoftGracePeriod", "evictionSoft"),
    ):
        yield _signal_rule(field, other)
    for field in ("kubeReserved", "systemReserved"):
        path = f"kubelet.{field}"
        yield Rule(
            EC2NODECLASS, f"spec.{path}", f"valid keys for {field} are ['cpu','memory','ephemeral-storage','pid']",
            put(path, {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi", "pid": "1"}, {}), put(path, {"gpu": "1"}, {"CPU": "1"}, {"cpu": "1", "": "1"}),
        )  # fmt: skip
        yield Rule(
            EC2NODECLASS,
            f"spec.{path}",
            f"{field} value cannot be a negative resource quantity",
            put(path, {"cpu": "+1"}, {"cpu": "0"}),
            put(path, {"cpu": "-1"}, {"cpu": "-0"}),
        )


def _signal_rule(field: str, other: str) -> Rule:
    names = (
        "memory.available",
        "nodefs.available",
        "nodefs.inodesFree",
        "imagefs.available",
        "imagefs.inodesFree",
        "pid.available",
    )

    def kubelet(*keys: str) -> Body:
        return {
            name: dict.fromkeys(keys, "1m" if name.endswith("Period") else "5%")
            for name in (field, other)
            if name
        }

    kept, broken = (
        put("kubelet", kubelet(*names), kubelet()),
        put("kubelet", kubelet("containerfs.available"), kubelet(*names, "memory"), kubelet("")),
    )
    return Rule(EC2NODECLASS, f"spec.kubelet.{field}", f"valid keys for {field} are {_SIGNALS}", kept, broken)


_FAMILIES = {
    "al2": "AL2",
    "al2023": "AL2023",
    "bottlerocket": "Bottlerocket",
    "windows2019": "Windows2019",
    "windows2022": "Windows2022",
    "windows2025": "Windows2025",
}


def _family_rules() -> Iterator[Rule]:
    for alias, family in _FAMILIES.items():
        terms: list[Body] = [{"alias": f"{alias}@latest"}]
        article = "an" if family.startswith("AL") else "a"
        kept, broken = (
            tuple({"amiFamily": fit, "amiSelectorTerms": terms} for fit in fits)
            for fits in (
                (family, "Custom", ABSENT),
                tuple(other for other in _FAMILIES.values() if other != family),
            )
        )
        message = f"if set, amiFamily must be '{family}' or 'Custom' when using {article} {family} alias"
        yield Rule(EC2NODECLASS, "spec", message, kept, broken)


def _tag_rules() -> Iterator[Rule]:
    for field in (
        "amiSelectorTerms",
        "subnetSelectorTerms",
        "securityGroupSelectorTerms",
        "capacityReservationSelectorTerms",
    ):
        seed = CUSTOM if field == "amiSelectorTerms" else EC2NODECLASS
        yield Rule(
            seed, f"spec.{field}[].tags", "empty tag keys or values aren't supported",
            term(field, {"tags": {"a": "*"}}, {"tags": {}}, {"tags": {" ": " "}}), term(field, {"tags": {"": "a"}}, {"tags": {"a": ""}}, {"tags": {"a": "b", "c": ""}}),
        )  # fmt: skip
    for key in (
        "eks:eks-cluster-name",
        "karpenter.sh/nodepool",
        "karpenter.sh/nodeclaim",
        "karpenter.k8s.aws/ec2nodeclass",
    ):
        yield Rule(
            EC2NODECLASS,
            "spec.tags",
            f"tag contains a restricted tag matching {key}",
            put("tags", {f"{key}x": "a"}),
            put("tags", {key: "a"}, {"a": "b", key: ""}),
        )
    yield Rule(
        EC2NODECLASS,
        "spec.tags",
        "empty tag keys aren't supported",
        put("tags", {" ": "a"}, {"a": ""}, {}),
        put("tags", {"": "a"}),
    )
    yield Rule(
        EC2NODECLASS, "spec.tags", "tag contains a restricted tag matching kubernetes.io/cluster/",
        put("tags", {"kubernetes.io/cluste": "a"}, {"xkubernetes.io/cluster": "a"}), put("tags", {"kubernetes.io/cluster": "a"}, {"kubernetes.io/cluster/x": "a"}, {"kubernetes.io/clusterX": "a"}),
    )  # fmt: skip


def _joined(term: Body, *others: Body) -> tuple[Body, ...]:
    return tuple(term | other for other in others)


def _interface(card: int, device: int, kind: str = "interface") -> Body:
    return {"networkCardIndex": card, "deviceIndex": device, "interfaceType": kind}


_EFA = "efa-only"
_AMI, _SUBNET, _SG, _CR = (
    "amiSelectorTerms",
    "subnetSelectorTerms",
    "securityGroupSelectorTerms",
    "capacityReservationSelectorTerms",
)
_TAGS: Body = {"a": "b"}
_OTHERS = "cannot be set with a combination of other fields in"

EC2NODECLASSES: tuple[Rule, ...] = (
    *_kubelet_rules(),
    *_family_rules(),
    *_tag_rules(),
    Rule(
        EC2NODECLASS, "spec", "must specify exactly one of ['role', 'instanceProfile']", ({}, {"role": None, "instanceProfile": "a"}, {"role": ABSENT, "instanceProfile": "a"}),
        ({"role": ABSENT}, {"instanceProfile": "a"}, {"role": None}),
    ),
    Rule(
        CUSTOM, "spec", "must specify amiFamily if amiSelectorTerms does not contain an alias", ({}, {"amiFamily": ABSENT, _AMI: [{"alias": "al2@latest"}]}),
        ({"amiFamily": ABSENT}, {"amiFamily": None}, {"amiFamily": ABSENT, _AMI: [{"ssmParameter": "a"}]}),
    ),
    Rule(EC2NODECLASS, "spec.role", "role cannot be empty", put("role", " ", "a"), put("role", "")),
    Rule(CUSTOM, "spec.instanceProfile", "instanceProfile cannot be empty", put("instanceProfile", " ", "a"), put("instanceProfile", "")),
    Rule(
        CUSTOM, f"spec.{_AMI}", "expected at least one, got none, ['tags', 'id', 'name', 'alias', 'ssmParameter']",
        term(_AMI, {"tags": {}}, {"id": "ami-1"}, {"name": ""}, {"ssmParameter": ""}, {"alias": "al2@x"}), (*term(_AMI, {}, {"owner": "self"}), {_AMI: [{"name": "a"}, {}]}),
    ),
    Rule(
        CUSTOM, f"spec.{_AMI}", f"'id' is mutually exclusive, {_OTHERS} amiSelectorTerms", term(_AMI, {"id": "ami-1"}, {"id": "ami-1", "ssmParameter": "a"}, {"name": "a", "tags": _TAGS, "owner": "self"}),
        (*term(_AMI, *_joined({"id": "ami-1"}, {"alias": "al2@x"}, {"tags": {}}, {"name": ""}, {"owner": ""})), {_AMI: [{"name": "a"}, {"id": "ami-1", "name": "a"}]}),
    ),
    Rule(
        EC2NODECLASS, f"spec.{_AMI}", f"'alias' is mutually exclusive, {_OTHERS} amiSelectorTerms", term(_AMI, {"alias": "al2023@x"}, {"alias": "al2023@x", "ssmParameter": "a"}),
        term(_AMI, *_joined({"alias": "al2023@x"}, {"id": "ami-1"}, {"tags": {}}, {"name": ""}, {"owner": ""})),
    ),
    Rule(
        EC2NODECLASS, f"spec.{_AMI}", "'alias' is mutually exclusive, cannot be set with a combination of other amiSelectorTerms", ({_AMI: [{"alias": "al2023@x"}]}, {_AMI: [{"id": "ami-1"}, {"name": "a"}]}),
        ({_AMI: [{"alias": "al2023@x"}, {"id": "ami-1"}]}, {_AMI: [{"alias": "al2023@x"}] * 2}, {_AMI: [{"name": "a"}, {"alias": "al2023@x"}]}),
    ),
    Rule(
        EC2NODECLASS, f"spec.{_AMI}[].alias", "'alias' is improperly formatted, must match the format 'family@version'", term(_AMI, {"alias": "al2023@x@y"}, {"alias": "al2023@ "}),
        term(_AMI, {"alias": "al2023"}, {"alias": "al2023@"}, {"alias": ""}, {"alias": "@x"}, {"alias": "al2023@a\nb"}, {"alias": "al 2@x"}),
    ),
    Rule(
        EC2NODECLASS, f"spec.{_AMI}[].alias", "family is not supported, must be one of the following: 'al2', 'al2023', 'bottlerocket', 'windows2019', 'windows2022', 'windows2025'",
        term(_AMI, {"alias": "al2023@x"}), term(_AMI, {"alias": "AL2023@x"}, {"alias": "ubuntu@x"}, {"alias": "custom@x"}, {"alias": ""}, {"alias": "al2023 @x"}),
    ),
    Rule(
        CUSTOM, f"spec.{_AMI}[].alias", "windows families may only specify version 'latest'", term(_AMI, {"alias": "windows2022@latest"}, {"alias": "windows2022@latest@x"}, {"alias": "al2@v1"}),
        term(_AMI, {"alias": "windows2019@v1"}, {"alias": "windows2022@Latest"}, {"alias": "windows2025@latest "}, {"alias": "windows2025@@latest"}),
    ),
    Rule(
        EC2NODECLASS, "spec.blockDeviceMappings", "must have only one blockDeviceMappings with rootVolume", put("blockDeviceMappings", [{"rootVolume": True}, {"rootVolume": False}, {}], []),
        put("blockDeviceMappings", [{"rootVolume": True}] * 2, [{"rootVolume": True}, {}, {"rootVolume": True}]),
    ),
    Rule(
        EC2NODECLASS, "spec.blockDeviceMappings[].ebs", "snapshotID or volumeSize must be defined", put("blockDeviceMappings.0.ebs", {"snapshotID": ""}, {"volumeSize": "1Gi"}, ABSENT),
        put("blockDeviceMappings.0.ebs", {}, {"iops": 1}, {"snapshotID": None}),
    ),
    Rule(
        EC2NODECLASS, "spec.blockDeviceMappings[].ebs", "snapshotID must be set when volumeInitializationRate is set",
        put("blockDeviceMappings.0.ebs", {"snapshotID": "s", "volumeInitializationRate": 100}, {"volumeSize": "1Gi", "volumeInitializationRate": None}),
        put("blockDeviceMappings.0.ebs", {"snapshotID": "", "volumeInitializationRate": 100}, {"volumeSize": "1Gi", "volumeInitializationRate": 100}),
    ),
    Rule(
        EC2NODECLASS, f"spec.{_CR}", "expected at least one, got none, ['tags', 'id', 'instanceMatchCriteria']", term(_CR, {"tags": {}}, {"id": "cr-1"}, {"instanceMatchCriteria": "open"}),
        (*term(_CR, {}, {"ownerID": "123456789012"}), {_CR: [{"id": "cr-1"}, {}]}),
    ),
    Rule(
        EC2NODECLASS, f"spec.{_CR}", "'id' is mutually exclusive, cannot be set along with other fields in a capacity reservation selector term",
        (*term(_CR, {"id": "cr-1"}), {_CR: [{"id": "cr-1", "tags": _TAGS}, {"tags": _TAGS}]}, {_CR: ABSENT}),
        ({_CR: []}, *term(_CR, *_joined({"id": "cr-1"}, {"tags": {}}, {"ownerID": "123456789012"}, {"instanceMatchCriteria": "open"})), {_CR: [{"id": "cr-1", "tags": {}}] * 2}),
    ),
    Rule(
        EC2NODECLASS, "spec.connectionTracking", "at least one of tcpEstablishedTimeout, udpStreamTimeout, or udpTimeout must be set",
        put("connectionTracking", {"tcpEstablishedTimeout": 60}, {"udpStreamTimeout": 60}, {"udpTimeout": 60}, ABSENT), put("connectionTracking", {}, {"udpTimeout": None}),
    ),
    Rule(
        EC2NODECLASS, "spec.networkInterfaces", "networkInterfaces must include a primary interface with interfaceType='interface'", put("networkInterfaces", [], [_interface(1, 0), _interface(0, 0)]),
        put("networkInterfaces", [_interface(0, 1)], [_interface(1, 0)], [_interface(0, 0, _EFA)], [_interface(0, 0, _EFA), _interface(0, 1)]),
    ),
    Rule(
        EC2NODECLASS, "spec.networkInterfaces", "networkInterfaces must not have duplicate networkCardIndex and deviceIndex pairs, and can have at most one efa device per network card",
        put("networkInterfaces", [_interface(0, 0), _interface(0, 1), _interface(0, 2, _EFA), _interface(1, 0, _EFA)]),
        put("networkInterfaces", [_interface(0, 0)] * 2, [_interface(0, 0), _interface(0, 1, _EFA), _interface(0, 2, _EFA)], [_interface(0, 0), _interface(1, 1), _interface(1, 1, _EFA)]),
    ),
    Rule(EC2NODECLASS, "spec.placementGroupSelector", "expected at least one, got none, ['name', 'id']", put("placementGroupSelector", {"name": "a"}, {"id": "pg-1"}), put("placementGroupSelector", {}, {"name": None})),
    Rule(EC2NODECLASS, "spec.placementGroupSelector", "'name' and 'id' are mutually exclusive", put("placementGroupSelector", {"name": "a", "id": None}), put("placementGroupSelector", {"name": "a", "id": "pg-1"})),
    Rule(EC2NODECLASS, f"spec.{_SG}", f"{_SG} cannot be empty", term(_SG, {"id": "sg-1"}), ({_SG: []},)),
    Rule(EC2NODECLASS, f"spec.{_SG}", "expected at least one, got none, ['tags', 'id', 'name']", term(_SG, {"tags": {}}, {"id": "sg-1"}, {"name": ""}), (*term(_SG, {}), {_SG: [{"name": "a"}, {}]})),
    Rule(
        EC2NODECLASS, f"spec.{_SG}", f"'id' is mutually exclusive, {_OTHERS} a security group selector term", (*term(_SG, {"id": "sg-1"}), {_SG: [{"id": "sg-1", "tags": {}}, {"tags": {}}]}),
        ({_SG: []}, *term(_SG, {"id": "sg-1", "tags": {}}, {"id": "sg-1", "name": ""}), {_SG: [{"id": "sg-1", "tags": {}}, {"id": "sg-1", "name": "a"}]}),
    ),
    Rule(
        EC2NODECLASS, f"spec.{_SG}", f"'name' is mutually exclusive, {_OTHERS} a security group selector term", (*term(_SG, {"name": "a"}), {_SG: [{"name": "a", "id": "sg-1"}, {"tags": {}}]}),
        ({_SG: []}, *term(_SG, {"name": "", "tags": {}}, {"id": "sg-1", "name": ""})),
    ),
    Rule(EC2NODECLASS, f"spec.{_SUBNET}", f"{_SUBNET} cannot be empty", term(_SUBNET, {"id": "subnet-1"}), ({_SUBNET: []},)),
    Rule(EC2NODECLASS, f"spec.{_SUBNET}", "expected at least one, got none, ['tags', 'id']", term(_SUBNET, {"tags": {}}, {"id": "subnet-1"}), (*term(_SUBNET, {}), {_SUBNET: [{"tags": {}}, {}]})),
    Rule(
        EC2NODECLASS, f"spec.{_SUBNET}", f"'id' is mutually exclusive, {_OTHERS} a subnet selector term", (*term(_SUBNET, {"id": "subnet-1"}), {_SUBNET: [{"id": "subnet-1", "tags": {}}, {"tags": {}}]}),
        ({_SUBNET: []}, *term(_SUBNET, {"id": "subnet-1", "tags": {}}), {_SUBNET: [{"id": "subnet-1", "tags": {}}] * 2}),
    ),
)  # fmt: skip
