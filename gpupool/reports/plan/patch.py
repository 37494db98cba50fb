"""A plan as a unified diff: one file for each object, as `diff -u` writes it and `patch -p1` reads it."""

from __future__ import annotations

import json
import re
from difflib import unified_diff
from typing import TYPE_CHECKING, Any, Final

from gpupool.reports.plan.wording import is_shown
from gpupool.yamlio.write import dump

if TYPE_CHECKING:
    from gpupool.planning.plan import Change, Plan

_NOWHERE: Final = "/dev/null"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]|^\.+")


def render_plan(plan: Plan, *, show_textual: bool = False, colour: bool = False) -> str:
    """Return what changes in each object; nothing at all where nothing does."""
    del colour
    return "".join(render_diff(each) for each in plan.changes if is_shown(each, show_textual=show_textual))


def render_diff(change: Change) -> str:
    """Return what changes in one object; nothing where the plan does not know what it would be."""
    is_new, is_gone = "create" in change.actions, "delete" in change.actions
    if (change.before is None and not is_new) or (change.after is None and not is_gone):
        return ""
    name = _name(change.address)
    return "".join(
        unified_diff(
            [] if is_new else to_yaml_lines(change.before),
            [] if is_gone else to_yaml_lines(change.after),
            _NOWHERE if is_new else f"live/{name}",
            _NOWHERE if is_gone else f"blueprint/{name}",
        )
    )


def to_yaml_lines(value: Any) -> list[str]:  # noqa: ANN401 - whatever an object holds
    """Return an object as lines of YAML, or of JSON where YAML's readers would not agree on a number."""
    if value is None:
        return []
    try:
        written = dump(value)
    except ValueError:
        written = json.dumps(value, indent=2) + "\n"
    return [f"{line}\n" for line in written.split("\n")[:-1]]


def _name(address: str) -> str:
    """Return a name that a file can have, whatever stands in a plan file."""
    return "/".join(_UNSAFE.sub("_", part) or "_" for part in address.split("/", 1))
