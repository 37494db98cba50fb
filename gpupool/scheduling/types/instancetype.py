"""One instance type as a record: what the catalogue's columns say of it."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from gpupool.catalogue.model import Catalogue


@dataclass(frozen=True, slots=True)
class Gpu:
    """One kind of GPU in a machine."""

    name: str
    """As in the label: `l40s`."""

    manufacturer: str
    """As EC2 writes it: `NVIDIA`, `AMD`, `Habana`."""

    count: int
    """0 where the machine has a share of one."""

    memory: int
    """MiB of each."""


@dataclass(frozen=True, slots=True)
class InferenceDevice:
    """One kind of inference accelerator in a machine."""

    name: str
    manufacturer: str
    count: int


@dataclass(frozen=True, slots=True)
class NeuronDevice:
    """One kind of Neuron device in a machine."""

    name: str
    count: int
    cores: int
    """Of each device."""


class NetworkCard(NamedTuple):
    """One network card."""

    number: int
    interfaces: int
    """The most that it takes."""


class InstanceType(NamedTuple):
    """What Karpenter reads of a type from EC2 and from its own tables; see `gpupool.catalogue.describe`."""

    name: str
    family: str | None
    size: str | None
    category: str | None
    arch: str
    vcpus: int
    memory: int
    """MiB, as EC2 says."""

    hypervisor: str
    storage: int | None
    """GB of all disks in the machine."""

    local_nvme: int | None
    gpus: tuple[Gpu, ...]
    inference: tuple[InferenceDevice, ...]
    neuron: tuple[NeuronDevice, ...]
    other_accelerators: tuple[str, str, int] | None
    capacity_types: tuple[str, ...]
    efa: int | None
    """The most EFA interfaces; None where there is no EFA."""

    cards: tuple[NetworkCard, ...]
    default_card: int
    ipv4_per_interface: int
    ena: str
    nested_virtualization: bool
    network_bandwidth: int | None
    pod_eni: int
    windows_ipv4: int | None
    retired: str | None
    """The month since which EC2's answers lack it."""

    @property
    def accelerators(self) -> tuple[tuple[int, str, int | None], ...]:
        """Return for each kind of accelerator how many there are, its name, and the MiB of one GPU."""
        if self.gpus:
            return tuple((gpu.count, gpu.name, gpu.memory) for gpu in self.gpus)
        if self.neuron or self.inference:
            return tuple((each.count, each.name, None) for each in self.neuron or self.inference)
        if self.other_accelerators is None:
            return ()
        kind, name, count = self.other_accelerators
        return ((count, f"{kind} {name}".strip(), None),)

    @property
    def is_metal(self) -> bool:
        """Return whether Karpenter takes it for bare metal, which goes by the size's name."""
        return "metal" in (self.size or "")


_LISTS = {"gpus": Gpu, "inference": InferenceDevice, "neuron": NeuronDevice, "cards": NetworkCard}


def read_instance_type(catalogue: Catalogue, position: int) -> InstanceType:
    """Return the type that stands at `position` in the catalogue's names."""
    said: dict[str, Any] = {
        name: catalogue.columns[name].at(position) for name in InstanceType._fields if name != "name"
    }
    for name, kind in _LISTS.items():
        said[name] = tuple(kind(*each) for each in said[name] or ())
    return InstanceType(name=catalogue.names[position], **said)
