"""The field names of a status: all that the API server looks at in a new object before it drops it."""

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from gpupool.shapes.words import Path
from gpupool.yamlio.nodes import Node, items, mapping

Names: TypeAlias = "Mapping[str, Names] | None"
"""The fields of a map, or of each map in a list; None where anything may stand."""


def _plain(*names: str) -> dict[str, Names]:
    return dict.fromkeys(names)


_CONDITION: Final = _plain("lastTransitionTime", "message", "observedGeneration", "reason", "status", "type")
STATUS: Final[Mapping[str, Names]] = {
    "NodePool": {
        "conditions": _CONDITION,
        **_plain("nodeClassObservedGeneration", "nodes", "resources"),
    },
    "NodeOverlay": {"conditions": _CONDITION},
    "EC2NodeClass": {
        "amis": {"requirements": _plain("key", "operator", "values"), **_plain("deprecated", "id", "name")},
        "capacityReservations": _plain(
            "availabilityZone", "endTime", "id", "instanceMatchCriteria", "instanceType", "interruptible",
            "ownerID", "reservationType", "state",
        ),
        "conditions": _CONDITION,
        "instanceProfile": None,
        "securityGroups": _plain("id", "name"),
        "subnets": _plain("id", "zone", "zoneID"),
    },
}  # fmt: skip


def unknown(node: Node, names: Names, path: Path) -> Iterator[tuple[Path, Node]]:
    """Find each field that a status does not have; values of a wrong type are nobody's business."""
    if names is None:
        return
    for index, item in enumerate(items(node)):
        yield from unknown(item, names, (*path, index))
    for key, below in mapping(node).items():
        here = (*path, key)
        if key in names:
            yield from unknown(below, names[key], here)
        else:
            yield here, below
