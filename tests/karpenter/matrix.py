"""Section 15 of the facts about Karpenter's API: what a real API server took and what it refused, row by row."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

Body = dict[str, Any]
GONE = object()


class Row(NamedTuple):
    """One object of the matrix."""

    kind: str
    name: str
    accepted: bool
    body: Body


_CLASS = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"}
_POOL: Body = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "pool"},
    "spec": {"template": {"spec": {"nodeClassRef": _CLASS, "requirements": []}}},
}
_NODE_CLASS: Body = {
    "apiVersion": "karpenter.k8s.aws/v1",
    "kind": "EC2NodeClass",
    "metadata": {"name": "class"},
    "spec": {
        "role": "nodes",
        "amiSelectorTerms": [{"alias": "al2023@v20260810"}],
        "subnetSelectorTerms": [{"id": "subnet-1"}],
        "securityGroupSelectorTerms": [{"id": "sg-1"}],
    },
}
_TEMPLATE = "spec template spec"
_REQUIREMENTS = f"{_TEMPLATE} requirements"
_LABELS = "spec template metadata labels"


def rows() -> Iterator[Row]:
    """Yield every row."""
    for kind, seed, accepted, table in (
        ("NodePool", _POOL, True, _POOL_TAKEN),
        ("NodePool", _POOL, False, _POOL_REFUSED),
        ("EC2NodeClass", _NODE_CLASS, True, _CLASS_TAKEN),
        ("EC2NodeClass", _NODE_CLASS, False, _CLASS_REFUSED),
    ):
        for name, changes in table.items():
            yield Row(kind, name, accepted, _changed(seed, changes))


def _changed(seed: Body, changes: dict[str, object]) -> Body:
    whole = deepcopy(seed)
    for path, value in changes.items():
        *parents, last = path.split()
        here = whole
        for step in parents:
            here = here.setdefault(step, {})
        here[last] = value
        if value is GONE:
            del here[last]
    return whole


def _requirement(
    operator: str, values: object = GONE, key: str = "example.com/key", **more: object
) -> dict[str, object]:
    said = {} if values is GONE else {"values": values}
    return {_REQUIREMENTS: [{"key": key, "operator": operator, **said, **more}]}


def _each(path: str, *values: object) -> dict[str, dict[str, object]]:
    return {f"{path.rsplit(maxsplit=1)[-1]} {value!r:.50}": {path: value} for value in values}


def _budget(**said: object) -> dict[str, object]:
    return {"spec disruption": {"consolidateAfter": "0s", "budgets": [said]}}


def _budgets(key: str, *values: object, **more: object) -> dict[str, dict[str, object]]:
    return {f"budget {key} {value!r}": _budget(**{key: value}, **more) for value in values}


def _taint(**said: object) -> dict[str, object]:
    return {f"{_TEMPLATE} taints": [{"key": "dedicated", "effect": "NoSchedule"} | said]}


def _disruption(key: str, *values: object) -> dict[str, dict[str, object]]:
    return {
        f"{key} {value!r}": {"spec disruption": {"consolidateAfter": "0s"} | {key: value}} for value in values
    }


def _images(*terms: Body, **more: object) -> dict[str, object]:
    return {"spec amiSelectorTerms": list(terms)} | {f"spec {key}": value for key, value in more.items()}


def _volume(**ebs: object) -> dict[str, object]:
    return {"spec blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": ebs}]}


def _kubelet(**said: object) -> dict[str, object]:
    return {"spec kubelet": said}


_SCHEDULE = {"schedule": "0 9 * * *", "duration": "8h"}
_HUNDRED_ONE = {f"key-{number}": "x" for number in range(101)}
_NIC = {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"}
_EFA = {"networkCardIndex": 1, "deviceIndex": 0, "interfaceType": "efa-only"}
_CUSTOM = {"amiFamily": "AL2023"}

_POOL_TAKEN: dict[str, dict[str, object]] = {
    "requirements []": {},
    "NotIn []": _requirement("NotIn", []),
    "Exists with values": _requirement("Exists", ["a"]),
    "a value with blanks": _requirement("In", ["a b!"]),
    **{f"Gt {number}": _requirement("Gt", [number]) for number in ("0", "007", "+1")},
    "minValues 2 with In [x,x]": _requirement("In", ["x", "x"], minValues=2),
    "minValues 50 Exists": _requirement("Exists", minValues=50),
    "a key of 316 characters": _requirement("Exists", key=f"{'a' * 252}/{'b' * 63}"),
    "a name part of 100 characters": _requirement("Exists", key=f"example.com/{'b' * 100}"),
    "the label key a b!": {_LABELS: {"a b!": "x"}},
    **{f"limits cpu {amount!r}": {"spec limits": {"cpu": amount}} for amount in (1, "-1")},
    **_each("spec limits", {}, {"foo bar!": "1"}),
    **_each("spec weight", 1.0),
    **_each("spec replicas", 0),
    "budgets []": {"spec disruption": {"consolidateAfter": "0s", "budgets": []}},
    "budget {}": _budget(),
    "reasons []": _budget(reasons=[]),
    **_budgets("nodes", "00%", "1" * 21),
    **_budgets("schedule", "@dailyX", "60 25 * * *", "0\t9\t*\t*\t*", duration="8h"),
    **_budgets("duration", "0h", "99999999999h", schedule="0 9 * * *"),
    **_disruption("consolidateAfter", "30m1h", "9999999999999h"),
    **_each(f"{_TEMPLATE} expireAfter", "0s", None),
    "a taint without value": _taint(),
    "a taint's value null": _taint(value=None),
    "a taint's value a.b/c": _taint(value="a.b/c"),
    "taints twice": {f"{_TEMPLATE} taints": [{"key": "a", "effect": "NoSchedule"}] * 2},
    "the kind Foo": {f"{_TEMPLATE} nodeClassRef": _CLASS | {"kind": "Foo"}},
    "disruption null": {"spec disruption": None},
}
_POOL_REFUSED: dict[str, dict[str, object]] = {
    "requirements absent": {_REQUIREMENTS: GONE},
    "In without values": _requirement("In"),
    "In []": _requirement("In", []),
    "In null": _requirement("In", None),
    "the operator in": _requirement("in", ["a"]),
    **{f"Gt {values!r}": _requirement("Gt", values) for values in (["-1"], ["1.5"], [" 1"], [""], [5], ["1", "2"], [])},
    "Gt without values": _requirement("Gt"),
    **{f"minValues {least}": _requirement("Exists", minValues=least) for least in (0, 51)},
    "minValues 2 with In of 1": _requirement("In", ["x"], minValues=2),
    "101 requirements": {_REQUIREMENTS: [{"key": "a", "operator": "Exists"}] * 101},
    **{
        f"the key {key!r}": _requirement("Exists", key=key)
        for key in (
            "", "Foo.com/x", "a/b/c", "karpenter.sh/nodepool", "kubernetes.io/hostname", "karpenter.sh/x",
            "karpenter.k8s.aws/x", "xkarpenter.sh/foo", "a.karpenter.sh/foo",
        )
    },
    **{f"the label value {value!r:.20}": {_LABELS: {"a": value}} for value in ("x" * 64, "a b", 5, True)},
    "101 labels": {_LABELS: _HUNDRED_ONE},
    **{f"limits cpu {amount!r}": {"spec limits": {"cpu": amount}} for amount in (1.5, True, "", "1K")},
    **_each("spec weight", 0, 101, "1"),
    **_each("spec replicas", -1, 2147483648),
    "replicas with weight": {"spec replicas": 1, "spec weight": 1},
    "replicas with limits.cpu": {"spec replicas": 1, "spec limits": {"cpu": 1}},
    "disruption {}": {"spec disruption": {}},
    **_disruption("consolidateAfter", "never", "0", "1d", "1.5h", "100ms", 30, ""),
    **_disruption("consolidationPolicy", "WhenUnderutilized"),
    "51 budgets": {"spec disruption": {"consolidateAfter": "0s", "budgets": [{}] * 51}},
    **_budgets("nodes", 5, "101%", "010%", "-1", "1.5%", ""),
    "schedule without duration": _budget(schedule="0 9 * * *"),
    **_budgets("duration", "30s", "1d", "30m1h", 3600, schedule="0 9 * * *"),
    **_budgets("reasons", ["Empty", "Empty"], ["drifted"], ["Expired"], ["Unhealthy"]),
    **_each(f"{_TEMPLATE} expireAfter", "30d", ""),
    **_each(f"{_TEMPLATE} terminationGracePeriod", "Never", 30),
    "a taint's value empty": _taint(value=""),
    "a taint without effect": {f"{_TEMPLATE} taints": [{"key": "a"}]},
    "the effect noschedule": _taint(effect="noschedule"),
    **{f"the class's {key} {value!r}": {f"{_TEMPLATE} nodeClassRef": _CLASS | {key: value}}
       for key, value in (("group", "x/v1"), ("group", ""), ("kind", ""), ("name", ""))},
}  # fmt: skip
_CLASS_TAKEN: dict[str, dict[str, object]] = {
    "no spec": {"spec": GONE},
    **{f"alias {alias}": _images({"alias": alias}) for alias in ("al2023@v1@x", "bottlerocket@1.10.0")},
    "alias and ssmParameter": _images({"alias": "al2023@v1", "ssmParameter": "/x"}),
    "id xami-1!!": _images({"id": "xami-1!!"}, **_CUSTOM),
    'name ""': _images({"name": ""}, **_CUSTOM),
    "selector tags {}": {"spec subnetSelectorTerms": [{"tags": {}}]},
    "subnets [id+tags, tags]": {
        "spec subnetSelectorTerms": [{"id": "subnet-1", "tags": {"a": "b"}}, {"tags": {"a": "b"}}]
    },
    "groups [name+id, tags]": {
        "spec securityGroupSelectorTerms": [{"id": "sg-1", "name": "a"}, {"tags": {"a": "b"}}]
    },
    "subnets twice": {"spec subnetSelectorTerms": [{"id": "subnet-1"}] * 2},
    "role null and instanceProfile": {"spec role": None, "spec instanceProfile": "nodes"},
    **_each(
        "spec blockDeviceMappings", [], [{}], [{"deviceName": "/dev/xvda"}], [{"deviceName": "/dev/xvda"}] * 2
    ),
    'snapshotID ""': _volume(snapshotID=""),
    **{f"volumeSize {size}": _volume(volumeSize=size) for size in ("Ti", "17Ti", "58Ti", "64T", "59000Gi")},
    "iops -5": _volume(volumeSize="1Gi", iops=-5),
    **_each("spec metadataOptions", {}),
    **_each("spec tags", {"Name": "x"}, {"aws:x": "y"}, {"a": ""}, {}),
    **_each("spec userData", ""),
    **_each("spec context", ""),
    "networkInterfaces []": {"spec networkInterfaces": []},
    "150 networkInterfaces": {
        "spec networkInterfaces": [_NIC, *({**_EFA, "networkCardIndex": card} for card in range(1, 150))]
    },
    **_each("spec cpuOptions", {}),
    **{
        f"evictionHard {level!r}": _kubelet(evictionHard={"memory.available": level})
        for level in ("", "-1Gi")
    },
    "evictionMaxPodGracePeriod -1": _kubelet(evictionMaxPodGracePeriod=-1),
    "evictionSoftGracePeriod junk": _kubelet(
        evictionSoft={"memory.available": "5%"}, evictionSoftGracePeriod={"memory.available": "junk"}
    ),
}
_CLASS_REFUSED: dict[str, dict[str, object]] = {
    "spec {}": {"spec": {}},
    "no image terms": _images(**_CUSTOM),
    "image terms [{}]": _images({}, **_CUSTOM),
    "owner only": _images({"owner": "self"}, **_CUSTOM),
    "31 terms": _images(*[{"id": "ami-1"}] * 31, **_CUSTOM),
    **{f"alias {alias!r}": _images({"alias": alias})
       for alias in ("al2023", "al2023@", "AL2023@latest", "ubuntu@latest", "windows2022@v1", "", f"al2023@{'x' * 24}")},
    **{f"alias with {key}": _images({"alias": "al2023@v1", key: value})
       for key, value in (("id", "ami-1"), ("name", "a"), ("owner", "self"), ("tags", {"a": "b"}))},
    "alias with a second term": _images({"alias": "al2023@v1"}, {"id": "ami-1"}),
    "id without amiFamily": _images({"id": "ami-1"}),
    **{f"id with {key}": _images({"id": "ami-1", key: value}, **_CUSTOM)
       for key, value in (("name", "a"), ("tags", {"a": "b"}), ("owner", "self"))},
    **{f"image tags {tags!r:.20}": _images({"tags": tags}, **_CUSTOM)
       for tags in ({"": "a"}, {"a": ""}, {str(number): "a" for number in range(21)})},
    **_each("spec amiFamily", "Ubuntu", "al2023", "Bottlerocket"),
    "role and instanceProfile": {"spec instanceProfile": "nodes"},
    "neither role nor instanceProfile": {"spec role": GONE},
    'role ""': {"spec role": ""},
    'instanceProfile ""': {"spec role": GONE, "spec instanceProfile": ""},
    **_each("spec subnetSelectorTerms", [], [{}], [{"id": "subnet-1", "tags": {"a": "b"}}]),
    **_each("spec securityGroupSelectorTerms", [], [{}], [{"id": "sg-1", "tags": {"a": "b"}}], [{"name": "a", "tags": {"a": "b"}}]),
    **_each(
        "spec capacityReservationSelectorTerms",
        [], [{"ownerID": "123456789012"}], [{"id": "cr-1", "tags": {"a": "b"}}], [{"id": "xcr-1"}],
        [{"tags": {"a": "b"}, "ownerID": "123"}], [{"tags": {"a": "b"}, "ownerID": 123456789012}],
    ),
    "ebs {}": _volume(),
    "two rootVolume": {"spec blockDeviceMappings": [{"rootVolume": True}] * 2},
    "51 mappings": {"spec blockDeviceMappings": [{}] * 51},
    **{f"volumeSize {size!r}": _volume(volumeSize=size)
       for size in ("100", "0Gi", "59Ti", "18Ti", "1Mi", "050Gi", 100, "")},
    "volumeType GP3": _volume(volumeSize="1Gi", volumeType="GP3"),
    **{f"volumeInitializationRate {rate}": _volume(snapshotID="snap-1", volumeInitializationRate=rate) for rate in (99, 301)},
    "volumeInitializationRate without snapshotID": _volume(volumeSize="1Gi", volumeInitializationRate=100),
    **_each("spec instanceStorePolicy", "raid0"),
    **_each("spec metadataOptions", {"httpPutResponseHopLimit": 0}, {"httpPutResponseHopLimit": 65}),
    **_each(
        "spec tags",
        {"karpenter.sh/nodepool": "a"}, {"karpenter.sh/nodeclaim": "a"}, {"karpenter.k8s.aws/ec2nodeclass": "a"},
        {"eks:eks-cluster-name": "a"}, {"kubernetes.io/clusterX": "a"}, {"": "a"}, {"a": 5},
    ),
    **_each("spec ipPrefixCount", -1),
    **_each("spec placementGroupSelector", {}, {"name": "a", "id": "pg-1"}),
    **_each("spec connectionTracking", {}, {"udpTimeout": 29}, {"udpStreamTimeout": 181}, {"tcpEstablishedTimeout": 59}),
    **_each("spec networkInterfaces", [_EFA], [_NIC, _NIC], [_NIC, _EFA, {**_EFA, "deviceIndex": 1}], [{**_NIC, "interfaceType": "efa"}]),
    **{f"maxPods {count!r}": _kubelet(maxPods=count) for count in (-1, "10")},
    **{f"kubeReserved {reserved}": _kubelet(kubeReserved=reserved) for reserved in ({"gpu": "1"}, {"cpu": "-1"}, {"cpu": "5%"})},
    "evictionHard containerfs.available": _kubelet(evictionHard={"containerfs.available": "5%"}),
    "evictionHard 101%": _kubelet(evictionHard={"memory.available": "101%"}),
    "evictionSoft without grace": _kubelet(evictionSoft={"memory.available": "5%"}),
    "GC high not above low": _kubelet(imageGCHighThresholdPercent=80, imageGCLowThresholdPercent=80),
    "clusterDNS a text": _kubelet(clusterDNS="10.0.0.1"),
}  # fmt: skip
