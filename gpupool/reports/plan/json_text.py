"""A plan as JSON, the format of plan files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpupool.planning import file
from gpupool.reports.escaping import in_json

if TYPE_CHECKING:
    from gpupool.planning.plan import Plan


def render_plan(
    plan: Plan, *, show_textual: bool = False, colour: bool = False, show_raw: bool = False
) -> str:
    """Return the text of a plan file, which `show` and `apply` read; it always holds all changes."""
    del show_textual, colour, show_raw
    return in_json(file.render_plan(plan))
