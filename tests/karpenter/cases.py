"""One value changed in a whole object, and what is to be said of it."""

from typing import Any

from tests.karpenter.examples import CUSTOM, EC2NODECLASS, GONE, NODEOVERLAY, NODEPOOL, STATIC

Case = tuple[dict[str, Any], str, object]

_SPEC = "spec template spec"
_REQUIREMENT = f"{_SPEC} requirements 0"
_BUDGET = "spec disruption budgets 1"
_EBS = "spec blockDeviceMappings 0 ebs"

ACCEPTED: list[Case] = [
    (NODEPOOL, f"{_SPEC} requirements", []),
    (NODEPOOL, f"{_REQUIREMENT} values", ["a b!"]),
    (NODEPOOL, f"{_REQUIREMENT} values", ["x" * 64]),
    (NODEPOOL, f"{_REQUIREMENT} values", []),
    (NODEPOOL, f"{_REQUIREMENT} minValues", 50),
    (NODEPOOL, f"{_REQUIREMENT} key", "a" * 252 + "/" + "b" * 63),
    (NODEPOOL, f"{_REQUIREMENT} key", "example.com/" + "b" * 100),
    (NODEPOOL, f"{_REQUIREMENT} key", "_".join("ab") + ".C"),
    *((NODEPOOL, f"{_REQUIREMENT} operator", operator) for operator in ("NotIn", "Exists", "DoesNotExist")),
    *((NODEPOOL, f"{_REQUIREMENT} operator", operator) for operator in ("Gt", "Lt", "Gte", "Lte")),
    (NODEPOOL, "spec template metadata labels", {"a b!": "x", "": ""}),
    (NODEPOOL, "spec template metadata labels", {f"key-{number}": "x" * 63 for number in range(100)}),
    (NODEPOOL, "spec template metadata", GONE),
    *(
        (NODEPOOL, "spec limits cpu", amount)
        for amount in (1, 0, -1, "-1", "1e3", ".5", "+5", "1E", "5Gi", "1000m")
    ),
    (NODEPOOL, "spec limits", {}),
    (NODEPOOL, "spec limits", {"foo bar!": "1"}),
    (NODEPOOL, "spec weight", 1),
    (NODEPOOL, "spec weight", 100),
    (STATIC, "spec replicas", 0),
    (STATIC, "spec replicas", 2**31 - 1),
    (NODEPOOL, "spec disruption", GONE),
    (NODEPOOL, "spec disruption budgets", []),
    (NODEPOOL, "spec disruption budgets", [{}] * 50),
    (NODEPOOL, f"{_BUDGET} reasons", []),
    *((NODEPOOL, f"{_BUDGET} nodes", nodes) for nodes in ("0", "00%", "100%", "1" * 21)),
    *(
        (NODEPOOL, f"{_BUDGET} schedule", cron)
        for cron in ("@daily", "@dailyX", "60 25 * * *", "0\t9\t*\t*\t*", "TZ=UTC 0 9 * * *", "junk a b c d")
    ),
    *(
        (NODEPOOL, f"{_BUDGET} duration", span)
        for span in ("0h", "99999999999h", "1h30m", "1h0m", "1h30m0s", "90m")
    ),
    *(
        (NODEPOOL, "spec disruption consolidateAfter", span)
        for span in ("Never", "0s", "30m1h", "9999999999999h")
    ),
    *(
        (NODEPOOL, "spec disruption consolidationPolicy", policy)
        for policy in ("WhenEmpty", "WhenEmptyOrUnderutilized")
    ),
    *((NODEPOOL, f"{_SPEC} expireAfter", span) for span in ("0s", "Never", "720h")),
    (NODEPOOL, f"{_SPEC} taints 0 value", GONE),
    (NODEPOOL, f"{_SPEC} taints 0 value", "a.b/c"),
    (NODEPOOL, f"{_SPEC} taints", [{"key": "a", "effect": "NoSchedule"}] * 2),
    (NODEPOOL, f"{_SPEC} nodeClassRef kind", "Foo"),
    (EC2NODECLASS, "spec amiSelectorTerms", [{"alias": "al2023@v1@x"}]),
    (EC2NODECLASS, "spec amiSelectorTerms", [{"alias": "a" * 30}]),
    (CUSTOM, "spec amiSelectorTerms 0 id", "xami-1!!"),
    (CUSTOM, "spec amiSelectorTerms 1 name", ""),
    (CUSTOM, "spec amiSelectorTerms", [{"id": "ami-1"}] * 30),
    (CUSTOM, "spec subnetSelectorTerms", [{"tags": {}}]),
    (CUSTOM, "spec subnetSelectorTerms", [{"tags": {str(number): "*" for number in range(20)}}]),
    (CUSTOM, "spec securityGroupSelectorTerms", [{"name": "a", "id": "sg-1"}, {"tags": {"a": "b"}}]),
    (CUSTOM, "spec blockDeviceMappings", []),
    (CUSTOM, "spec blockDeviceMappings", [{}] * 50),
    (EC2NODECLASS, "spec", GONE),
    (EC2NODECLASS, _EBS, GONE),
    (EC2NODECLASS, f"{_EBS} snapshotID", ""),
    (EC2NODECLASS, f"{_EBS} iops", -5),
    *(
        (EC2NODECLASS, f"{_EBS} volumeSize", size)
        for size in ("1Gi", "59000Gi", "64000G", "Ti", "T", "9Ti", "17Ti", "58Ti", "64T")
    ),
    *((EC2NODECLASS, f"{_EBS} volumeInitializationRate", rate) for rate in (100, 300)),
    (EC2NODECLASS, "spec metadataOptions", {}),
    *((EC2NODECLASS, "spec metadataOptions httpPutResponseHopLimit", hops) for hops in (1, 64)),
    (EC2NODECLASS, "spec tags", {}),
    (EC2NODECLASS, "spec tags", {"Name": "", "aws:x": "y"}),
    (EC2NODECLASS, "spec userData", ""),
    (EC2NODECLASS, "spec context", ""),
    (EC2NODECLASS, "spec networkInterfaces", []),
    (EC2NODECLASS, "spec cpuOptions", {}),
    *(
        (EC2NODECLASS, "spec kubelet evictionHard", {"memory.available": level})
        for level in ("", "-1Gi", "100.00%", "99.99%")
    ),
    (EC2NODECLASS, "spec kubelet evictionMaxPodGracePeriod", -1),
    (EC2NODECLASS, "spec kubelet evictionSoftGracePeriod", {"memory.available": "junk"}),
    *((EC2NODECLASS, "spec connectionTracking tcpEstablishedTimeout", seconds) for seconds in (60, 432000)),
    *(
        (NODEOVERLAY, "spec priceAdjustment", change)
        for change in ("+1", "-0.5", "+10%", "-99.5%", "-100%", "+.5", "+250%")
    ),
    *((NODEOVERLAY, "spec weight", weight) for weight in (1, 10000)),
    (NODEOVERLAY, "spec capacity", {"hugepages-2Mi": "2Mi"}),
]

