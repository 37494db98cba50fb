"""Formats of `gpupool validate`; the module of a format is imported only when it is used."""

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from gpupool.checking.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable

FORMATS: Final = MappingProxyType(
    {"text": "text", "json": "json_text", "github": "github", "sarif": "sarif", "junit": "junit"}
)
"""Modules of the formats, by the value of `-o`; each module has a function `render_report`."""


def render_report(report: Report, name: str) -> str:
    """Return a report in one of the `FORMATS`."""
    render: Callable[[Report], str] = import_module(f"{__package__}.{FORMATS[name]}").render_report
    return render(report)
