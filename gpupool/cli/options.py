"""The options that several commands share, each written once."""

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
    """One format of a result, and where it goes."""

    format: str
    path: Path | None
    """None for standard output."""


def parse_outputs(words: Sequence[str] | None, formats: Collection[str] = tuple(FORMATS)) -> list[Output]:
    """Read `FORMAT` and `FORMAT=PATH`; without any, text is printed.

    Raises:
        UsageError: for an unknown format, a path without a name, or two results in one place.
    """
    found = [_parse_output(word, formats) for word in words or ("text",)]
    for place, count in Counter(each.path for each in found).items():
        if count > 1:
            where = "standard output" if place is None else f"`{place}`"
            message = (
                f"-o sends {count} results to {where}; give each its own place, as in -o json=report.json"
            )
            raise UsageError(message)
    return found


def parse_plan_outputs(words: Sequence[str] | None) -> list[Output]:
    """Read how a plan is to be shown.

    Raises:
        UsageError: as `outputs` does.
    """
    return parse_outputs(words, PLAN_FORMATS)


def _parse_output(word: str, formats: Collection[str]) -> Output:
    name, equals, path = word.partition("=")
    if name not in formats:
        message = f"-o: unknown format `{name}`; use one of {', '.join(formats)}"
        raise UsageError(message)
    if equals and not path:
        message = f"`-o {word}`: the file after `=` is missing"
        raise UsageError(message)
    return Output(name, Path(path) if equals and path != "-" else None)


def ensure_stdin_once(paths: Sequence[str]) -> None:
    """Refuse to read standard input for two things.

    Raises:
        UsageError: where `-` stands twice.
    """
    if list(paths).count(_STDIN) > 1:
        message = "standard input can be read only once: remove one `-`"
        raise UsageError(message)


def parse_target(version: str | None) -> str:
    """Return the Karpenter minor that was named, or the latest.

    Raises:
        UsageError: for a version that gpupool does not know.
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
    """Return the folder that was named; an empty name (an unset variable of a script) is none.

    Raises:
        UsageError: for an empty name, which would be the current folder.
    """
    if folder == "":
        message = "-d is empty; for the current folder, pass `-d .`"
        raise UsageError(message)
    return None if folder is None else Path(folder)


def files_or_default(files: list[str] | None) -> list[str]:
    """Return the files that were named, or the default one."""
    return files or [DEFAULT_FILE]
