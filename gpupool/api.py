"""The few verbs of gpupool, for Python users and for the command line."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from gpupool.blueprint.load import load
from gpupool.blueprint.model import Blueprint
from gpupool.codes import Code
from gpupool.errors import InputError, StaleError, UsageError
from gpupool.expansion.expand import expand
from gpupool.findings import Finding, Location
from gpupool.profiles.model import Profile
from gpupool.rendering import folder as folders
from gpupool.rendering.render import Rendered, render
from gpupool.shapes.docs import json_schema

if TYPE_CHECKING:
    from gpupool.rendering.starter import Starter

_SCHEMAS: dict[str, type[BaseModel]] = {"blueprint": Blueprint, "profile": Profile}


def render_files(paths: Sequence[str]) -> Rendered:
    """Read blueprint files, later ones over earlier ones, and render them.

    Raises:
        InputError: with every mistake found, in file order.
    """
    return render(expand(load(paths)))


def write_folder(rendered: Rendered, folder: Path) -> None:
    """Make a folder hold what was rendered, and nothing older of the same blueprint.

    Raises:
        InputError: where a file that gpupool did not write is in the way; nothing is written then.
    """
    folders.write(rendered.files(), folder, rendered.name)


def check_folder(rendered: Rendered, folder: Path) -> None:
    """Compare a folder with what was rendered.

    Raises:
        StaleError: with the names of the files that differ, are missing or are left over.
    """
    if stale := folders.stale(rendered.files(), folder, rendered.name):
        raise StaleError(stale)


def chart_values(rendered: Rendered, chart: str) -> str:
    """Give one chart's values file.

    Raises:
        UsageError: where the blueprint renders no values for that chart.
    """
    for release in rendered.releases:
        if release.chart == chart:
            return rendered.values_text(release)
    known = ", ".join(release.chart for release in rendered.releases) or "none"
    message = f"this blueprint renders no values for a chart `{chart}`; it has: {known}"
    raise UsageError(message)


def schema_text(what: str) -> str:
    """Give the JSON Schema of a `blueprint` or a `profile` as text."""
    return json.dumps(json_schema(_SCHEMAS[what]), indent=2) + "\n"


def write_starter(path: Path, starter: "Starter", *, force: bool) -> None:
    """Write the starter blueprint.

    Raises:
        InputError: where a file of that name is there already.
    """
    from gpupool.rendering.starter import starter_text

    if path.exists() and not force:
        fix = "name another file, or overwrite it with --force"
        raise InputError(
            [Finding(Code.IN_THE_WAY, "there is a file of this name already", Location(str(path)), fix)]
        )
    folders.write_whole(path, starter_text(starter))
