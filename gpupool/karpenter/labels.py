"""Well-known and restricted label keys of Karpenter on AWS."""

import re
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["text", "integer", "boolean"]

KARPENTER: Final = "karpenter.sh"
AWS: Final = "karpenter.k8s.aws"

NODEPOOL: Final = f"{KARPENTER}/nodepool"
CAPACITY_TYPE: Final = f"{KARPENTER}/capacity-type"
DO_NOT_DISRUPT: Final = f"{KARPENTER}/do-not-disrupt"
"""An annotation, on nodes and pods; never a label."""

HOSTNAME: Final = "kubernetes.io/hostname"
ARCH: Final = "kubernetes.io/arch"
OS: Final = "kubernetes.io/os"
INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
WINDOWS_BUILD: Final = "node.kubernetes.io/windows-build"
ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
ZONE_ID: Final = "topology.k8s.aws/zone-id"

EC2NODECLASS: Final = f"{AWS}/ec2nodeclass"
INSTANCE_FAMILY: Final = f"{AWS}/instance-family"
INSTANCE_CATEGORY: Final = f"{AWS}/instance-category"
INSTANCE_GENERATION: Final = f"{AWS}/instance-generation"
INSTANCE_SIZE: Final = f"{AWS}/instance-size"
INSTANCE_HYPERVISOR: Final = f"{AWS}/instance-hypervisor"
INSTANCE_TENANCY: Final = f"{AWS}/instance-tenancy"
INSTANCE_CAPABILITY_FLEX: Final = f"{AWS}/instance-capability-flex"
INSTANCE_ENCRYPTION_IN_TRANSIT_SUPPORTED: Final = f"{AWS}/instance-encryption-in-transit-supported"
INSTANCE_CPU: Final = f"{AWS}/instance-cpu"
INSTANCE_CPU_MANUFACTURER: Final = f"{AWS}/instance-cpu-manufacturer"
INSTANCE_CPU_CLOCK_SPEED: Final = f"{AWS}/instance-cpu-sustained-clock-speed-mhz"
INSTANCE_MEMORY: Final = f"{AWS}/instance-memory"
INSTANCE_LOCAL_NVME: Final = f"{AWS}/instance-local-nvme"
INSTANCE_EBS_BANDWIDTH: Final = f"{AWS}/instance-ebs-bandwidth"
INSTANCE_NETWORK_BANDWIDTH: Final = f"{AWS}/instance-network-bandwidth"
INSTANCE_GPU_NAME: Final = f"{AWS}/instance-gpu-name"
INSTANCE_GPU_MANUFACTURER: Final = f"{AWS}/instance-gpu-manufacturer"
INSTANCE_GPU_COUNT: Final = f"{AWS}/instance-gpu-count"
INSTANCE_GPU_MEMORY: Final = f"{AWS}/instance-gpu-memory"
INSTANCE_ACCELERATOR_NAME: Final = f"{AWS}/instance-accelerator-name"
INSTANCE_ACCELERATOR_MANUFACTURER: Final = f"{AWS}/instance-accelerator-manufacturer"
INSTANCE_ACCELERATOR_COUNT: Final = f"{AWS}/instance-accelerator-count"
CAPACITY_RESERVATION_ID: Final = f"{AWS}/capacity-reservation-id"
CAPACITY_RESERVATION_TYPE: Final = f"{AWS}/capacity-reservation-type"
CAPACITY_RESERVATION_INTERRUPTIBLE: Final = f"{AWS}/capacity-reservation-interruptible"
PLACEMENT_GROUP_ID: Final = f"{AWS}/placement-group-id"
PLACEMENT_GROUP_PARTITION: Final = f"{AWS}/placement-group-partition"

ALIASES: Final = MappingProxyType(
    {
        "beta.kubernetes.io/arch": ARCH,
        "beta.kubernetes.io/os": OS,
        "beta.kubernetes.io/instance-type": INSTANCE_TYPE,
        "failure-domain.beta.kubernetes.io/zone": ZONE,
        "failure-domain.beta.kubernetes.io/region": REGION,
        "topology.ebs.csi.aws.com/zone": ZONE,
    }
)
"""Old keys that Karpenter reads as their successors."""

_BOOLEAN = ("true", "false")


class Label(NamedTuple):
    """A label key that Karpenter sets on nodes and filters instance types by."""

    key: str
    kind: Kind = "text"
    values: tuple[str, ...] = ()
    """All possible values, where they are a closed set."""

    unit: str = ""
    """Unit of an integer, as in `MiB`."""

    since: str = ""
    """The first Karpenter minor with this label, where that is after 1.9."""

    is_enforced: bool = False
    """Whether Karpenter rejects a requirement `In` that has none of `values`."""


