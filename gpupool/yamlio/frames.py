"""Where a reader is inside maps and lists, and what it has seen of anchors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gpupool.findings import Location
    from gpupool.yamlio.located import Located


@dataclass(slots=True, eq=False)
class OpenCollection:
    """A map or list whose end has not come yet."""

    node: Located
    items: list[Located] | None
    """The list that is being filled; None for a map."""

    entries: dict[str, Located]
    """The map that is being filled."""

    counted: int
    """How many nodes there were before it."""

    is_flow: bool
    is_key: bool
    anchor: str | None
    height: int = 1
    key: str | None = None
    """The key whose value comes next; None where that value is dropped."""

    key_at: Location | None = None
    """Where that key stands; None while a key comes next."""

    merge_at: Location | None = None
    """Where a merge key stands whose value comes next."""

    merges: bool = False
    """It is what a merge key of the map around it brings in."""

    def wants_key(self) -> bool:
        """Return whether the next node is a key."""
        return self.items is None and self.key_at is None


class AnchoredValue(NamedTuple):
    """What an alias stands for, with its size and height when written out."""

    node: Located
    size: int = 1
    height: int = 0
