"""A plan as text: a block for each change, the sections, and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.reports.escaping import one_line, visible
from gpupool.reports.plan.patch import to_yaml_lines
from gpupool.reports.plan.sections import Section, collect_sections
from gpupool.reports.plan.wording import (
    choose_symbol,
    find_lines,
    find_verdict,
    format_action,
    format_condition,
    format_consent,
    format_headline,
    format_hidden,
    format_node_claims,
    format_place,
    format_signature,
    format_summarized,
    format_unverified,
    is_shown,
)
from gpupool.reports.styles import apply_style

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.planning.plan import Change, Plan
    from gpupool.reports.plan.sections import SectionLine

_INDENT: Final = "    "
_COLOURS: Final = {"+": "green", "~": "yellow", "-": "bold red", "!": "bold magenta", "=": "dim"}
_BOLD: Final = "bold"


class _Style(NamedTuple):
    """Style of the lines."""

    colour: bool

    def line(self, text: str, style: str = "") -> str:
        """Return a line, in a style where colour is on."""
        return f"{apply_style(text, style, colour=self.colour and bool(style))}\n"


class _Options(NamedTuple):
    """What is shown of a plan's changes."""

    show_textual: bool
    show_raw: bool


def render_plan(
    plan: Plan, *, show_textual: bool = False, colour: bool = False, show_raw: bool = False
) -> str:
    """Return the plan; one without changes is its sections and one sentence."""
    style, options = _Style(colour), _Options(show_textual, show_raw)
    blocks = [
        "".join(_block(plan, change, style, options))
        for change in plan.changes
        if is_shown(change, show_textual=show_textual)
    ]
    blocks += [
        "".join(_section(section, style)) for section in collect_sections(plan) if not section.is_in_blocks
    ]
    blocks.append("".join(_end(plan, style, options)))
    head = [] if find_verdict(plan) == "none" else ["".join(f"{line}\n" for line in _head(plan))]
    return "\n".join([*head, *blocks])


def _head(plan: Plan) -> Iterator[str]:
    source, target = plan.source, plan.target
    files = "".join(f", {one_line(name)}" for name in source.files)
    commit = f", commit {one_line(source.commit)}" if source.commit else ""
    yield f"Blueprint  {one_line(source.blueprint)}{files}{commit}"
    context = one_line(target.context) or "no context"
    yield f"Cluster    {context}, {one_line(target.server)}, uid {one_line(target.uid) or 'unknown'}"
    if plan.id:
        expiry = f"good until {one_line(plan.expires_at)}"
        yield f"Plan       {one_line(plan.id[:12])}, {expiry}, {format_signature(plan)}"
    if options := format_consent(plan):
        yield f"Consent    {one_line(options)}"


def _block(plan: Plan, change: Change, style: _Style, options: _Options) -> Iterator[str]:
    mark, place = choose_symbol(change), format_place(change.place)
    beside = _deletion_details(plan, change) if "delete" in change.actions else f"  {place}" if place else ""
    yield style.line(f"{mark} {format_action(change)} {visible(change.address)}{beside}", _COLOURS[mark])
    for note in (change.reason, change.blocked and f"blocked: {change.blocked}"):
        if note:
            yield style.line(f"{_INDENT}{one_line(note)}")
    if change.force:
        yield style.line(f"{_INDENT}fields of other owners are overwritten, as allowed")
    if change.verified != "server":
        yield style.line(f"{_INDENT}not checked by the API server in a dry run ({change.verified})")
    if "create" in change.actions:
        for line in _created(change):
            yield style.line(f"{_INDENT}+ {line}", _COLOURS["+"])
    for field in find_lines(change, show_textual=options.show_textual, show_raw=options.show_raw):
        colour = _COLOURS[field.text[0]] if field.is_semantic else _COLOURS["="]
        yield style.line(f"{_INDENT * (2 if field.is_raw else 1)}{field.text}", colour)


def _deletion_details(plan: Plan, change: Change) -> str:
    claims, waits = format_node_claims(change), format_condition(plan, change)
    details = ", ".join(filter(None, (f"with {claims}" if claims else "", waits)))
    return f"  {details}" if details else ""


def _created(change: Change) -> Iterator[str]:
    """Return the lines of a new object without its kind, which the line above has."""
    after = change.after if isinstance(change.after, dict) else {}
    body = {key: value for key, value in after.items() if key not in {"apiVersion", "kind"}}
    return (line.rstrip("\n") for line in to_yaml_lines(body or None))


def _section(section: Section, style: _Style) -> Iterator[str]:
    meaning = f": {section.meaning}" if section.meaning else ""
    yield style.line(f"{section.title}{meaning}", _BOLD)
    for line in section.lines:
        yield style.line(f"{_INDENT}{_render_line(line)}")


def _render_line(line: SectionLine) -> str:
    """Return a line of a section on one line of text."""
    return "".join(part if isinstance(part, str) else one_line(part.text) for part in line)


def _end(plan: Plan, style: _Style, options: _Options) -> Iterator[str]:
    cluster = one_line(plan.target.context or plan.target.server)
    names = f"cluster {cluster}", f"blueprint {one_line(plan.source.blueprint)}"
    yield style.line(format_headline(plan, *names), _BOLD)
    if (left_out := format_hidden(plan)) and not options.show_textual:
        yield style.line(left_out)
    if (summarized := format_summarized(plan)) and not options.show_raw:
        yield style.line(summarized)
    if unverified := format_unverified(plan):
        yield style.line(unverified)