REFUSED: list[Case] = [
    (NODEPOOL, f"{_SPEC} requirements", GONE),
    (NODEPOOL, f"{_SPEC} requirements", [{"key": "a", "operator": "Exists"}] * 101),
    (NODEPOOL, f"{_SPEC} nodeClassRef", GONE),
    (NODEPOOL, "spec template", GONE),
    *((NODEPOOL, f"{_REQUIREMENT} operator", operator) for operator in ("in", "", "Equals", 1)),
    (NODEPOOL, f"{_REQUIREMENT} operator", GONE),
    (NODEPOOL, f"{_REQUIREMENT} values", "p5"),
    (NODEPOOL, f"{_REQUIREMENT} values 0", 5),
    *((NODEPOOL, f"{_REQUIREMENT} minValues", count) for count in (0, 51, "2", True)),
    *(
        (NODEPOOL, f"{_REQUIREMENT} key", key)
        for key in ("", "Foo.com/x", "a/b/c", "a b", "a/", "/a", "a\n", "é")
    ),
    (NODEPOOL, f"{_REQUIREMENT} key", "a" * 317),
    *(
        (NODEPOOL, "spec template metadata labels team", value)
        for value in ("x" * 64, "a b", "-a", "a\n", 5, True)
    ),
    (NODEPOOL, "spec template metadata labels", {f"key-{number}": "x" for number in range(101)}),
    (NODEPOOL, "spec template metadata name", "x"),
    *((NODEPOOL, "spec limits cpu", amount) for amount in (1.5, True, "", "1K", "1gi", "1 Gi", "5\n")),
    (NODEPOOL, "spec limits cpu", []),
    (NODEPOOL, "spec limits cpu", {}),
    *((NODEPOOL, "spec weight", weight) for weight in (0, 101, "1", True, 1.5)),
    *((STATIC, "spec replicas", count) for count in (-1, "2", True)),
    (NODEPOOL, "spec disruption", {}),
    (NODEPOOL, "spec disruption consolidateAfter", GONE),
    *(
        (NODEPOOL, "spec disruption consolidateAfter", span)
        for span in ("never", "0", "1d", "1.5h", "100ms", 30, "", "1h\n", "Never1h", " 1h", "1h ", "\u0661h")
    ),
    *(
        (NODEPOOL, "spec disruption consolidationPolicy", policy)
        for policy in ("WhenUnderutilized", "balanced", "")
    ),
    (NODEPOOL, "spec disruption budgets", [{}] * 51),
    *((NODEPOOL, f"{_BUDGET} nodes", nodes) for nodes in (5, "101%", "010%", "-1", "1.5%", "", "5 ", "%")),
    *((NODEPOOL, f"{_BUDGET} schedule", cron) for cron in ("@every 1h", "@reboot", "@Daily", "0 9 * *", "")),
    *(
        (NODEPOOL, f"{_BUDGET} duration", span)
        for span in ("30s", "1d", "30m1h", "8h30s", "0s", "1.5h", 3600, "Never")
    ),
    *((NODEPOOL, f"{_BUDGET} reasons", [reason]) for reason in ("drifted", "Expired", "Unhealthy")),
    (NODEPOOL, f"{_BUDGET} reasons", ["Empty", "Drifted", "Empty"]),
    *((NODEPOOL, f"{_SPEC} expireAfter", span) for span in ("30d", "", "-1h", 720)),
    *((NODEPOOL, f"{_SPEC} terminationGracePeriod", span) for span in ("Never", 30, "30")),
    *((NODEPOOL, f"{_SPEC} taints 0 value", value) for value in ("", "a b", True)),
    *((NODEPOOL, f"{_SPEC} taints 0 key", key) for key in ("", "a b")),
    *((NODEPOOL, f"{_SPEC} taints 0 effect", effect) for effect in (GONE, "noschedule", "")),
    (NODEPOOL, f"{_SPEC} nodeClassRef group", "x/v1"),
    (NODEPOOL, f"{_SPEC} nodeClassRef apiVersion", "karpenter.k8s.aws/v1"),
    (NODEPOOL, f"{_SPEC} kubelet", {}),
    (EC2NODECLASS, "spec amiSelectorTerms", []),
    (EC2NODECLASS, "spec amiSelectorTerms", GONE),
    (EC2NODECLASS, "spec subnetSelectorTerms", GONE),
    (EC2NODECLASS, "spec securityGroupSelectorTerms", GONE),
    (EC2NODECLASS, "spec amiSelectorTerms", [{"alias": "a" * 31}]),
    (CUSTOM, "spec amiSelectorTerms", [{"id": "ami-1"}] * 31),
    (CUSTOM, "spec amiSelectorTerms 0 id", "i-1"),
    (CUSTOM, "spec amiSelectorTerms 1 tags", {str(number): "*" for number in range(21)}),
    *((EC2NODECLASS, "spec amiFamily", family) for family in ("Ubuntu", "al2023", "")),
    (CUSTOM, "spec subnetSelectorTerms 0 id", "subnet-"),
    (CUSTOM, "spec securityGroupSelectorTerms 0 tags", {"a": 1}),
    (EC2NODECLASS, "spec capacityReservationSelectorTerms 0 id", "xcr-1"),
    *(
        (EC2NODECLASS, "spec capacityReservationSelectorTerms 1 ownerID", owner)
        for owner in ("123", 123456789012)
    ),
    (EC2NODECLASS, "spec capacityReservationSelectorTerms 1 instanceMatchCriteria", "Open"),
    *((EC2NODECLASS, "spec placementGroupSelector name", name) for name in ("", 1)),
    (CUSTOM, "spec placementGroupSelector id", "xpg-1"),
    (EC2NODECLASS, "spec blockDeviceMappings", [{}] * 51),
    *(
        (EC2NODECLASS, f"{_EBS} volumeSize", size)
        for size in (
            "100",
            "0Gi",
            "59001Gi",
            "59Ti",
            "18Ti",
            "1Mi",
            "050Gi",
            "1.5Ti",
            "65T",
            100,
            "",
            "1Gi\n",
        )
    ),
    *((EC2NODECLASS, f"{_EBS} volumeType", kind) for kind in ("GP3", "", "ssd")),
    *((EC2NODECLASS, f"{_EBS} volumeInitializationRate", rate) for rate in (99, 301)),
    *((EC2NODECLASS, f"{_EBS} iops", number) for number in ("3000", 2**63)),
    *((EC2NODECLASS, f"{_EBS} encrypted", flag) for flag in ("true", 1)),
    (EC2NODECLASS, f"{_EBS} kmsKeyId", "x"),
    (EC2NODECLASS, "spec instanceStorePolicy", "raid0"),
    *((EC2NODECLASS, "spec metadataOptions httpPutResponseHopLimit", hops) for hops in (0, 65, "2")),
    (EC2NODECLASS, "spec metadataOptions httpTokens", "Required"),
    (EC2NODECLASS, "spec tags", {"a": 1}),
    *((EC2NODECLASS, "spec ipPrefixCount", count) for count in (-1, 2**31)),
    *((EC2NODECLASS, "spec connectionTracking udpTimeout", seconds) for seconds in (29, 61)),
    *((EC2NODECLASS, "spec connectionTracking udpStreamTimeout", seconds) for seconds in (59, 181)),
    *((EC2NODECLASS, "spec connectionTracking tcpEstablishedTimeout", seconds) for seconds in (59, 432001)),
    *((EC2NODECLASS, "spec networkInterfaces 0 interfaceType", kind) for kind in ("efa", GONE)),
    *((EC2NODECLASS, "spec networkInterfaces 0 deviceIndex", index) for index in (-1, 2**31, GONE)),
    (EC2NODECLASS, "spec networkInterfaces", [EC2NODECLASS["spec"]["networkInterfaces"][0]] * 151),
    (EC2NODECLASS, "spec cpuOptions nestedVirtualization", True),
    *((EC2NODECLASS, "spec kubelet maxPods", count) for count in (-1, "10", 2**31)),
    (EC2NODECLASS, "spec kubelet systemReserved cpu", "5%"),
    *(
        (EC2NODECLASS, "spec kubelet evictionHard memory.available", level)
        for level in ("101%", "1.555%", "5 %", 5)
    ),
    (EC2NODECLASS, "spec kubelet imageGCHighThresholdPercent", 101),
    (EC2NODECLASS, "spec kubelet clusterDNS", "10.0.0.10"),
    (EC2NODECLASS, "spec kubelet unknown", 1),
    *(
        (NODEOVERLAY, "spec priceAdjustment", change)
        for change in ("1", "10%", "-101%", "+", "", "-1.", "+1\n")
    ),
    *((NODEOVERLAY, "spec weight", weight) for weight in (0, 10001)),
    *((NODEOVERLAY, "spec capacity nvidia.com/gpu", amount) for amount in (1.5, "four")),
    (NODEOVERLAY, "spec requirements 0 minValues", 1),
]

