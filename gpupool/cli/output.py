"""The one place that writes: results where they were asked for, findings and errors on standard error."""

import os
import stat
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from gpupool.cli import verbosity
from gpupool.cli.options import Output
from gpupool.cli.terminal import find_columns, has_colour
from gpupool.errors import GpupoolError, InputError, StaleError
from gpupool.findings import Finding, Severity, merged
from gpupool.reports import finding_text
from gpupool.reports.escaping import in_json, one_line
from gpupool.reports.styles import SEVERITIES, styled


def render_json(value: object) -> str:
    """Write a result as JSON for people to read too."""
    import json

    return in_json(json.dumps(value, indent=2, ensure_ascii=False)) + "\n"


def print_findings(findings: Sequence[Finding]) -> None:
    """Write findings, each part of one on one line; of infos their number, unless `-v` asks for them."""
    shown = merged(each for each in findings if verbosity.is_shown(each.severity))
    sys.stderr.write(finding_text.findings(shown, colour=has_colour(sys.stderr)))
    notes = merged(each for each in findings if each.severity is Severity.INFO)
    if notes and not verbosity.is_shown(Severity.INFO) and verbosity.is_shown(Severity.WARNING):
        number = f"{len(notes)} note{'s' * (len(notes) != 1)}"
        sys.stderr.write(
            f"{number}; to read {'them' if len(notes) > 1 else 'it'}, run gpupool validate or add -v\n"
        )


def print_error(problem: GpupoolError) -> None:
    """Write an error that ends the command, with what it carries."""
    colour = has_colour(sys.stderr)
    if isinstance(problem, InputError):
        shown = merged(each for each in problem.findings if verbosity.is_shown(each.severity))
        sys.stderr.write(finding_text.findings(shown, colour=colour))
    if isinstance(problem, StaleError):
        sys.stderr.write("".join(f"{one_line(name)}\n" for name in problem.names))
    head = styled("error:", SEVERITIES[Severity.ERROR], colour=colour)
    sys.stderr.write(f"{head} {one_line(str(problem))}\n")


def find_width(outputs: Sequence[Output]) -> int | None:
    """Return the terminal's width for a text on standard output; a file and a pipe have none."""
    return find_columns(sys.stdout) if any(each == Output("text", None) for each in outputs) else None


def write_outputs(
    outputs: Sequence[Output], document: Callable[[str], str], *, is_private: bool = False
) -> None:
    """Write a result in each format to its place, standard output first; private files for their owner alone.

    Raises:
        InputError: where a file can't be written.
    """
    for output in sorted(outputs, key=lambda each: each.path is not None):
        text = document(output.format)
        if output.path is None:
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            write_file(output.path, text, is_private=is_private)


def write_file(path: Path, content: str | bytes, *, is_private: bool = False) -> None:
    """Write a file whole or not at all, or into what is there if that is no file.

    A private one is for its owner alone, whatever it was before, also where a link leads to it.

    Raises:
        InputError: where it can't be written.
    """
    from gpupool.rendering.folder import write_atomically

    if path.is_symlink() or (path.exists() and not path.is_file()):
        # A link is written through, and a pipe or a device has no place that a file could be moved to.
        opener = _open_private if is_private else None
        with open(path, "wb", opener=opener) as file:
            file.write(content.encode() if isinstance(content, str) else content)
    else:
        write_atomically(path, content, is_private=is_private)


def _open_private(path: str, flags: int) -> int:
    """Open a file that only its owner may read; a pipe or a device stays as it is."""
    handle = os.open(path, flags, 0o600)
    try:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            os.fchmod(handle, 0o600)
    except BaseException:
        os.close(handle)
        raise
    return handle
