"""Merge schema of blueprints: how each part is merged, and which fields set the same target."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from gpupool.blueprint.merge import ANY, MergeKind
from gpupool.catalogue.accelerators import GPU_MAKERS, Maker, load_accelerators
from gpupool.karpenter import labels
from gpupool.yamlio.located import Located, items, mapping

FieldTarget: TypeAlias = tuple[tuple[str, ...], str]
"""The path of a blueprint field in its item, and one rendered field or label key that it sets."""

INSTANCE_LABELS = {
    "types": labels.INSTANCE_TYPE,
    "families": labels.INSTANCE_FAMILY,
    "categories": labels.INSTANCE_CATEGORY,
    "sizes": labels.INSTANCE_SIZE,
    "hypervisor": labels.INSTANCE_HYPERVISOR,
    "generation": labels.INSTANCE_GENERATION,
    "cpu": labels.INSTANCE_CPU,
    "memory": labels.INSTANCE_MEMORY,
    "gpus": labels.INSTANCE_GPU_COUNT,
    "gpuMemory": labels.INSTANCE_GPU_MEMORY,
    "localNvme": labels.INSTANCE_LOCAL_NVME,
    "networkBandwidth": labels.INSTANCE_NETWORK_BANDWIDTH,
}
"""The label that each field of `instances` constrains."""

PLUGIN_CONFIG_LABEL = "nvidia.com/device-plugin.config"
"""The node label that selects the device plugin's configuration."""

NAME_LABELS = (labels.INSTANCE_GPU_NAME, labels.INSTANCE_ACCELERATOR_NAME)
"""The labels with an accelerator's name: of GPUs, and of other chips."""

MANUFACTURER_LABELS = (labels.INSTANCE_GPU_MANUFACTURER, labels.INSTANCE_ACCELERATOR_MANUFACTURER)
"""The labels with an accelerator's maker: of GPUs, and of other chips."""

_POOL_TARGETS = {
    "arch": ("requirement " + labels.ARCH,),
    "os": ("requirement " + labels.OS,),
    "capacity": ("requirement " + labels.CAPACITY_TYPE,),
    "nodeClass": ("the node class",),
    "nodeClassRef": ("the node class",),
    "doNotDisrupt": ("annotation " + labels.DO_NOT_DISRUPT,),
    "sharing": ("label " + PLUGIN_CONFIG_LABEL,),
}
_CLASS_TARGETS = {
    "ami": ("amiSelectorTerms",),
    "subnets": ("subnetSelectorTerms",),
    "securityGroups": ("securityGroupSelectorTerms",),
    "reservations": ("capacityReservationSelectorTerms",),
    "disk": ("blockDeviceMappings",),
    "osDisk": ("blockDeviceMappings",),
    "role": ("the instance's identity",),
    "instanceProfile": ("the instance's identity",),
}
_LIMIT_TARGETS = {
    "gpus": ("limit nvidia.com/gpu", "limit amd.com/gpu"),
}


def accelerator_labels(name: str) -> tuple[str, ...]:
    """Return the label keys that a value of `accelerator` can constrain."""
    if name == "none":
        return ()
    if name in set(Maker):
        return (MANUFACTURER_LABELS[name not in GPU_MAKERS],)
    is_gpu = load_accelerators().is_gpu(name)
    return NAME_LABELS if is_gpu is None else (NAME_LABELS[not is_gpu],)


def find_pool_targets(pool: Located) -> Iterator[FieldTarget]:
    """Yield each field of a pool with each target that it sets."""
    for key, node in mapping(pool).items():
        if key in _POOL_TARGETS:
            yield from (((key,), target) for target in _POOL_TARGETS[key])
        elif key in _POOL_TARGET_FINDERS:
            yield from _POOL_TARGET_FINDERS[key](key, node)


def find_class_targets(node_class: Located) -> Iterator[FieldTarget]:
    """Yield each field of a node class with each target that it sets.

    `disk` and `osDisk` can be set together, so each sets a part of `blockDeviceMappings`.
    """
    for key in mapping(node_class):
        if key in ("disk", "osDisk"):
            yield (key,), f"blockDeviceMappings of {key}"
        elif key == "blockDeviceMappings":
            yield from (((key,), f"{key} of {disk}") for disk in ("disk", "osDisk"))
        else:
            yield from (((key,), target) for target in _CLASS_TARGETS.get(key, (key,)))


