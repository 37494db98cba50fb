"""Options that several commands share, and the parsing of their values."""

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple, TypeAlias

import typer

from gpupool.cli import completion_values
from gpupool.errors import UsageError
from gpupool.reports.validate.choice import FORMATS

DEFAULT_FILE = "gpupool.yaml"
_STDIN = "-"

Files: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--file", "-f", metavar="FILE", show_default=False,
        help="Blueprint file; repeat it to overlay later files. `-` reads standard input."
        f" [default: {DEFAULT_FILE}]",
    ),
]  # fmt: skip
Folder: TypeAlias = Annotated[
    str | None,
    typer.Option("--dir", "-d", metavar="DIR", help="Output folder, with one file for each object."),
]
Target: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--karpenter",
        metavar="VERSION",
        help="Karpenter version, 1.9 to 1.14. [default: 1.14]",
        autocompletion=completion_values.list_karpenter_versions,
    ),
]
Outputs: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--output", "-o", metavar="FORMAT[=PATH]", show_default=False,
        help=f"Output format: {', '.join(FORMATS)}; with =PATH, a file. Repeat it for several.",
        autocompletion=completion_values.list_values(*FORMATS),
    ),
]  # fmt: skip

OtherManifests: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--manifests", metavar="PATH", show_default=False,
        help="NodePool and EC2NodeClass manifests instead of a blueprint; repeat it for more.",
    ),
]  # fmt: skip
RegionOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--region",
        metavar="REGION",
        help="AWS region. [default: the blueprint's]",
        autocompletion=completion_values.list_regions,
    ),
]
TEXT_OR_JSON = ("text", "json")
ResultOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--output", "-o", metavar="FORMAT[=PATH]", show_default=False,
        help="Output format: text, json; with =PATH, a file. Repeat it for several.",
        autocompletion=completion_values.list_result_formats,
    ),
]  # fmt: skip

PLAN_FORMATS = ("text", "patch", "json", "markdown", "github")
PlanOutputs: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--output", "-o", metavar="FORMAT[=PATH]", show_default=False,
        help=f"Output format: {', '.join(PLAN_FORMATS)}; with =PATH, a file. Repeat it for several.",
        autocompletion=completion_values.list_values(*PLAN_FORMATS),
    ),
]  # fmt: skip

VerifyKey: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--verify-key",
        metavar="FILE",
        help="Ed25519 public key (PEM); plans without its signature are rejected.",
    ),
]


class Output(NamedTuple):
    """One format of a result, and the file to write it to."""

    format: str
    path: Path | None
    """None for standard output."""


def parse_outputs(texts: Sequence[str] | None, formats: Collection[str] = tuple(FORMATS)) -> list[Output]:
    """Parse `FORMAT` and `FORMAT=PATH`; without any, text is printed.

    Raises:
        UsageError: for an unknown format, an empty path, or two results in one file.
    """
    parsed = [_parse_output(text, formats) for text in texts or ("text",)]
    for path, count in Counter(output.path for output in parsed).items():
        if count > 1:
            where = "standard output" if path is None else f"`{path}`"
            message = (
                f"-o sends {count} results to {where}; give each its own place, as in -o json=report.json"
            )
            raise UsageError(message)
    return parsed


def parse_plan_outputs(texts: Sequence[str] | None) -> list[Output]:
    """Parse the formats in which a plan is shown.

    Raises:
        UsageError: as `parse_outputs` does.
    """
    return parse_outputs(texts, PLAN_FORMATS)


def _parse_output(text: str, formats: Collection[str]) -> Output:
    name, equals, path = text.partition("=")
    if name not in formats:
        message = f"-o: unknown format `{name}`; use one of {', '.join(formats)}"
        raise UsageError(message)
    if equals and not path:
        message = f"`-o {text}`: the file after `=` is missing"
        raise UsageError(message)
    return Output(name, Path(path) if equals and path != "-" else None)


def ensure_stdin_once(paths: Sequence[str]) -> None:
    """Check that standard input is read only once.

    Raises:
        UsageError: if `-` appears twice.
    """
    if list(paths).count(_STDIN) > 1:
        message = "standard input can be read only once: remove one `-`"
        raise UsageError(message)


def parse_target(version: str | None) -> str:
    """Parse a minor version of Karpenter; without one, return the latest.

    Raises:
        UsageError: for an unsupported version.
    """
    from gpupool.karpenter.versions import LATEST, TARGETS, parse_minor

    try:
        target = LATEST if version is None else str(parse_minor(version))
    except ValueError:
        target = ""
    if target not in TARGETS:
        message = f"--karpenter {version}: unsupported version; use one of {', '.join(TARGETS)}"
        raise UsageError(message)
    return target


def parse_folder(folder: str | None) -> Path | None:
    """Parse a folder's path; an empty one, as of an unset variable of a script, is an error.

    Raises:
        UsageError: for an empty path, which would mean the current folder.
    """
    if folder == "":
        message = "-d is empty; for the current folder, pass `-d .`"
        raise UsageError(message)
    return None if folder is None else Path(folder)


def files_or_default(files: list[str] | None) -> list[str]:
    """Return the blueprint files of the command line, or the default one."""
    return files or [DEFAULT_FILE]
