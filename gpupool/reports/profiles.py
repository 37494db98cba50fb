"""Profiles as text: the list, one profile's page, and the reference of them all."""

import itertools
import re
import textwrap
from collections.abc import Iterator, Sequence

from gpupool.profiles.shown import ProfileListing, Setting
from gpupool.reports.escaping import one_line, visible
from gpupool.reports.tables import aligned
from gpupool.yamlio.located import Plain
from gpupool.yamlio.quoting import format_quoted
from gpupool.yamlio.scalars import Reading, read_plain

_WIDTH = 100
_COMMENT_COLUMN = 44
_WIDEST = 106
_LEAST_WIDTH = 40
_SIMPLE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_./:%-]*[A-Za-z0-9%])?")


def listing(profiles: Sequence[ProfileListing], width: int | None = None) -> str:
    """Return one row for each profile, for a terminal's width."""
    rows = [(profile.name, profile.summary) for profile in profiles]
    lines = "".join(f"{row}\n" for row in aligned(rows, width=width))  # both columns are important
    return f"{lines}\n`gpupool profiles NAME` shows what one sets, and why.\n"


def page(profile: ProfileListing, width: int | None = None) -> str:
    """Return what a profile sets, and why, for a terminal's width."""
    widest = _WIDTH if width is None else max(_LEAST_WIDTH, min(_WIDTH, width))
    paragraphs = ["\n".join(_wrapped(text, widest)) for text in _paragraphs(profile)]
    head = one_line(f"{profile.name}: {profile.summary}")
    return "\n\n".join([head, *paragraphs, settings(profile)])


def markdown(profiles: Sequence[ProfileListing]) -> str:
    """Return the reference page of these profiles."""
    rows = [f"| [{profile.name}](#{profile.name}) | {profile.summary} |" for profile in profiles]
    return "\n".join([*_INTRODUCTION, *rows, "", *(line for each in profiles for line in _section(each))])


def settings(profile: ProfileListing) -> str:
    """Return what a profile sets as YAML, each value with its reason as a comment."""
    return "".join(_lines(profile))


_INTRODUCTION = (
    "# Profiles",
    "",
    "A profile sets default fields of the pool that names it, as in `pools: {chat: {profile: inference}}`.",
    "Fields of the pool override those of the profile, and `null` removes one. The fields under `nodeClass`",
    "are used where the pool has a node class of its own, not where it names a declared one.",
    "`gpupool profiles NAME` prints one section of this page. The name can also be the path of your own",
    "profile, which can extend one of these. A name in brackets is the extended profile that a value comes",
    "from.",
    "",
    "| Profile | |",
    "|---|---|",
)


def _section(profile: ProfileListing) -> Iterator[str]:
    yield from (f"## {profile.name}", "", profile.summary, "")
    for paragraph in _paragraphs(profile):
        yield from (*_wrapped(paragraph, _WIDTH), "")
    yield from ("```yaml", settings(profile).rstrip("\n"), "```", "")


def _paragraphs(profile: ProfileListing) -> Iterator[str]:
    for paragraph in profile.description.strip().split("\n\n"):
        yield visible(" ".join(paragraph.split()))
    if profile.extends:
        yield visible(f"Extends {', which extends '.join(profile.extends)}.")


def _lines(profile: ProfileListing) -> Iterator[str]:
    above: tuple[str | int, ...] = ()
    for setting in profile.settings:
        *parents, last = setting.path
        shared = _shared(above, tuple(parents))
        for depth in range(shared, len(parents)):
            yield f"{'  ' * depth}{flow(parents[depth])}:\n"
        lead = "- " if isinstance(last, int) else f"{flow(last)}: "
        yield from _commented(f"{'  ' * len(parents)}{lead}{flow(setting.value)}", _behind(setting))
        above = tuple(parents)


def _shared(above: tuple[str | int, ...], parents: tuple[str | int, ...]) -> int:
    """Return how many of the outermost keys two paths have in common."""
    pairs = zip(above, parents, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _behind(setting: Setting) -> str:
    source = f"({setting.source})" if setting.source else ""
    return visible(" ".join(part for part in (source, setting.reason) if part))


def _commented(body: str, comment: str) -> Iterator[str]:
    """Yield a line with its comment behind it, and as many comment lines below as it needs."""
    if not comment:
        yield f"{body}\n"
        return
    column = max(_COMMENT_COLUMN, len(body))
    first, *rest = _wrapped(comment, max(_LEAST_WIDTH, _WIDEST - column))
    yield f"{body:<{column}}  # {first}\n"
    yield from (f"{'':<{column}}  # {line}\n" for line in rest)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def flow(value: Plain) -> str:
    """Write a value on one line, as people write it in a blueprint."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    if isinstance(value, str):
        return (
            value
            if _SIMPLE.fullmatch(value) and read_plain(value) == Reading(value)
            else format_quoted(value)
        )
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else str(value)