STRICTER: list[Case] = [
    # The server takes a whole number that is written as a decimal; in a file it is a slip.
    (NODEPOOL, "spec weight", 1.0),
    # The server drops an empty entry; in a file it is an unfinished line.
    (NODEPOOL, "spec limits cpu", None),
    # The schema lets any number through, but the scale subresource ends at 32 bits.
    (STATIC, "spec replicas", 2**31),
    # CEL refuses these, not the schema; here the keys are types.
    (EC2NODECLASS, "spec kubelet systemReserved", {"gpu": "1"}),
    (EC2NODECLASS, "spec kubelet evictionHard", {"containerfs.available": "5%"}),
    # The server knows no such kinds under this name.
    (NODEPOOL, "apiVersion", "karpenter.sh/v1beta1"),
    # Metadata is the server's own to check, and it refuses these.
    *((NODEPOOL, "metadata name", name) for name in ("", "Upper", "a_b", "-a", "a.", "a" * 254)),
    (NODEPOOL, "metadata labels", {"a b": "x"}),
    (NODEPOOL, "metadata labels", {"x" * 64: "x"}),
    (NODEPOOL, "metadata labels", {"a": "x y"}),
    (NODEPOOL, "metadata labels", {"Upper.com/a": "x"}),
    (NODEPOOL, "metadata annotations", {"a/b/c": "x"}),
    (NODEPOOL, "metadata annotations", {"a": 1}),
]
NULLS: list[Case] = [
    (NODEPOOL, "spec disruption", None),
    (NODEPOOL, f"{_SPEC} expireAfter", None),
    (NODEPOOL, f"{_SPEC} taints 0 value", None),
    (CUSTOM, "spec role", None),
]
"""The server drops a null before it looks; so do we where a field may be absent."""
