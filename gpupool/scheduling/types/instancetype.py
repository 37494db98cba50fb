"""An instance type as a record of the catalogue's columns."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from gpupool.catalogue.model import Catalogue


@dataclass(frozen=True, slots=True)
class Gpu:
    """One kind of GPU of an instance type."""

    name: str
    """Name as in the label: `l40s`."""

    manufacturer: str
    """Manufacturer as EC2 writes it: `NVIDIA`, `AMD`, `Habana`."""

    count: int
    """Number of GPUs; 0 if the type has a fraction of one."""

    memory: int
    """Memory of each GPU in MiB."""


@dataclass(frozen=True, slots=True)
class InferenceDevice:
    """One kind of inference accelerator of an instance type."""

    name: str
    manufacturer: str
    count: int


@dataclass(frozen=True, slots=True)
class NeuronDevice:
    """One kind of Neuron device of an instance type."""

    name: str
    count: int
    cores: int
    """Cores of each device."""


class NetworkCard(NamedTuple):
    """One network card."""

    number: int
    interfaces: int
    """Maximum number of interfaces."""


class InstanceType(NamedTuple):
    """An instance type as Karpenter reads it from EC2 and its tables; see `gpupool.catalogue.describe`."""

    name: str
    family: str | None
    size: str | None
    category: str | None
    arch: str
    vcpus: int
    memory: int
    """Memory in MiB, as EC2 reports it."""

    hypervisor: str
    storage: int | None
    """Total size of all local disks in GB."""

    local_nvme: int | None
    gpus: tuple[Gpu, ...]
    inference: tuple[InferenceDevice, ...]
    neuron: tuple[NeuronDevice, ...]
    other_accelerators: tuple[str, str, int] | None
    capacity_types: tuple[str, ...]
    efa: int | None
    """Maximum number of EFA interfaces; None without EFA support."""

    cards: tuple[NetworkCard, ...]
    default_card: int
    ipv4_per_interface: int
    ena: str
    nested_virtualization: bool
    network_bandwidth: int | None
    pod_eni: int
    windows_ipv4: int | None
    retired: str | None
    """The month by which EC2 no longer returned it."""

    @property
    def accelerators(self) -> tuple[tuple[int, str, int | None], ...]:
        """Return the count, name and GPU memory in MiB of each kind of accelerator."""
        if self.gpus:
            return tuple((gpu.count, gpu.name, gpu.memory) for gpu in self.gpus)
        if self.neuron or self.inference:
            return tuple((device.count, device.name, None) for device in self.neuron or self.inference)
        if self.other_accelerators is None:
            return ()
        kind, name, count = self.other_accelerators
        return ((count, f"{kind} {name}".strip(), None),)

    @property
    def is_metal(self) -> bool:
        """Return whether Karpenter treats it as bare metal, by the name of its size."""
        return "metal" in (self.size or "")


_LISTS = {"gpus": Gpu, "inference": InferenceDevice, "neuron": NeuronDevice, "cards": NetworkCard}


def read_instance_type(catalogue: Catalogue, position: int) -> InstanceType:
    """Read the type at `position` in the catalogue's names."""
    fields: dict[str, Any] = {
        name: catalogue.columns[name].at(position) for name in InstanceType._fields if name != "name"
    }
    for name, record in _LISTS.items():
        fields[name] = tuple(record(*row) for row in fields[name] or ())
    return InstanceType(name=catalogue.names[position], **fields)
