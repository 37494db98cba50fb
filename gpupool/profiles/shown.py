"""Profile listings: each value that a profile sets, with the comment on its line."""

from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import NamedTuple

from gpupool.assets import find_shipped_folder
from gpupool.errors import InputError
from gpupool.findings import Location, in_file_order
from gpupool.profiles.load import SHIPPED, Profiles, shipped_names
from gpupool.profiles.model import Profile
from gpupool.yamlio.located import Located, Plain, items, leaves, plain, text_of


class Setting(NamedTuple):
    """One value that a profile sets: a scalar, a list, one budget of several, or a map on one line."""

    path: tuple[str | int, ...]
    value: Plain
    reason: str
    """The comment on its line, or an empty text."""

    source: str
    """The extended profile that sets it; empty where the profile itself does."""


class ProfileListing(NamedTuple):
    """A profile as `gpupool profiles NAME` shows it."""

    name: str
    summary: str
    description: str
    extends: tuple[str, ...]
    """The profiles that it extends, the closest first."""

    settings: tuple[Setting, ...]


def show(name: str) -> ProfileListing:
    """Return a profile by name or path, with all values of the profiles that it extends.

    Raises:
        InputError: where the profile does not exist or is invalid.
    """
    profiles = Profiles((name,))
    node = profiles.resolve(Located(name, Location("-")))
    if node is None:
        raise InputError(in_file_order(profiles.findings))
    profile = Profile(node)
    return ProfileListing(
        name=text_of(profile.metadata.name),
        summary=text_of(profile.summary),
        description=text_of(profile.description),
        extends=tuple(_extended(node, profiles)),
        settings=tuple(_settings(node)),
    )


def show_all() -> list[ProfileListing]:
    """Return every shipped profile, by name."""
    return [show(name) for name in shipped_names()]


def _extended(node: Located, profiles: Profiles) -> Iterator[str]:
    base = Profile(node)
    while (reference := base.extends) is not None:
        base = Profile(profiles.resolve(reference))
        yield text_of(base.metadata.name)


def _settings(node: Located) -> Iterator[Setting]:
    seen: set[Location] = set()
    lines: dict[str, list[str]] = {}
    for section in (Profile.pool, Profile.node_class, Profile.stack):
        part = Profile(node).get(section.key)
        for path, item in _parts(part, (section.key,)) if part is not None else ():
            line = _line(item)
            if line.file not in lines:
                lines[line.file] = _text(line.file).splitlines()
            reason = "" if line in seen else _comment(lines[line.file][line.line - 1])
            seen.add(line)
            source = "" if line.file == node.at.file else _profile_name(line.file)
            yield Setting(path, plain(item), reason, source)


def _parts(node: Located, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Located]]:
    """Yield the parts of a profile that have their own line, each with its path."""
    if isinstance(node.value, dict) and node.value and not _is_on_one_line(node):
        for key, item in node.value.items():
            yield from _parts(item, (*path, key))
    elif any(isinstance(item.value, dict) for item in items(node)):
        yield from (((*path, index), item) for index, item in enumerate(items(node)))
    else:
        yield path, node


def _is_on_one_line(node: Located) -> bool:
    return node.key is not None and {_line(item) for _, item in leaves(node)} == {
        Location(node.key.file, node.key.line)
    }


def _line(node: Located) -> Location:
    return Location(node.at.file, node.at.line)


def _comment(text: str) -> str:
    return text.rpartition(" # ")[2].strip() if " # " in text else ""


def _text(file: str) -> str:
    if file.startswith(SHIPPED):
        return find_shipped_folder("profiles").joinpath(file.removeprefix(SHIPPED)).read_text("utf-8")
    return Path(file).read_text("utf-8")


def _profile_name(file: str) -> str:
    return PurePath(file.removeprefix(SHIPPED)).stem
