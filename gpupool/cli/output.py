"""The one place that says what went wrong: findings and errors, on standard error."""

import io
import re
import sys
from collections.abc import Iterable

from gpupool.errors import GpupoolError, InputError, StaleError
from gpupool.findings import Finding, Location
from gpupool.reports import text

_LONGEST = 1_000
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Controls, line breaks and what turns the direction of writing: a value must not steer a terminal."""


def make_stdout_utf8() -> None:
    """Write the same bytes whatever the locale says: YAML and JSON are UTF-8, with LF."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def say(findings: Iterable[Finding]) -> None:
    """Write findings, each part of one on one line."""
    sys.stderr.write(text.findings(_seemly(finding) for finding in findings))


def fail(problem: GpupoolError) -> None:
    """Write an error that ends the command, with what it carries."""
    if isinstance(problem, InputError):
        say(problem.findings)
    if isinstance(problem, StaleError):
        sys.stderr.write("".join(f"{one_line(name)}\n" for name in problem.names))
    sys.stderr.write(f"error: {one_line(str(problem))}\n")


def one_line(words: str) -> str:
    """Escape what can't be seen and shorten what nobody would read; values end up in messages."""
    shown = _UNSEEN.sub(_escaped, words[:_LONGEST])
    return f"{shown}…" if len(words) > _LONGEST else shown


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def _seemly(finding: Finding) -> Finding:
    at = Location(one_line(finding.at.file), finding.at.line, finding.at.column)
    return finding._replace(message=one_line(finding.message), fix=one_line(finding.fix), at=at)
