"""Targets of a pool's fields: the requirements, labels and limits that a value of a field sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpupool.blueprint.keyed import map_by_key
from gpupool.catalogue.accelerators import GPU_MAKERS, Maker, load_accelerators
from gpupool.karpenter import labels
from gpupool.yamlio.located import items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.shapes.fields import FieldTarget
    from gpupool.yamlio.located import Located

NAME_LABELS = (labels.INSTANCE_GPU_NAME, labels.INSTANCE_ACCELERATOR_NAME)
"""The labels with an accelerator's name: of GPUs, and of other chips."""

MANUFACTURER_LABELS = (labels.INSTANCE_GPU_MANUFACTURER, labels.INSTANCE_ACCELERATOR_MANUFACTURER)
"""The labels with an accelerator's maker: of GPUs, and of other chips."""

GPU_LIMITS = ("limit nvidia.com/gpu", "limit amd.com/gpu")


def find_accelerator_labels(name: str) -> tuple[str, ...]:
    """Return the label keys that a value of `accelerator` can constrain."""
    if name == "none":
        return ()
    if name in set(Maker):
        return (MANUFACTURER_LABELS[name not in GPU_MAKERS],)
    is_gpu = load_accelerators().is_gpu(name)
    return NAME_LABELS if is_gpu is None else (NAME_LABELS[not is_gpu],)


def find_zone_label(zone: str) -> str:
    """Return the label key for a value of `zones`: a zone name, or a zone id such as `use1-az1`."""
    return labels.ZONE_ID if "-az" in zone else labels.ZONE


def find_zone_targets(node: Located) -> Iterator[FieldTarget]:
    """Yield the targets of a value of `zones`."""
    target_labels = {find_zone_label(zone) for zone in _texts(node)} or {labels.ZONE, labels.ZONE_ID}
    yield from (((), f"requirement {label}") for label in sorted(target_labels))


def find_accelerator_targets(node: Located) -> Iterator[FieldTarget]:
    """Yield the targets of a value of `accelerator`."""
    target_labels = {label for name in _texts(node) for label in find_accelerator_labels(name)}
    if node.value is None:
        target_labels = {*NAME_LABELS, *MANUFACTURER_LABELS}
    yield from (((), f"requirement {label}") for label in sorted(target_labels))


def find_requirement_targets(node: Located) -> Iterator[FieldTarget]:
    """Yield the targets of a value of `requirements`."""
    for label in map_by_key(node):
        yield (label,), f"requirement {labels.ALIASES.get(label, label)}"


def _texts(node: Located) -> list[str]:
    return [item.value for item in items(node) or [node] if isinstance(item.value, str)]
