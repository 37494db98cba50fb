"""Colours and bold text for a terminal; rich is imported only where text is coloured."""

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


def apply_style(text: str, style: str, *, colour: bool) -> str:
    """Return a text in one of rich's styles, such as `bold red`; unchanged without colour."""
    if not (colour and text):
        return text
    from rich.color import ColorSystem
    from rich.style import Style

    return Style.parse(style).render(text, color_system=ColorSystem.STANDARD)
