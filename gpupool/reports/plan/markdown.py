"""A plan as the comment of a pull request, which has an end: what is grave comes first and is cut last."""

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
"""Characters; GitHub takes 65,536 in a comment, and something may be written around this one."""

_RESERVE: Final = 500
"""For the words on what was left out."""

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
"""How many lines a section has at most where all is too much: one that is not essential, one that is."""


_LONGEST_CONSENT: Final = 2000


class LengthLimit(NamedTuple):
    """How long a text may be, and how that is measured."""

    most: int
    size: Callable[[str], int]


def render_plan(plan: Plan, *, show_textual: bool = False, colour: bool = False) -> str:
    """Return the comment: a hidden mark to find it by, the verdict, what is grave, then each object's diff."""
    del colour
    return render_within(plan, LengthLimit(MAX_CHARACTERS, len), show_textual=show_textual)


def render_within(plan: Plan, room: LengthLimit, *, show_textual: bool = False) -> str:
    """Return as much of a plan as there is room for: diffs go first, the largest before the others."""
    head = _head(plan, show_textual=show_textual)
    found = collect_sections(plan)
    told, is_cut = head, False
    for cap, essential_cap in _CAPS:
        parts = [_section(each, essential_cap if each.is_essential else cap) for each in found]
        told, is_cut = "\n".join([head, *parts]), cap is not None
        if room.size(told) + _RESERVE <= room.most:
            break
    details = [_details(each) for each in plan.changes if is_shown(each, show_textual=show_textual)]
    details = [each for each in details if each]
    kept = [] if is_cut else _kept(details, room, room.most - _RESERVE - room.size(told))
    left_out = len(details) - len(kept)
    return "\n".join([told, *kept, *_left_out(left_out, is_cut=is_cut)])


def _kept(details: Sequence[str], room: LengthLimit, left: int) -> list[str]:
    """Return what there is room for, in its order; of those that are too much the largest go first."""
    sizes = [room.size(each) + 1 for each in details]
    total = sum(sizes)
    gone = set()
    for index in sorted(range(len(details)), key=lambda index: -sizes[index]):
        if total <= left:
            break
        gone.add(index)
        total -= sizes[index]
    return [each for index, each in enumerate(details) if index not in gone]


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
    return "".join(f"{each}\n" for each in lines)


def _notes(plan: Plan, *, show_textual: bool) -> Iterator[str]:
    good = f"good until {format_code(plan.expires_at[:40])}"
    saved = f"plan {format_code(plan.id[:12])}, {good}, {format_signature(plan)}" if plan.id else ""
    commit = f"commit {format_code(plan.source.commit[:50])}" if plan.source.commit else ""
    uid = f"cluster uid {format_code(plan.target.uid[:50])}" if plan.target.uid else ""
    if said := ", ".join(filter(None, (uid, commit, saved))):
        yield f"{said[0].upper()}{said[1:]}."
    if options := format_consent(plan):
        yield ""
        yield f"Consent: {format_code(options[:_LONGEST_CONSENT])}{'…' * (len(options) > _LONGEST_CONSENT)}"
    for said in (format_unverified(plan), "" if show_textual else format_hidden(plan)):
        if said:
            yield ""
            yield said.replace("--show-textual", "`--show-textual`")


def _section(section: Section, cap: int | None) -> str:
    meaning = f": {section.meaning}" if section.meaning else ""
    lines = section.lines if cap is None else section.lines[:cap]
    made = [f"- {format_line(each)}" for each in lines]
    if more := len(section.lines) - len(lines):
        made.append(f"- {'and ' * bool(lines)}{more} more" if lines else f"- {more} of them")
    return "".join(f"{each}\n" for each in (f"**{section.title}**{meaning}", "", *made))


def _details(change: Change) -> str:
    """Return an object's diff, closed until somebody opens it; nothing where there is none."""
    changed = render_diff(change)
    if not changed:
        return ""
    summary = f"{choose_symbol(change)} {format_action(change)} {format_html_code(change.address)}"
    # The names are in the summary already.
    below = changed.split("\n", 2)[2]
    return f"<details><summary>{summary}</summary>\n\n{format_block(below, 'diff')}\n</details>\n"


def _left_out(count: int, *, is_cut: bool) -> Iterator[str]:
    said = []
    if count:
        said.append(f"the diffs of {count} object{'s' * (count != 1)}")
    if is_cut:
        said.append("the end of long lists")
    if said:
        yield f"Left out for length: {' and '.join(said)}. The plan file has all: `gpupool show FILE`.\n"
