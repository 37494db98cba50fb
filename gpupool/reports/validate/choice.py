"""Which formats there are; each is imported only when it is asked for."""

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from gpupool.checking.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable

FORMATS: Final = MappingProxyType(
    {"text": "text", "json": "json_text", "github": "github", "sarif": "sarif", "junit": "junit"}
)
"""The module of each format, by the name that a user gives; each has a function `document`."""


def document(report: Report, name: str) -> str:
    """Return a report in one of the `FORMATS`."""
    write: Callable[[Report], str] = import_module(f"{__package__}.{FORMATS[name]}").document
    return write(report)
