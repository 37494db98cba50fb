"""A plan for people: a block for each change, what has to be known beside them, and what it comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.reports.escaping import one_line, visible
from gpupool.reports.plan.patch import yaml_lines
from gpupool.reports.plan.sections import Section, sections
from gpupool.reports.plan.wording import (
    action,
    agreed,
    at,
    condition,
    field_line,
    fields_shown,
    headline,
    hidden,
    is_shown,
    node_claims,
    signing,
    symbol,
    unverified,
    verdict,
)
from gpupool.reports.styles import styled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.planning.plan import Change, Plan
    from gpupool.reports.plan.sections import Line

_INDENT: Final = "    "
_COLOURS: Final = {"+": "green", "~": "yellow", "-": "bold red", "!": "bold magenta", "=": "dim"}
_BOLD: Final = "bold"


class _Style(NamedTuple):
    """How lines are dressed."""

    colour: bool

    def line(self, said: str, style: str = "") -> str:
        """Return a line, coloured where that is asked for."""
        return f"{styled(said, style, colour=self.colour and bool(style))}\n"


def document(plan: Plan, *, show_textual: bool = False, colour: bool = False) -> str:
    """Return the plan; one that changes nothing is one sentence, and what is worth knowing all the same."""
    style = _Style(colour)
    blocks = [
        "".join(_block(plan, each, style, show_textual=show_textual))
        for each in plan.changes
        if is_shown(each, show_textual=show_textual)
    ]
    blocks += ["".join(_section(each, style)) for each in sections(plan) if not each.is_in_blocks]
    blocks.append("".join(_end(plan, style, show_textual=show_textual)))
    head = [] if verdict(plan) == "none" else ["".join(f"{line}\n" for line in _head(plan))]
    return "\n".join([*head, *blocks])


def _head(plan: Plan) -> Iterator[str]:
    source, target = plan.source, plan.target
    files = "".join(f", {one_line(name)}" for name in source.files)
    commit = f", commit {one_line(source.commit)}" if source.commit else ""
    yield f"Blueprint  {one_line(source.blueprint)}{files}{commit}"
    context = one_line(target.context) or "no context"
    yield f"Cluster    {context}, {one_line(target.server)}, uid {one_line(target.uid) or 'unknown'}"
    if plan.id:
        yield f"Plan       {one_line(plan.id[:12])}, good until {one_line(plan.expires_at)}, {signing(plan)}"
    if options := agreed(plan):
        yield f"Consent    {one_line(options)}"


def _block(plan: Plan, change: Change, style: _Style, *, show_textual: bool) -> Iterator[str]:
    mark, place = symbol(change), at(change.place)
    beside = _beside(plan, change) if "delete" in change.actions else f"  {place}" if place else ""
    yield style.line(f"{mark} {action(change)} {visible(change.address)}{beside}", _COLOURS[mark])
    for said in (change.reason, change.blocked and f"blocked: {change.blocked}"):
        if said:
            yield style.line(f"{_INDENT}{one_line(said)}")
    if change.force:
        yield style.line(f"{_INDENT}fields of other owners are overwritten, as allowed")
    if change.verified != "server":
        yield style.line(f"{_INDENT}not checked by the API server in a dry run ({change.verified})")
    if "create" in change.actions:
        for line in _created(change):
            yield style.line(f"{_INDENT}+ {line}", _COLOURS["+"])
    for field in fields_shown(change, show_textual=show_textual):
        line = field_line(field)
        yield style.line(f"{_INDENT}{line}", _COLOURS[line[0]] if field.semantic else _COLOURS["="])


def _beside(plan: Plan, change: Change) -> str:
    claims, waits = node_claims(change), condition(plan, change)
    said = ", ".join(filter(None, (f"with {claims}" if claims else "", waits)))
    return f"  {said}" if said else ""


def _created(change: Change) -> Iterator[str]:
    """Return what a new object will hold; its first line, its kind, stands above."""
    after = change.after if isinstance(change.after, dict) else {}
    body = {key: value for key, value in after.items() if key not in {"apiVersion", "kind"}}
    return (line.rstrip("\n") for line in yaml_lines(body or None))


def _section(section: Section, style: _Style) -> Iterator[str]:
    meaning = f": {section.meaning}" if section.meaning else ""
    yield style.line(f"{section.title}{meaning}", _BOLD)
    for line in section.lines:
        yield style.line(f"{_INDENT}{plain(line)}")


def plain(line: Line) -> str:
    """Return a line of a section on one line of text."""
    return "".join(part if isinstance(part, str) else one_line(part.text) for part in line)


def _end(plan: Plan, style: _Style, *, show_textual: bool) -> Iterator[str]:
    cluster = one_line(plan.target.context or plan.target.server)
    names = f"cluster {cluster}", f"blueprint {one_line(plan.source.blueprint)}"
    yield style.line(headline(plan, *names), _BOLD)
    if (left_out := hidden(plan)) and not show_textual:
        yield style.line(left_out)
    if said := unverified(plan):
        yield style.line(said)
