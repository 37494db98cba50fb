"""How each part of a blueprint merges, and which words in it reach the same field."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from gpupool.blueprint.merge import ANY, MergeKind
from gpupool.catalogue.accelerators import GPU_MAKERS, RESOURCES, Maker, load_accelerators
from gpupool.karpenter import labels
from gpupool.yamlio.located import Located, items, mapping

Word: TypeAlias = tuple[tuple[str, ...], str]
"""The path of a word in its item, and one field or label key that it reaches."""

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
"""The label behind each word of `instances`."""

PLUGIN_CONFIG_LABEL = "nvidia.com/device-plugin.config"
"""The node label by which the device plugin picks its configuration."""

_NAMES = (labels.INSTANCE_GPU_NAME, labels.INSTANCE_ACCELERATOR_NAME)
_MANUFACTURERS = (labels.INSTANCE_GPU_MANUFACTURER, labels.INSTANCE_ACCELERATOR_MANUFACTURER)
_POOL_WORDS = {
    "arch": ("requirement " + labels.ARCH,),
    "os": ("requirement " + labels.OS,),
    "capacity": ("requirement " + labels.CAPACITY_TYPE,),
    "nodeClass": ("the node class",),
    "nodeClassRef": ("the node class",),
    "doNotDisrupt": ("annotation " + labels.DO_NOT_DISRUPT,),
    "sharing": ("label " + PLUGIN_CONFIG_LABEL,),
}
_CLASS_WORDS = {
    "ami": ("amiSelectorTerms",),
    "subnets": ("subnetSelectorTerms",),
    "securityGroups": ("securityGroupSelectorTerms",),
    "reservations": ("capacityReservationSelectorTerms",),
    "disk": ("blockDeviceMappings",),
    "osDisk": ("blockDeviceMappings",),
    "role": ("the instance's identity",),
    "instanceProfile": ("the instance's identity",),
}
_LIMIT_WORDS = {
    "gpus": ("limit nvidia.com/gpu", "limit amd.com/gpu"),
    "usdPerHour": tuple(f"limit {resource}" for resource in RESOURCES.values()),
}


def accelerator_labels(word: str) -> tuple[str, ...]:
    """Return the label keys that a name under `accelerator` may speak about."""
    if word == "none":
        return ()
    if word in set(Maker):
        return (_MANUFACTURERS[word not in GPU_MAKERS],)
    is_gpu = load_accelerators().is_gpu(word)
    return _NAMES if is_gpu is None else (_NAMES[not is_gpu],)


def pool_reach(pool: Located) -> Iterator[Word]:
    """Yield each word of a pool with each field or label key that it reaches."""
    for key, node in mapping(pool).items():
        if key in _POOL_WORDS:
            yield from (((key,), target) for target in _POOL_WORDS[key])
        elif key in _POOL_REACHES:
            yield from _POOL_REACHES[key](key, node)


def class_reach(node_class: Located) -> Iterator[Word]:
    """Yield each word of a node class with each field that it reaches.

    `disk` and `osDisk` stand beside each other, so each reaches `blockDeviceMappings` under its own name.
    """
    for key in mapping(node_class):
        if key in ("disk", "osDisk"):
            yield (key,), f"blockDeviceMappings of {key}"
        elif key == "blockDeviceMappings":
            yield from (((key,), f"{key} of {word}") for word in ("disk", "osDisk"))
        else:
            yield from (((key,), target) for target in _CLASS_WORDS.get(key, (key,)))


def by_key(node: Located | None) -> dict[str, Located]:
    """Return requirements or taints by key, whether they are a map already or Karpenter's own list."""
    return {} if node is None else mapping(keyed(node))


def keyed(node: Located) -> Located:
    """Turn Karpenter's list of requirements or taints into a map by key; one key may hold several."""
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


def zone_label(word: str) -> str:
    """Return the label key that a word under `zones` speaks about: a zone's name, or its id (`use1-az1`)."""
    return labels.ZONE_ID if "-az" in word else labels.ZONE


def _zones(key: str, node: Located) -> Iterator[Word]:
    reached = {zone_label(word) for word in _words(node)} or {labels.ZONE, labels.ZONE_ID}
    yield from (((key,), f"requirement {label}") for label in sorted(reached))


def _accelerators(key: str, node: Located) -> Iterator[Word]:
    reached = {label for word in _words(node) for label in accelerator_labels(word)}
    if node.value is None:
        reached = {*_NAMES, *_MANUFACTURERS}
    yield from (((key,), f"requirement {label}") for label in sorted(reached))


def _words(node: Located) -> list[str]:
    return [item.value for item in items(node) or [node] if isinstance(item.value, str)]


def _instances(key: str, node: Located) -> Iterator[Word]:
    yield from (((key, word), f"requirement {INSTANCE_LABELS.get(word, word)}") for word in mapping(node))


def _requirements(key: str, node: Located) -> Iterator[Word]:
    for label in by_key(node):
        yield (key, label), f"requirement {labels.ALIASES.get(label, label)}"


def _named(key: str, node: Located) -> Iterator[Word]:
    yield from (((key, name), f"{key[:-1]} {name}") for name in mapping(node))


def _limits(key: str, node: Located) -> Iterator[Word]:
    for name in mapping(node):
        yield from (((key, name), target) for target in _LIMIT_WORDS.get(name, (f"limit {name}",)))


_POOL_REACHES: dict[str, Callable[[str, Located], Iterator[Word]]] = {
    "zones": _zones,
    "accelerator": _accelerators,
    "instances": _instances,
    "requirements": _requirements,
    "labels": _named,
    "annotations": _named,
    "limits": _limits,
}
CLASS = MergeKind(
    whole=frozenset({"ami", "subnets", "securityGroups", "reservations", "userData"}), reach=class_reach
)
_POOL_PARTS = {
    "nodeClass": CLASS,
    "instances": MergeKind(all_whole=True),
    "requirements": MergeKind(all_whole=True, keyed=keyed),
    "taints": MergeKind(all_whole=True, keyed=keyed),
    "startupTaints": MergeKind(all_whole=True, keyed=keyed),
}
_POOL_WHOLE = frozenset({"arch", "os", "capacity", "zones", "accelerator"})
TIER = MergeKind(below=_POOL_PARTS, whole=_POOL_WHOLE, reach=pool_reach)
POOL = MergeKind(below={**_POOL_PARTS, "tiers": MergeKind(each=TIER)}, whole=_POOL_WHOLE, reach=pool_reach)
BLUEPRINT = MergeKind(
    below={
        "defaults": MergeKind(below={"pool": POOL, "nodeClass": CLASS}),
        "nodeClasses": MergeKind(each=CLASS),
        "pools": MergeKind(each=POOL),
    }
)
STACK = ANY
PROFILE = MergeKind(below={"pool": POOL, "nodeClass": CLASS})
