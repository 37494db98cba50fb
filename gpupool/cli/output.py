"""The one place that says what went wrong: findings and errors, on standard error."""

import io
import sys
from collections.abc import Iterable

from gpupool.errors import GpupoolError, InputError, StaleError
from gpupool.findings import Finding
from gpupool.reports import text
from gpupool.reports.escaping import one_line


def make_stdout_utf8() -> None:
    """Write the same bytes whatever the locale says: YAML and JSON are UTF-8, with LF."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def say(findings: Iterable[Finding]) -> None:
    """Write findings, each part of one on one line."""
    sys.stderr.write(text.findings(findings))


def fail(problem: GpupoolError) -> None:
    """Write an error that ends the command, with what it carries."""
    if isinstance(problem, InputError):
        say(problem.findings)
    if isinstance(problem, StaleError):
        sys.stderr.write("".join(f"{one_line(name)}\n" for name in problem.names))
    sys.stderr.write(f"error: {one_line(str(problem))}\n")
