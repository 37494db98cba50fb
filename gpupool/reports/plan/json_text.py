"""A plan as JSON: the text of its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpupool.planning.file import render_plan
from gpupool.reports.escaping import in_json

if TYPE_CHECKING:
    from gpupool.planning.plan import Plan


def document(plan: Plan, *, show_textual: bool = False, colour: bool = False) -> str:
    """Return the plan file, which `show` and `apply` read back; it always holds all."""
    del show_textual, colour
    return in_json(render_plan(plan))
