"""Origin of a value: the value of each layer, its outcome, and its renderings."""

from enum import StrEnum
from typing import NamedTuple

from gpupool.findings import Location
from gpupool.yamlio.located import Plain

Path = tuple[str | int, ...]


class LayerOutcome(StrEnum):
    """The effect of one layer's value on the result."""

    WINS = "wins"
    MERGED = "merged"
    REPLACED = "replaced"
    REMOVES = "removes"
    NO_EFFECT = "no effect"


class LayerValue(NamedTuple):
    """The value that one layer sets in one file."""

    layer: str
    """`built-in`, `cluster`, `defaults`, `profile NAME`, `pool`, `tier NAME`, `class NAME`, …"""

    field: Path
    """The field that sets the value in that layer; another field can set the same target."""

    at: Location
    value: Plain
    outcome: LayerOutcome
    note: str = ""


class Rendering(NamedTuple):
    """A part of a rendered object that a value is rendered to."""

    object: str
    """The object's kind and name, as in `NodePool/chat-spot`."""

    path: Path
    value: Plain
    notes: tuple[str, ...] = ()
    """Why gpupool added parts of it."""


class Origin(NamedTuple):
    """One value: the values of all layers, from the lowest to the highest, and its renderings."""

    path: Path
    """The field's full path in the blueprint, as in `pools.chat.limits.gpus`."""

    value: Plain
    """The effective value; None where a `null` removed it, or no layer sets it."""

    chain: tuple[LayerValue, ...]
    renderings: tuple[Rendering, ...] = ()


class Provenance(NamedTuple):
    """The origins of all values under one path."""

    query: str
    """The path, as entered by the user."""

    origins: tuple[Origin, ...]
    """Empty where the field exists, but no layer sets it."""


def mask(value: Plain, path: Path) -> Plain:
    """Return a value without user data, which can contain a token; only its size is shown."""
    if isinstance(value, dict):
        return {key: mask(item, (*path, key)) for key, item in value.items()}
    if isinstance(value, str) and path and path[-1] == "userData":
        return f"(hidden, {len(value.encode(errors='surrogatepass'))} bytes)"
    return value
