"""Writing of results to standard output and files, and of findings and errors to standard error."""

import os
import stat
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from gpupool.cli import verbosity
from gpupool.cli.options import Output
from gpupool.cli.terminal import find_columns, has_colour
from gpupool.errors import GpupoolError, InputError, StaleError
from gpupool.findings import Finding, Severity, merge_findings
from gpupool.reports import finding_text
from gpupool.reports.escaping import in_json, one_line
from gpupool.reports.styles import SEVERITIES, apply_style


def render_json(value: object) -> str:
    """Render a result as indented JSON."""
    import json

    return in_json(json.dumps(value, indent=2, ensure_ascii=False)) + "\n"


def print_findings(findings: Sequence[Finding]) -> None:
    """Print findings on standard error; without `-v`, print only the number of infos."""
    shown = merge_findings(finding for finding in findings if verbosity.is_shown(finding.severity))
    sys.stderr.write(finding_text.render_findings(shown, colour=has_colour(sys.stderr)))
    notes = merge_findings(finding for finding in findings if finding.severity is Severity.INFO)
    if notes and not verbosity.is_shown(Severity.INFO) and verbosity.is_shown(Severity.WARNING):
        number = f"{len(notes)} note{'s' * (len(notes) != 1)}"
        sys.stderr.write(
            f"{number}; to read {'them' if len(notes) > 1 else 'it'}, run gpupool validate or add -v\n"
        )


def print_error(problem: GpupoolError) -> None:
    """Print an error that ends the command, with its findings or stale files."""
    colour = has_colour(sys.stderr)
    if isinstance(problem, InputError):
        shown = merge_findings(
            finding for finding in problem.findings if verbosity.is_shown(finding.severity)
        )
        sys.stderr.write(finding_text.render_findings(shown, colour=colour))
    if isinstance(problem, StaleError):
        sys.stderr.write("".join(f"{one_line(name)}\n" for name in problem.names))
    head = apply_style("error:", SEVERITIES[Severity.ERROR], colour=colour)
    sys.stderr.write(f"{head} {one_line(str(problem))}\n")


def find_width(outputs: Sequence[Output]) -> int | None:
    """Return the terminal's width if text is written to it; None for a file or a pipe."""
    return find_columns(sys.stdout) if any(output == Output("text", None) for output in outputs) else None


def write_outputs(
    outputs: Sequence[Output], document: Callable[[str], str], *, is_private: bool = False
) -> None:
    """Write a result in each format, standard output first; only the owner can read a private file.

    Raises:
        InputError: if a file cannot be written.
    """
    for output in sorted(outputs, key=lambda output: output.path is not None):
        text = document(output.format)
        if output.path is None:
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            write_file(output.path, text, is_private=is_private)


def write_file(path: Path, content: str | bytes, *, is_private: bool = False) -> None:
    """Write a file atomically; a link, pipe or device is written in place.

    Only the owner can read a private file, whatever its mode was, also if it is written through a link.

    Raises:
        InputError: if it cannot be written.
    """
    from gpupool.rendering.folder import write_atomically

    if path.is_symlink() or (path.exists() and not path.is_file()):
        # Replacing a link, a pipe or a device by a file would break whatever uses it.
        opener = _open_private if is_private else None
        with open(path, "wb", opener=opener) as file:
            file.write(content.encode() if isinstance(content, str) else content)
    else:
        write_atomically(path, content, is_private=is_private)


def _open_private(path: str, flags: int) -> int:
    """Open a file, and restrict it to its owner; a pipe or a device keeps its mode."""
    handle = os.open(path, flags, 0o600)
    try:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            os.fchmod(handle, 0o600)
    except BaseException:
        os.close(handle)
        raise
    return handle
