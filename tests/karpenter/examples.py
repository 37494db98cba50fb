"""Whole objects that the API server takes, to change one value of at a time."""

from copy import copy
from typing import Any

from gpupool.karpenter.v1.ec2nodeclass import EC2NodeClass
from gpupool.karpenter.v1.nodepool import NodePool
from gpupool.karpenter.v1alpha1.nodeoverlay import NodeOverlay
from gpupool.shapes.base import Shape

MODELS: dict[str, type[Shape]] = {
    "NodePool": NodePool,
    "EC2NodeClass": EC2NodeClass,
    "NodeOverlay": NodeOverlay,
}

NODEPOOL: dict[str, Any] = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {
        "name": "pretrain",
        "labels": {"gpupool.dev/blueprint": "ml-platform"},
        "annotations": {"Example.com/owner": "the ML platform team"},
    },
    "spec": {
        "template": {
            "metadata": {
                "labels": {"team": "research"},
                "annotations": {"karpenter.sh/do-not-disrupt": "true"},
            },
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"},
                "requirements": [
                    {
                        "key": "karpenter.k8s.aws/instance-family",
                        "operator": "In",
                        "values": ["p5", "p5en"],
                        "minValues": 2,
                    },
                ],
                "taints": [
                    {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"},
                    {"key": "dedicated", "effect": "NoExecute", "timeAdded": "2026-08-20T12:00:00Z"},
                ],
                "startupTaints": [
                    {
                        "key": "cilium.io/agent-not-ready",
                        "value": "true",
                        "effect": "NoExecute",
                        "timeAdded": "2026-08-20T12:00:00Z",
                    }
                ],
                "expireAfter": "336h",
                "terminationGracePeriod": "24h",
            },
        },
        "disruption": {
            "consolidateAfter": "10m",
            "consolidationPolicy": "Balanced",
            "budgets": [
                {"nodes": "10%"},
                {"nodes": "0", "schedule": "0 9 * * 1-5", "duration": "8h", "reasons": ["Underutilized"]},
            ],
        },
        "limits": {"nvidia.com/gpu": 32, "cpu": "1536", "memory": "16Ti"},
        "weight": 50,
    },
}

STATIC: dict[str, Any] = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "standby"},
    "spec": {
        "replicas": 2,
        "limits": {"nodes": 3},
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"},
                "requirements": [],
            }
        },
    },
}

_SIGNALS = {"memory.available": "5%", "nodefs.available": "10Gi"}

