"""What there is to tell about one value."""

from enum import StrEnum
from typing import NamedTuple

from gpupool.findings import Location
from gpupool.yamlio.located import Plain

Path = tuple[str | int, ...]


class LayerOutcome(StrEnum):
    """What became of what one layer says."""

    WINS = "wins"
    MERGED = "merged"
    REPLACED = "replaced"
    REMOVES = "removes"
    NO_EFFECT = "no effect"


class LayerValue(NamedTuple):
    """What one layer, in one file, says about a value."""

    layer: str
    """`built-in`, `cluster`, `defaults`, `profile NAME`, `pool`, `tier NAME`, `class NAME`, …"""

    word: Path
    """The word that says it, in that layer: another one may reach the same field."""

    at: Location
    value: Plain
    outcome: LayerOutcome
    note: str = ""


class Rendering(NamedTuple):
    """A part of a rendered object that a value became."""

    object: str
    """As in `NodePool/chat-spot`."""

    path: Path
    value: Plain
    notes: tuple[str, ...] = ()
    """Why gpupool itself wrote some of it."""


class Origin(NamedTuple):
    """One value: what every layer says of it, from the lowest to the highest, and where it went."""

    path: Path
    """The word's full path in the blueprint, as in `pools.chat.limits.gpus`."""

    value: Plain
    """What counts in the end; None where a `null` took it out, or nobody says it."""

    chain: tuple[LayerValue, ...]
    renderings: tuple[Rendering, ...] = ()


class Provenance(NamedTuple):
    """The answer to one question."""

    asked: str
    origins: tuple[Origin, ...]
    """None where the field is there, but nobody says it."""


def masked(value: Plain, path: Path) -> Plain:
    """Return a value as it may be shown: of user data, which can hold a token, only the size."""
    if isinstance(value, dict):
        return {key: masked(item, (*path, key)) for key, item in value.items()}
    if isinstance(value, str) and path and path[-1] == "userData":
        return f"(hidden, {len(value.encode(errors='surrogatepass'))} bytes)"
    return value
