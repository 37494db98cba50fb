"""Formats of a plan; the module of a format is imported only when it is used."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpupool.planning.plan import Plan


class PlanWriter(Protocol):
    """A function that renders a plan; a format may ignore an option."""

    def __call__(
        self, plan: Plan, *, show_textual: bool = False, colour: bool = False, show_raw: bool = False
    ) -> str:
        """Return the plan as text.

        Optionally with formatting-only changes, terminal colours, and the fields below each summary.
        """


def _render(
    module: str, plan: Plan, *, show_textual: bool = False, colour: bool = False, show_raw: bool = False
) -> str:
    render: PlanWriter = import_module(f"{__package__}.{module}").render_plan
    return render(plan, show_textual=show_textual, colour=colour, show_raw=show_raw)


_MODULES: Final = {
    "text": "text",
    "patch": "patch",
    "json": "json_text",
    "markdown": "markdown",
    "github": "github",
}

FORMATS: Final[Mapping[str, PlanWriter]] = MappingProxyType(
    {name: partial(_render, module) for name, module in _MODULES.items()}
)
"""Functions that render a plan, by the value of `-o`."""
