"""Known fields of each kind's status, the only part of it that the API server checks in a new object."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from gpupool.yamlio.located import Located, items, mapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpupool.shapes.error_messages import ErrorPath


@dataclass(frozen=True, slots=True)
class StatusField:
    """The known fields of one value in a status, by name only; types are not checked."""

    fields: Mapping[str, StatusField] = field(default_factory=dict)
    items: StatusField | None = None
    """The fields of each item of a list."""

    values: StatusField | None = None
    """The fields of each value in a map with arbitrary keys."""


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
    node: Located, allowed: StatusField, path: ErrorPath
) -> Iterator[tuple[ErrorPath, Located]]:
    """Find each unknown key, and each key below a value that should have none."""
    for index, item in enumerate(items(node)):
        yield from find_unknown_fields(item, allowed.items or VALUE, (*path, index))
    for key, value in mapping(node).items():
        child = allowed.fields.get(key, allowed.values)
        if child is None:
            yield (*path, key), value
        else:
            yield from find_unknown_fields(value, child, (*path, key))
