"""Node classes that differ in all that instance types depend on."""

from tests.rig.scheduling import Body


def node_class(name: str, **spec: object) -> Body:
    """Return an EC2NodeClass; without an image it is AL2023's latest."""
    spec.setdefault("amiSelectorTerms", [{"alias": "al2023@latest"}])
    selected = [{"id": "x-1"}]
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": name},
        "spec": {
            "role": "r",
            "subnetSelectorTerms": selected,
            "securityGroupSelectorTerms": selected,
            **spec,
        },
    }


def _alias(name: str) -> list[Body]:
    return [{"alias": f"{name}@latest"}]


def _disk(device: str, size: str | None = None, **more: object) -> Body:
    ebs = {"volumeSize": size} if size else {"snapshotID": "snap-1"}
    return {"deviceName": device, "ebs": ebs, **more}


def _interfaces(efa_only: int) -> list[Body]:
    """Return a primary interface and EFA-only ones, the first on card 0 and one on each further card."""
    primary = {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"}
    return [
        primary,
        *(
            {"networkCardIndex": card, "deviceIndex": 1, "interfaceType": "efa-only"}
            for card in range(efa_only)
        ),
    ]


_RESERVES = {
    "kubeReserved": {"cpu": "250m", "memory": "2.5Gi", "ephemeral-storage": "3G", "pid": "1000"},
    "systemReserved": {"cpu": "0.1234", "memory": "512Mi"},
    "evictionHard": {"memory.available": "7.5%", "nodefs.available": "12%"},
}
CLASSES: dict[str, Body] = {
    each["metadata"]["name"]: each
    for each in (
        node_class("al2023"),
        node_class("al2", amiSelectorTerms=_alias("al2")),
        node_class("bottlerocket", amiSelectorTerms=_alias("bottlerocket")),
        node_class("windows", amiSelectorTerms=_alias("windows2022")),
        node_class("windows-2025", amiSelectorTerms=_alias("windows2025"), kubelet={"podsPerCore": 7}),
        node_class("custom", amiFamily="Custom", amiSelectorTerms=[{"id": "ami-1"}]),
        node_class(
            "custom-disks",
            amiFamily="Custom",
            amiSelectorTerms=[{"id": "ami-1"}],
            blockDeviceMappings=[_disk("/dev/sda1", "40Gi"), _disk("/dev/sdb", "77G")],
        ),
        node_class("raid0", instanceStorePolicy="RAID0", blockDeviceMappings=[_disk("/dev/xvda", "123Gi")]),
        node_class("max-pods", kubelet={"maxPods": 110}),
        node_class("no-pods", kubelet={"maxPods": 0}),
        node_class("pods-per-core", kubelet={"maxPods": 250, "podsPerCore": 10}),
        node_class(
            "bottlerocket-pods",
            amiSelectorTerms=_alias("bottlerocket"),
            kubelet={"podsPerCore": 3, "maxPods": 30},
            blockDeviceMappings=[_disk("/dev/xvda", "4Gi"), _disk("/dev/xvdb", "500Gi")],
        ),
        node_class("reserves", kubelet=_RESERVES),
        node_class(
            "no-thresholds", kubelet={"evictionHard": {"memory.available": "100%", "nodefs.available": "5Gi"}}
        ),
        node_class("large-reserve", kubelet={"kubeReserved": {"memory": "8Gi"}}),
        node_class("small-disk", blockDeviceMappings=[_disk("/dev/xvda", "1Gi")]),
        node_class("other-disk", blockDeviceMappings=[_disk("/dev/xvdb", "90Gi"), _disk("/dev/xvda")]),
        node_class(
            "root-disk",
            blockDeviceMappings=[_disk("/dev/xvda", "30Gi"), _disk("/dev/xvdc", "64Gi", rootVolume=True)],
        ),
        node_class("efa", networkInterfaces=_interfaces(4)),
        node_class("efa-32", networkInterfaces=_interfaces(32)),
        node_class("one-interface", networkInterfaces=_interfaces(0)),
        node_class("nested", cpuOptions={"nestedVirtualization": "enabled"}),
        node_class("tracking", connectionTracking={"tcpEstablishedTimeout": 600}),
        node_class("other-family", amiFamily="AL2", amiSelectorTerms=[{"id": "ami-1"}]),
    )
}