def map_by_key(node: Located | None) -> dict[str, Located]:
    """Return requirements or taints by key, from a map or from Karpenter's list."""
    return {} if node is None else mapping(group_by_key(node))


def group_by_key(node: Located) -> Located:
    """Convert Karpenter's list of requirements or taints to a map by key, with a list for each key."""
    if not isinstance(node.value, list) or not node.value:
        return node
    grouped: dict[str, list[Located]] = {}
    for item in node.value:
        key = item.value.get("key") if isinstance(item.value, dict) else None
        if key is not None and isinstance(key.value, str):
            grouped.setdefault(key.value, []).append(item)
    return replace(
        node, value={key: Located(items, items[0].at, items[0].at) for key, items in grouped.items()}
    )


def zone_label(zone: str) -> str:
    """Return the label key for a value of `zones`: a zone name, or a zone id such as `use1-az1`."""
    return labels.ZONE_ID if "-az" in zone else labels.ZONE


def _zone_targets(key: str, node: Located) -> Iterator[FieldTarget]:
    target_labels = {zone_label(zone) for zone in _texts(node)} or {labels.ZONE, labels.ZONE_ID}
    yield from (((key,), f"requirement {label}") for label in sorted(target_labels))


def _accelerator_targets(key: str, node: Located) -> Iterator[FieldTarget]:
    target_labels = {label for name in _texts(node) for label in accelerator_labels(name)}
    if node.value is None:
        target_labels = {*NAME_LABELS, *MANUFACTURER_LABELS}
    yield from (((key,), f"requirement {label}") for label in sorted(target_labels))


def _texts(node: Located) -> list[str]:
    return [item.value for item in items(node) or [node] if isinstance(item.value, str)]


def _instance_targets(key: str, node: Located) -> Iterator[FieldTarget]:
    yield from (((key, name), f"requirement {INSTANCE_LABELS.get(name, name)}") for name in mapping(node))


def _requirement_targets(key: str, node: Located) -> Iterator[FieldTarget]:
    for label in map_by_key(node):
        yield (key, label), f"requirement {labels.ALIASES.get(label, label)}"


def _entry_targets(key: str, node: Located) -> Iterator[FieldTarget]:
    yield from (((key, name), f"{key[:-1]} {name}") for name in mapping(node))


def _limit_targets(key: str, node: Located) -> Iterator[FieldTarget]:
    for name in mapping(node):
        yield from (((key, name), target) for target in _LIMIT_TARGETS.get(name, (f"limit {name}",)))


_POOL_TARGET_FINDERS: dict[str, Callable[[str, Located], Iterator[FieldTarget]]] = {
    "zones": _zone_targets,
    "accelerator": _accelerator_targets,
    "instances": _instance_targets,
    "requirements": _requirement_targets,
    "labels": _entry_targets,
    "annotations": _entry_targets,
    "limits": _limit_targets,
}
CLASS = MergeKind(
    atomic=frozenset({"ami", "subnets", "securityGroups", "reservations", "userData"}),
    find_targets=find_class_targets,
)
_POOL_PARTS = {
    "nodeClass": CLASS,
    "instances": MergeKind(all_atomic=True),
    "requirements": MergeKind(all_atomic=True, group=group_by_key),
    "taints": MergeKind(all_atomic=True, group=group_by_key),
    "startupTaints": MergeKind(all_atomic=True, group=group_by_key),
}
_POOL_ATOMIC = frozenset({"arch", "os", "capacity", "zones", "accelerator"})
TIER = MergeKind(fields=_POOL_PARTS, atomic=_POOL_ATOMIC, find_targets=find_pool_targets)
POOL = MergeKind(
    fields={**_POOL_PARTS, "tiers": MergeKind(entries=TIER)},
    atomic=_POOL_ATOMIC,
    find_targets=find_pool_targets,
)
BLUEPRINT = MergeKind(
    fields={
        "defaults": MergeKind(fields={"pool": POOL, "nodeClass": CLASS}),
        "nodeClasses": MergeKind(entries=CLASS),
        "pools": MergeKind(entries=POOL),
    }
)
STACK = ANY
PROFILE = MergeKind(fields={"pool": POOL, "nodeClass": CLASS})
