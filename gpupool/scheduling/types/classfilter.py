"""Which types a node class leaves out, whatever the pool asks for.

Source: pkg/providers/instancetype/compatibility of Karpenter's AWS provider v1.14.1.
"""

from collections import Counter
from collections.abc import Iterator

from gpupool.scheduling.types.instancetype import InstanceType
from gpupool.scheduling.types.nodeclass import ScheduledNodeClass


def find_class_conflict(kind: InstanceType, node_class: ScheduledNodeClass) -> str:
    """Return why a class can't be used with a type; empty where it can.

    Not judged: whether the type can be in the class's placement group, whose strategy only AWS knows.
    """
    return next(_refusals(kind, node_class), "")


def has_type_filters(node_class: ScheduledNodeClass) -> bool:
    """Return whether a class leaves any type out for another reason than its family."""
    return (
        node_class.interfaces is not None
        or node_class.nested_virtualization
        or node_class.connection_tracking
    )


def _refusals(kind: InstanceType, node_class: ScheduledNodeClass) -> Iterator[str]:
    if node_class.family.name == "AL2023" and kind.name.startswith("a1."):
        yield "AL2023 does not run on a1"
    if node_class.interfaces is not None:
        yield from _interfaces(kind, node_class)
    if node_class.nested_virtualization and not kind.nested_virtualization:
        yield "the node class requires nested virtualization, which the type does not support"
    if node_class.connection_tracking and kind.hypervisor != "nitro":
        yield "the node class sets connectionTracking, which only types on the nitro hypervisor support"


def _interfaces(kind: InstanceType, node_class: ScheduledNodeClass) -> Iterator[str]:
    if not kind.cards or kind.ena == "unsupported":
        yield "the node class sets network interfaces, and the type has no ENA"
        return
    most = {card.number: card.interfaces for card in kind.cards}
    for each in node_class.interfaces or ():
        if each.card >= len(kind.cards) or each.card not in most:
            yield f"the node class uses network card {each.card}, and the type has {len(kind.cards)}"
        elif each.device >= most[each.card]:
            interface = f"interface {each.device} of network card {each.card}"
            yield f"the node class uses {interface}, which has {most[each.card]} at most"
    wanted = Counter(each.efa_only for each in node_class.interfaces or ())[True]
    if wanted > (kind.efa or 0):
        yield f"the node class sets {wanted} EFA-only interfaces, and the type has {kind.efa or 0} at most"
