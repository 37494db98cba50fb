"""Which formats a plan is written in; each is imported only when it is asked for."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpupool.planning.plan import Plan


class PlanWriter(Protocol):
    """How a plan is written; a format that has no use for an option leaves it unused."""

    def __call__(self, plan: Plan, *, show_textual: bool = False, colour: bool = False) -> str:
        """Return the text: with changes in words only, and with colours for a terminal, where that is asked."""


def _write(module: str, plan: Plan, *, show_textual: bool = False, colour: bool = False) -> str:
    render: PlanWriter = import_module(f"{__package__}.{module}").render_plan
    return render(plan, show_textual=show_textual, colour=colour)


_MODULES: Final = {
    "text": "text",
    "patch": "patch",
    "json": "json_text",
    "markdown": "markdown",
    "github": "github",
}

FORMATS: Final[Mapping[str, PlanWriter]] = MappingProxyType(
    {name: partial(_write, module) for name, module in _MODULES.items()}
)
"""How a plan is written, by the name that a user gives."""
