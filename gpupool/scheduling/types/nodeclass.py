"""An EC2NodeClass as Karpenter's scheduler sees it: settings that affect instance types and capacity."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from gpupool.karpenter.quantities import Amount, parse_amount
from gpupool.scheduling.types.amifamily import AmiFamily, find_family_of_alias, get_ami_family
from gpupool.yamlio.located import Plain, plain_list, plain_map, plain_text

_EFA_ONLY: Final = "efa-only"


class ClassVolume(NamedTuple):
    """One block device mapping."""

    device: str
    size: Amount | None
    """Size in bytes; None if the snapshot or AMI determines it."""

    is_root: bool


class Interface(NamedTuple):
    """One network interface of a fixed layout."""

    card: int
    device: int
    is_efa_only: bool


class ScheduledNodeClass(NamedTuple):
    """The part of an EC2NodeClass that instance types depend on; the default is AL2023 without settings."""

    name: str = ""
    family: AmiFamily = get_ami_family("AL2023")
    max_pods: int | None = None
    pods_per_core: int = 0
    kube_reserved: Mapping[str, str] = {}
    system_reserved: Mapping[str, str] = {}
    eviction_hard: Mapping[str, str] = {}
    block_devices: tuple[ClassVolume, ...] = ()
    has_raid0: bool = False
    interfaces: tuple[Interface, ...] | None = None
    """None if the class has no layout; a type then has its maximum of EFA interfaces."""

    has_connection_tracking: bool = False
    has_nested_virtualization: bool = False
    has_placement_group: bool = False
    """Whether it names a placement group, whose strategy only AWS knows."""

    has_reservations: bool = False
    """Whether it selects capacity reservations, whose types only AWS knows."""

    zones: frozenset[str] | None = None
    """The zones of its subnets, from a live object's status; None if they are not known."""

    @property
    def efa_only(self) -> int | None:
        """Return the number of EFA-only interfaces in the layout; None without a layout."""
        return (
            None if self.interfaces is None else sum(interface.is_efa_only for interface in self.interfaces)
        )


def read_node_class(body: Mapping[str, Plain]) -> ScheduledNodeClass:
    """Read an EC2NodeClass that Karpenter would accept; invalid fields count as not set."""
    spec, status = plain_map(body.get("spec")), plain_map(body.get("status"))
    kubelet, processor = plain_map(spec.get("kubelet")), plain_map(spec.get("cpuOptions"))
    interfaces = spec.get("networkInterfaces")
    subnets = [plain_map(entry) for entry in plain_list(status.get("subnets"))]
    return ScheduledNodeClass(
        name=plain_text(plain_map(body.get("metadata")).get("name")),
        family=get_ami_family(_read_family(spec)),
        max_pods=_to_int(kubelet.get("maxPods")),
        pods_per_core=_to_int(kubelet.get("podsPerCore")) or 0,
        kube_reserved=_read_texts(kubelet.get("kubeReserved")),
        system_reserved=_read_texts(kubelet.get("systemReserved")),
        eviction_hard=_read_texts(kubelet.get("evictionHard")),
        block_devices=tuple(
            _read_block_device(plain_map(entry)) for entry in plain_list(spec.get("blockDeviceMappings"))
        ),
        has_raid0=spec.get("instanceStorePolicy") == "RAID0",
        interfaces=tuple(map(_read_interface, interfaces)) if isinstance(interfaces, list) else None,
        has_connection_tracking=spec.get("connectionTracking") is not None,
        has_nested_virtualization=processor.get("nestedVirtualization") == "enabled",
        has_placement_group=spec.get("placementGroupSelector") is not None,
        has_reservations=bool(spec.get("capacityReservationSelectorTerms")),
        zones=frozenset(plain_text(entry.get("zone")) for entry in subnets) if subnets else None,
    )


def _read_family(spec: Mapping[str, Plain]) -> str:
    if family := plain_text(spec.get("amiFamily")):
        return family
    aliases = [plain_text(plain_map(term).get("alias")) for term in plain_list(spec.get("amiSelectorTerms"))]
    return next((find_family_of_alias(alias) for alias in aliases if alias), "") or "Custom"


def _read_block_device(mapping: Mapping[str, Plain]) -> ClassVolume:
    size = plain_map(mapping.get("ebs")).get("volumeSize")
    return ClassVolume(
        plain_text(mapping.get("deviceName")),
        None if size is None else parse_amount(str(size)),
        mapping.get("rootVolume") is True,
    )


def _read_interface(item: Plain) -> Interface:
    fields = plain_map(item)
    kind = fields.get("interfaceType")
    return Interface(
        _to_int(fields.get("networkCardIndex")) or 0,
        _to_int(fields.get("deviceIndex")) or 0,
        kind == _EFA_ONLY,
    )


def _to_int(value: Plain) -> int | None:
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _read_texts(value: Plain) -> dict[str, str]:
    return {key: str(item) for key, item in plain_map(value).items()}
