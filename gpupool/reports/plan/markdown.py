"""A plan as a comment on a pull request: limited length, with the most important sections first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.reports.plan.marked import (
    format_block,
    format_code,
    format_comment,
    format_html_code,
    format_line,
)
from gpupool.reports.plan.patch import render_diff
from gpupool.reports.plan.sections import Section, collect_sections
from gpupool.reports.plan.wording import (
    choose_symbol,
    format_action,
    format_consent,
    format_headline,
    format_hidden,
    format_signature,
    format_unverified,
    is_shown,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gpupool.planning.plan import Change, Plan

MAX_CHARACTERS: Final = 59_999
"""GitHub accepts 65,536 characters in a comment; the rest is for text that a workflow adds."""

_RESERVE: Final = 500
"""Room for the sentence on what was left out."""

_CAPS: Final = (
    (None, None),
    (100, None),
    (20, None),
    (5, None),
    (0, None),
    (0, 200),
    (0, 50),
    (0, 10),
    (0, 0),
)
"""Most lines of a section, of one that is not essential and of one that is, tried until the text fits."""

_MAX_CONSENT: Final = 2000


class LengthLimit(NamedTuple):
    """Largest size of a text, and the function that measures it."""

    maximum: int
    size: Callable[[str], int]


def render_plan(
    plan: Plan, *, show_textual: bool = False, colour: bool = False, show_raw: bool = False
) -> str:
    """Return the comment: a hidden mark to find it by, the verdict, the sections, then each object's diff."""
    del colour, show_raw
    return render_within(plan, LengthLimit(MAX_CHARACTERS, len), show_textual=show_textual)


def render_within(plan: Plan, limit: LengthLimit, *, show_textual: bool = False) -> str:
    """Return as much of a plan as fits a limit; diffs are left out first, the largest before the others."""
    head = _head(plan, show_textual=show_textual)
    sections = collect_sections(plan)
    text, is_cut = head, False
    for cap, essential_cap in _CAPS:
        parts = [_section(section, essential_cap if section.is_essential else cap) for section in sections]
        text, is_cut = "\n".join([head, *parts]), cap is not None
        if limit.size(text) + _RESERVE <= limit.maximum:
            break
    shown = (change for change in plan.changes if is_shown(change, show_textual=show_textual))
    details = [detail for change in shown if (detail := _details(change))]
    kept = [] if is_cut else _keep_fitting(details, limit, limit.maximum - _RESERVE - limit.size(text))
    left_out = len(details) - len(kept)
    return "\n".join([text, *kept, *_left_out(left_out, is_cut=is_cut)])


def _keep_fitting(details: Sequence[str], limit: LengthLimit, available: int) -> list[str]:
    """Return the details that fit, in their order; the largest are dropped first."""
    sizes = [limit.size(detail) + 1 for detail in details]
    total = sum(sizes)
    dropped = set()
    for index in sorted(range(len(details)), key=lambda index: -sizes[index]):
        if total <= available:
            break
        dropped.add(index)
        total -= sizes[index]
    return [detail for index, detail in enumerate(details) if index not in dropped]


def _head(plan: Plan, *, show_textual: bool) -> str:
    source, target = plan.source, plan.target
    cluster = target.context or target.server
    lines = [
        format_comment("gpupool", source.blueprint, target.uid),
        f"### gpupool: {format_code(source.blueprint[:100])} on {format_code(cluster[:100])}",
        "",
        f"**{format_headline(plan)}**",
        "",
        *_notes(plan, show_textual=show_textual),
    ]
    return "".join(f"{text}\n" for text in lines)


def _notes(plan: Plan, *, show_textual: bool) -> Iterator[str]:
    good = f"good until {format_code(plan.expires_at[:40])}"
    saved = f"plan {format_code(plan.id[:12])}, {good}, {format_signature(plan)}" if plan.id else ""
    commit = f"commit {format_code(plan.source.commit[:50])}" if plan.source.commit else ""
    uid = f"cluster uid {format_code(plan.target.uid[:50])}" if plan.target.uid else ""
    if origin := ", ".join(filter(None, (uid, commit, saved))):
        yield f"{origin[0].upper()}{origin[1:]}."
    if options := format_consent(plan):
        yield ""
        yield f"Consent: {format_code(options[:_MAX_CONSENT])}{'…' * (len(options) > _MAX_CONSENT)}"
    for note in (format_unverified(plan), "" if show_textual else format_hidden(plan)):
        if note:
            yield ""
            yield note.replace("--show-textual", "`--show-textual`")


def _section(section: Section, cap: int | None) -> str:
    meaning = f": {section.meaning}" if section.meaning else ""
    lines = section.lines if cap is None else section.lines[:cap]
    items = [f"- {format_line(line)}" for line in lines]
    if more := len(section.lines) - len(lines):
        items.append(f"- {'and ' * bool(lines)}{more} more" if lines else f"- {more} of them")
    return "".join(f"{text}\n" for text in (f"**{section.title}**{meaning}", "", *items))


def _details(change: Change) -> str:
    """Return an object's diff, folded; the empty text where it has none."""
    diff = render_diff(change)
    if not diff:
        return ""
    summary = f"{choose_symbol(change)} {format_action(change)} {format_html_code(change.address)}"
    # The summary has the names that the first two lines hold.
    below = diff.split("\n", 2)[2]
    return f"<details><summary>{summary}</summary>\n\n{format_block(below, 'diff')}\n</details>\n"


def _left_out(count: int, *, is_cut: bool) -> Iterator[str]:
    parts = []
    if count:
        parts.append(f"the diffs of {count} object{'s' * (count != 1)}")
    if is_cut:
        parts.append("the end of long lists")
    if parts:
        yield f"Left out for length: {' and '.join(parts)}. The plan file has all: `gpupool show FILE`.\n"
