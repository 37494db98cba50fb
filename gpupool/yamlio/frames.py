"""Open maps and lists, and anchored values, while a YAML document is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gpupool.findings import Location
    from gpupool.yamlio.located import Located


@dataclass(slots=True, eq=False)
class OpenCollection:
    """A map or list whose end was not read yet."""

    node: Located
    items: list[Located] | None
    """The list that is being filled; None for a map."""

    entries: dict[str, Located]
    """The map that is being filled."""

    values_before: int
    """The number of values that were read before it."""

    is_flow: bool
    is_key: bool
    anchor: str | None
    height: int = 1
    key: str | None = None
    """The key whose value is read next; None where that value is dropped."""

    key_at: Location | None = None
    """The location of that key; None while a key is read next."""

    merge_at: Location | None = None
    """The location of a merge key whose value is read next."""

    is_merged: bool = False
    """Whether it is the value of a merge key of the map around it."""

    def is_key_next(self) -> bool:
        """Return whether the next value is a key."""
        return self.items is None and self.key_at is None


class AnchoredValue(NamedTuple):
    """A value with an anchor, with its size and height when its aliases are expanded."""

    node: Located
    size: int = 1
    height: int = 0
