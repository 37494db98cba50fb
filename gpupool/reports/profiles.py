"""Profiles as text: the list, one profile's page, and the reference page."""

import itertools
import re
import textwrap
from collections.abc import Iterator, Sequence

from gpupool.profiles.shown import ProfileListing, Setting
from gpupool.reports.escaping import one_line, visible
from gpupool.reports.tables import align_rows
from gpupool.yamlio.located import Plain
from gpupool.yamlio.quoting import format_quoted
from gpupool.yamlio.scalars import Reading, read_plain

_WIDTH = 100
_COMMENT_COLUMN = 44
_MAX_WIDTH = 106
_MIN_WIDTH = 40
_SIMPLE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_./:%-]*[A-Za-z0-9%])?")

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


def render_list(profiles: Sequence[ProfileListing], width: int | None = None) -> str:
    """Return one row for each profile, for a terminal's width."""
    rows = [(profile.name, profile.summary) for profile in profiles]
    lines = "".join(f"{row}\n" for row in align_rows(rows, width=width))  # both columns are important
    return f"{lines}\n`gpupool profiles NAME` shows what one sets, and why.\n"


def render_page(profile: ProfileListing, width: int | None = None) -> str:
    """Return the description and settings of a profile, for a terminal's width."""
    line_width = _WIDTH if width is None else max(_MIN_WIDTH, min(_WIDTH, width))
    paragraphs = ["\n".join(_wrap(text, line_width)) for text in _paragraphs(profile)]
    head = one_line(f"{profile.name}: {profile.summary}")
    return "\n\n".join([head, *paragraphs, render_settings(profile)])


def render_reference(profiles: Sequence[ProfileListing]) -> str:
    """Return the reference page of these profiles as Markdown."""
    rows = [f"| [{profile.name}](#{profile.name}) | {profile.summary} |" for profile in profiles]
    return "\n".join(
        [*_INTRODUCTION, *rows, "", *(line for profile in profiles for line in _section(profile))]
    )


def render_settings(profile: ProfileListing) -> str:
    """Return the settings of a profile as YAML, each value with its reason as a comment."""
    return "".join(_lines(profile))


def _section(profile: ProfileListing) -> Iterator[str]:
    yield from (f"## {profile.name}", "", profile.summary, "")
    for paragraph in _paragraphs(profile):
        yield from (*_wrap(paragraph, _WIDTH), "")
    yield from ("```yaml", render_settings(profile).rstrip("\n"), "```", "")


def _paragraphs(profile: ProfileListing) -> Iterator[str]:
    for paragraph in profile.description.strip().split("\n\n"):
        yield visible(" ".join(paragraph.split()))
    if profile.extends:
        yield visible(f"Extends {', which extends '.join(profile.extends)}.")


def _lines(profile: ProfileListing) -> Iterator[str]:
    previous: tuple[str | int, ...] = ()
    for setting in profile.settings:
        *parents, last = setting.path
        shared = _count_shared(previous, tuple(parents))
        for depth in range(shared, len(parents)):
            yield f"{'  ' * depth}{to_flow_yaml(parents[depth])}:\n"
        lead = "- " if isinstance(last, int) else f"{to_flow_yaml(last)}: "
        yield from _comment_lines(
            f"{'  ' * len(parents)}{lead}{to_flow_yaml(setting.value)}", _comment(setting)
        )
        previous = tuple(parents)


def _count_shared(previous: tuple[str | int, ...], parents: tuple[str | int, ...]) -> int:
    """Return how many of the outermost keys two paths have in common."""
    pairs = zip(previous, parents, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _comment(setting: Setting) -> str:
    source = f"({setting.source})" if setting.source else ""
    return visible(" ".join(part for part in (source, setting.reason) if part))


def _comment_lines(body: str, comment: str) -> Iterator[str]:
    """Yield a line with its comment after it, and the rest of the comment on lines below."""
    if not comment:
        yield f"{body}\n"
        return
    column = max(_COMMENT_COLUMN, len(body))
    first, *rest = _wrap(comment, max(_MIN_WIDTH, _MAX_WIDTH - column))
    yield f"{body:<{column}}  # {first}\n"
    yield from (f"{'':<{column}}  # {line}\n" for line in rest)


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def to_flow_yaml(value: Plain) -> str:
    """Return a value on one line, as it is usually written in a blueprint."""
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{to_flow_yaml(key)}: {to_flow_yaml(item)}" for key, item in value.items()) + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(to_flow_yaml(item) for item in value) + "]"
    if isinstance(value, str):
        return (
            value
            if _SIMPLE.fullmatch(value) and read_plain(value) == Reading(value)
            else format_quoted(value)
        )
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else str(value)