EC2NODECLASS: dict[str, Any] = {
    "apiVersion": "karpenter.k8s.aws/v1",
    "kind": "EC2NodeClass",
    "metadata": {"name": "gpu"},
    "spec": {
        "amiFamily": "AL2023",
        "amiSelectorTerms": [{"alias": "al2023@v20260810"}],
        "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "ml"}}, {"id": "subnet-0a1b2c3d"}],
        "securityGroupSelectorTerms": [
            {"tags": {"karpenter.sh/discovery": "ml"}},
            {"name": "efa"},
            {"id": "sg-0a1b"},
        ],
        "capacityReservationSelectorTerms": [
            {"id": "cr-0a1b2c3d4e5f67890"},
            {"ownerID": "123456789012", "instanceMatchCriteria": "targeted", "tags": {"purpose": "chat"}},
        ],
        "placementGroupSelector": {"name": "pretrain"},
        "role": "KarpenterNodeRole-ml",
        "associatePublicIPAddress": False,
        "detailedMonitoring": True,
        "ipPrefixCount": 1,
        "context": "example",
        "userData": "#!/bin/sh\ntrue\n",
        "tags": {"team": "research"},
        "blockDeviceMappings": [
            {
                "deviceName": "/dev/xvda",
                "rootVolume": True,
                "ebs": {
                    "deleteOnTermination": True,
                    "encrypted": True,
                    "iops": 3000,
                    "kmsKeyID": "alias/disks",
                    "snapshotID": "snap-0a1b2c3d",
                    "throughput": 125,
                    "volumeInitializationRate": 300,
                    "volumeSize": "500Gi",
                    "volumeType": "gp3",
                },
            }
        ],
        "instanceStorePolicy": "RAID0",
        "metadataOptions": {
            "httpEndpoint": "enabled",
            "httpProtocolIPv6": "disabled",
            "httpPutResponseHopLimit": 2,
            "httpTokens": "required",
        },
        "networkInterfaces": [
            {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"},
            {"networkCardIndex": 1, "deviceIndex": 0, "interfaceType": "efa-only"},
        ],
        "connectionTracking": {"tcpEstablishedTimeout": 3600, "udpStreamTimeout": 120, "udpTimeout": 30},
        "cpuOptions": {"nestedVirtualization": "enabled"},
        "kubelet": {
            "clusterDNS": ["10.0.1.100"],
            "maxPods": 110,
            "podsPerCore": 4,
            "systemReserved": {"cpu": "100m", "memory": "100Mi"},
            "kubeReserved": {"ephemeral-storage": "1Gi", "pid": "1000"},
            "evictionHard": dict(_SIGNALS),
            "evictionSoft": dict(_SIGNALS),
            "evictionSoftGracePeriod": {"memory.available": "1m", "nodefs.available": "1m30s"},
            "evictionMaxPodGracePeriod": 60,
            "imageGCHighThresholdPercent": 85,
            "imageGCLowThresholdPercent": 80,
            "cpuCFSQuota": True,
        },
    },
}

CUSTOM: dict[str, Any] = {
    "apiVersion": "karpenter.k8s.aws/v1",
    "kind": "EC2NodeClass",
    "metadata": {"name": "custom"},
    "spec": {
        "amiFamily": "Custom",
        "amiSelectorTerms": [
            {"id": "ami-0a1b2c3d"},
            {"name": "gpu-*", "owner": "self", "tags": {"tested": "yes"}},
            {"ssmParameter": "/images/gpu"},
        ],
        "subnetSelectorTerms": [{"id": "subnet-0a1b2c3d"}],
        "securityGroupSelectorTerms": [{"id": "sg-0a1b2c3d"}],
        "placementGroupSelector": {"id": "pg-0a1b2c3d"},
        "instanceProfile": "nodes",
    },
}

NODEOVERLAY: dict[str, Any] = {
    "apiVersion": "karpenter.sh/v1alpha1",
    "kind": "NodeOverlay",
    "metadata": {"name": "shared-gpus"},
    "spec": {
        "requirements": [
            {"key": "karpenter.sh/nodepool", "operator": "In", "values": ["notebooks"]},
            {"key": "karpenter.k8s.aws/instance-gpu-count", "operator": "Gt", "values": ["0"]},
        ],
        "priceAdjustment": "-10%",
        "capacity": {"nvidia.com/gpu": 4, "example.com/slices": "8"},
        "weight": 10,
    },
}

PRICED: dict[str, Any] = {
    "apiVersion": "karpenter.sh/v1alpha1",
    "kind": "NodeOverlay",
    "metadata": {"name": "priced"},
    "spec": {"requirements": [], "price": "1.25"},
}

ALL = [NODEPOOL, STATIC, EC2NODECLASS, CUSTOM, NODEOVERLAY, PRICED]
FULL = {whole["kind"]: whole for whole in (NODEPOOL, EC2NODECLASS, NODEOVERLAY)}
GONE = object()


def changed(whole: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """Return `whole` with another value at a path such as `spec limits cpu`; GONE takes it out."""
    *parents, last = (int(part) if part.isdigit() else part for part in path.split())
    result = copy(whole)
    here: Any = result
    for part in parents:
        here[part] = copy(here[part])
        here = here[part]
    if value is GONE:
        del here[last]
    else:
        here[last] = value
    return result
