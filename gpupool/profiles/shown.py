"""What a profile sets and why: each value with the comment that stands beside it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gpupool.assets import shipped
from gpupool.errors import InputError
from gpupool.findings import Location, in_file_order
from gpupool.profiles.load import SHIPPED, Profiles, shipped_names
from gpupool.shapes.words import dotted
from gpupool.yamlio.nodes import Node, Scalar, find, leaves, text_at


@dataclass(frozen=True, slots=True)
class Setting:
    """One value that a profile sets."""

    path: str
    value: Scalar | list[Node] | dict[str, Node]
    reason: str
    """The comment on its line, or an empty text."""

    profile: str
    """The profile in whose file it stands: this one, or one that it extends."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A profile as `gpupool profiles NAME` shows it."""

    name: str
    summary: str
    description: str
    settings: tuple[Setting, ...]


def show(name: str) -> Shown:
    """Give a profile by name or path, with all that it takes over from the profiles it extends.

    Raises:
        InputError: where there is none, or it is not as it has to be.
    """
    profiles = Profiles()
    node = profiles.named(Node(name, Location("-")))
    if node is None:
        raise InputError(in_file_order(profiles.findings))
    return Shown(
        name=text_at(node, "metadata", "name"),
        summary=text_at(node, "summary"),
        description=text_at(node, "description"),
        settings=tuple(_settings(node)),
    )


def show_all() -> list[Shown]:
    """Give every shipped profile, by name."""
    return [show(name) for name in shipped_names()]


def _settings(node: Node) -> Iterator[Setting]:
    said: set[Location] = set()
    for section in ("pool", "nodeClass", "stack"):
        part = find(node, section)
        for path, item in leaves(part) if part is not None and part.value is not None else ():
            line = Location(item.at.file, item.at.line)
            reason = "" if line in said else _comment(line)
            said.add(line)
            yield Setting(dotted((section, *path)), item.value, reason, _profile_name(item.at.file))


def _comment(line: Location) -> str:
    text = _text(line.file).splitlines()[line.line - 1]
    return text.rpartition(" # ")[2].strip() if " # " in text else ""


def _text(file: str) -> str:
    if file.startswith(SHIPPED):
        return shipped("profiles").joinpath(file.removeprefix(SHIPPED)).read_text("utf-8")
    return Path(file).read_text("utf-8")


def _profile_name(file: str) -> str:
    return file.removeprefix(SHIPPED).removesuffix(".yaml")
