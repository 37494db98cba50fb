"""The fields of a status: all that the API server looks at in a new object before it drops it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from gpupool.yamlio.located import Located, items, mapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpupool.shapes.error_messages import ErrorPath


@dataclass(frozen=True, slots=True)
class StatusField:
    """What may stand in one place, by name alone: a value of the wrong type is nobody's business."""

    fields: Mapping[str, StatusField] = field(default_factory=dict)
    items: StatusField | None = None
    """What each item of a list is."""

    values: StatusField | None = None
    """What stands under each key of the user's."""


VALUE: Final = StatusField()


def _map(*plain: str, **fields: StatusField) -> StatusField:
    return StatusField({**dict.fromkeys(plain, VALUE), **fields})


def _list(item: StatusField) -> StatusField:
    return StatusField(items=item)


_CONDITIONS: Final = _list(
    _map("lastTransitionTime", "message", "observedGeneration", "reason", "status", "type")
)
STATUS: Final[Mapping[str, StatusField]] = {
    "NodePool": _map(
        "nodeClassObservedGeneration", "nodes", conditions=_CONDITIONS, resources=StatusField(values=VALUE)
    ),
    "NodeOverlay": _map(conditions=_CONDITIONS),
    "EC2NodeClass": _map(
        "instanceProfile",
        amis=_list(
            _map("deprecated", "id", "name", requirements=_list(_map("key", "operator", values=_list(VALUE))))
        ),
        capacityReservations=_list(
            _map(
                "availabilityZone", "endTime", "id", "instanceMatchCriteria", "instanceType",
                "interruptible", "ownerID", "reservationType", "state",
            )
        ),
        conditions=_CONDITIONS,
        securityGroups=_list(_map("id", "name")),
        subnets=_list(_map("id", "zone", "zoneID")),
    ),
}  # fmt: skip


def find_unknown_fields(
    node: Located, known: StatusField, path: ErrorPath
) -> Iterator[tuple[ErrorPath, Located]]:
    """Find each key that is not known; nothing is known below a value that stands in a wrong place."""
    for index, item in enumerate(items(node)):
        yield from find_unknown_fields(item, known.items or VALUE, (*path, index))
    for key, below in mapping(node).items():
        inside = known.fields.get(key, known.values)
        if inside is None:
            yield (*path, key), below
        else:
            yield from find_unknown_fields(below, inside, (*path, key))
