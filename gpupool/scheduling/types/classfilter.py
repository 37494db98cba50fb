"""Instance types that a node class excludes, regardless of the pool's requirements.

Source: pkg/providers/instancetype/compatibility of Karpenter's AWS provider v1.14.1.
"""

from collections import Counter
from collections.abc import Iterator

from gpupool.scheduling.types.instancetype import InstanceType
from gpupool.scheduling.types.nodeclass import ScheduledNodeClass


def find_class_conflict(kind: InstanceType, node_class: ScheduledNodeClass) -> str:
    """Return why a node class can't be used with a type; empty if it can.

    The class's placement group is not judged, because only AWS knows its strategy.
    """
    return next(_find_conflicts(kind, node_class), "")


def has_type_filters(node_class: ScheduledNodeClass) -> bool:
    """Return whether a node class excludes types for another reason than its family."""
    return (
        node_class.interfaces is not None
        or node_class.has_nested_virtualization
        or node_class.has_connection_tracking
    )


def _find_conflicts(kind: InstanceType, node_class: ScheduledNodeClass) -> Iterator[str]:
    if node_class.family.name == "AL2023" and kind.name.startswith("a1."):
        yield "AL2023 does not run on a1"
    if node_class.interfaces is not None:
        yield from _find_interface_conflicts(kind, node_class)
    if node_class.has_nested_virtualization and not kind.nested_virtualization:
        yield "the node class requires nested virtualization, which the type does not support"
    if node_class.has_connection_tracking and kind.hypervisor != "nitro":
        yield "the node class sets connectionTracking, which only types on the nitro hypervisor support"


def _find_interface_conflicts(kind: InstanceType, node_class: ScheduledNodeClass) -> Iterator[str]:
    if not kind.cards or kind.ena == "unsupported":
        yield "the node class sets network interfaces, and the type has no ENA"
        return
    interfaces_by_card = {card.number: card.interfaces for card in kind.cards}
    for interface in node_class.interfaces or ():
        if interface.card >= len(kind.cards) or interface.card not in interfaces_by_card:
            yield f"the node class uses network card {interface.card}, and the type has {len(kind.cards)}"
        elif interface.device >= interfaces_by_card[interface.card]:
            slot = f"interface {interface.device} of network card {interface.card}"
            yield f"the node class uses {slot}, which has {interfaces_by_card[interface.card]} at most"
    requested = Counter(interface.is_efa_only for interface in node_class.interfaces or ())[True]
    if requested > (kind.efa or 0):
        yield f"the node class sets {requested} EFA-only interfaces, and the type has {kind.efa or 0} at most"