WELL_KNOWN: Final = MappingProxyType(
    {
        label.key: label
        for label in (
            Label(CAPACITY_TYPE, values=("on-demand", "spot", "reserved"), is_enforced=True),
            Label(ARCH, values=("amd64", "arm64")),
            Label(OS, values=("linux", "windows")),
            Label(INSTANCE_TYPE),
            Label(WINDOWS_BUILD, values=("10.0.17763", "10.0.20348", "10.0.26100")),
            Label(ZONE),
            Label(REGION),
            Label(ZONE_ID),
            Label(INSTANCE_FAMILY),
            Label(INSTANCE_CATEGORY),
            Label(INSTANCE_GENERATION, "integer"),
            Label(INSTANCE_SIZE),
            Label(INSTANCE_HYPERVISOR, values=("nitro", "xen", "")),
            Label(INSTANCE_TENANCY, values=("default", "dedicated"), is_enforced=True),
            Label(INSTANCE_CAPABILITY_FLEX, "boolean", _BOOLEAN),
            Label(INSTANCE_ENCRYPTION_IN_TRANSIT_SUPPORTED, "boolean", _BOOLEAN),
            Label(INSTANCE_CPU, "integer", unit="vCPU"),
            Label(INSTANCE_CPU_MANUFACTURER, values=("aws", "intel", "amd")),
            Label(INSTANCE_CPU_CLOCK_SPEED, "integer", unit="MHz"),
            Label(INSTANCE_MEMORY, "integer", unit="MiB"),
            Label(INSTANCE_LOCAL_NVME, "integer", unit="GB"),
            Label(INSTANCE_EBS_BANDWIDTH, "integer", unit="Mbps"),
            Label(INSTANCE_NETWORK_BANDWIDTH, "integer", unit="Mbps"),
            Label(INSTANCE_GPU_NAME),
            Label(INSTANCE_GPU_MANUFACTURER),
            Label(INSTANCE_GPU_COUNT, "integer"),
            Label(INSTANCE_GPU_MEMORY, "integer", unit="MiB"),
            Label(INSTANCE_ACCELERATOR_NAME),
            Label(INSTANCE_ACCELERATOR_MANUFACTURER),
            Label(INSTANCE_ACCELERATOR_COUNT, "integer"),
            Label(CAPACITY_RESERVATION_ID),
            Label(CAPACITY_RESERVATION_TYPE, values=("default", "capacity-block")),
            Label(CAPACITY_RESERVATION_INTERRUPTIBLE, "boolean", _BOOLEAN, since="1.10"),
            Label(PLACEMENT_GROUP_ID, since="1.11"),
            Label(PLACEMENT_GROUP_PARTITION, "integer", since="1.11"),
        )
    }
)
"""Every label that a NodePool may use to choose instance types, by key."""

AWS_ALLOWED: Final = frozenset({key for key in WELL_KNOWN if key.startswith(f"{AWS}/")} | {EC2NODECLASS})
"""The keys of the AWS domain that the NodePool CRD accepts."""

OVERLAY_REFUSED: Final = frozenset(
    {
        INSTANCE_TENANCY,
        CAPACITY_RESERVATION_ID,
        CAPACITY_RESERVATION_TYPE,
        CAPACITY_RESERVATION_INTERRUPTIBLE,
        PLACEMENT_GROUP_ID,
        PLACEMENT_GROUP_PARTITION,
    }
)
"""The keys of the AWS domain that a NodePool may use and a NodeOverlay may not."""

RESTRICTED_DOMAINS: Final = (KARPENTER, AWS)
"""Domains in which only Karpenter's own keys are allowed; a key is rejected if its domain ends in one."""

_SET_BY_KARPENTER = {
    NODEPOOL: "Karpenter sets it to the pool's name",
    EC2NODECLASS: "Karpenter sets it to the node class's name",
    HOSTNAME: "the kubelet sets it to a different value on each node",
}
LABEL_VALUE_PATTERN: Final = r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"
"""What the value of a label may be, in 63 characters."""

_PREFIX = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_LONGEST_PREFIX = 253
_LONGEST_NAME = 63


def get_domain(key: str) -> str:
    """Return the part before the first slash, or the whole key if it has no slash."""
    return key.partition("/")[0]


def find_syntax_problem(key: str) -> str | None:
    """Find what is wrong with the syntax of a label or taint key; None for a valid one."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return "has more than one `/`"
    if slash and not (_PREFIX.fullmatch(prefix) and len(prefix) <= _LONGEST_PREFIX):
        return f"must have a lower-case DNS name of at most {_LONGEST_PREFIX} characters before the `/`"
    if len(name) > _LONGEST_NAME:
        return f"has {len(name)} characters in its name; at most {_LONGEST_NAME} are allowed"
    if not _NAME.fullmatch(name):
        where = " after the `/`" if slash else ""
        return f"may contain only letters, digits, - _ .{where}, with a letter or digit at both ends"
    return None


def find_key_problem(key: str) -> str | None:
    """Find why a NodePool may not use `key` as a node label or requirement; None if it may.

    Covers both what the CRD rejects and what only the controller rejects. The text continues a
    sentence that starts with the key: `karpenter.sh/nodepool` *is reserved: …*.
    """
    if key in WELL_KNOWN:
        return None
    if key in _SET_BY_KARPENTER:
        return f"is reserved: {_SET_BY_KARPENTER[key]}"
    return find_syntax_problem(key) or _find_domain_problem(key)


def find_overlay_key_problem(key: str) -> str | None:
    """Find why a NodeOverlay may not use `key` in a requirement; None if it may."""
    if key == NODEPOOL:
        return None
    if key in OVERLAY_REFUSED:
        return "is supported in a NodePool, but not in a NodeOverlay"
    return find_key_problem(key)


def _find_domain_problem(key: str) -> str | None:
    if key == DO_NOT_DISRUPT:
        return "is an annotation, not a label"
    for restricted in RESTRICTED_DOMAINS:
        if get_domain(key).endswith(restricted):
            return f"is not a Karpenter label, and the domain {restricted} is reserved{_suggest_key(key)}"
    return None


def _suggest_key(key: str) -> str:
    close = get_close_matches(key, WELL_KNOWN, n=1, cutoff=0.8)
    return f"; did you mean `{close[0]}`?" if close else ""
