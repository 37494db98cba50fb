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


def render_plan(
    plan: Plan, *, show_textual: bool = False, colour: bool = False, show_raw: bool = False
) -> str:
    """Return the diffs of all objects; the empty text where nothing changes."""
    del colour, show_raw
    return "".join(
        render_diff(change) for change in plan.changes if is_shown(change, show_textual=show_textual)
    )


def render_diff(change: Change) -> str:
    """Return the diff of one object; the empty text where the plan lacks one of its two states."""
    is_new, is_deleted = "create" in change.actions, "delete" in change.actions
    if (change.before is None and not is_new) or (change.after is None and not is_deleted):
        return ""
    name = _file_name(change.address)
    return "".join(
        unified_diff(
            [] if is_new else to_yaml_lines(change.before),
            [] if is_deleted else to_yaml_lines(change.after),
            _NOWHERE if is_new else f"live/{name}",
            _NOWHERE if is_deleted else f"blueprint/{name}",
        )
    )


def to_yaml_lines(value: Any) -> list[str]:  # noqa: ANN401 - any value of an object
    """Return an object as lines of YAML, or of JSON where YAML's readers would not agree on a number."""
    if value is None:
        return []
    try:
        written = dump(value)
    except ValueError:
        written = json.dumps(value, indent=2) + "\n"
    return [f"{line}\n" for line in written.split("\n")[:-1]]


def _file_name(address: str) -> str:
    """Return a valid file name for an address, which a plan file may hold in any form."""
    return "/".join(_UNSAFE.sub("_", part) or "_" for part in address.split("/", 1))
