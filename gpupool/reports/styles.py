"""Colour and weight for a terminal; the one door to rich, opened only where something is coloured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.findings import Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

SEVERITIES: Final[Mapping[Severity, str]] = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.INFO: "bold cyan",
}
FAINT, FIX = "dim", "green"


def styled(text: str, style: str, *, colour: bool) -> str:
    """Return a text in a style of rich's, as in `bold red`; as it is where no colour is wanted."""
    if not (colour and text):
        return text
    from rich.color import ColorSystem
    from rich.style import Style

    return Style.parse(style).render(text, color_system=ColorSystem.STANDARD)
