"""The few verbs of gpupool, for Python users and for the command line."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pydantic import BaseModel

from gpupool.blueprint.load import STDIN, load
from gpupool.blueprint.model import Blueprint
from gpupool.codes import Code
from gpupool.errors import InputError, StaleError, UsageError
from gpupool.expansion.expand import expand
from gpupool.findings import Finding, Location, has_errors, in_file_order
from gpupool.karpenter.validation.check import check
from gpupool.karpenter.versions import LATEST
from gpupool.manifests.read import read_manifests
from gpupool.manifests.result import KarpenterObject, Manifests, OwnFile
from gpupool.profiles.load import Profiles
from gpupool.profiles.model import Profile
from gpupool.rendering import folder as folders
from gpupool.rendering.render import Rendered, render
from gpupool.reports.report import Checked, Report, Skipped
from gpupool.shapes.docs import json_schema
from gpupool.yamlio.decoding import MAX_BYTES
from gpupool.yamlio.nodes import Node, text_at

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


def validate(
    paths: Sequence[str],
    blueprint: Sequence[str] = (),
    *,
    target: str = LATEST,
    strict: bool = False,
    allow_empty: bool = False,
) -> Report:
    """Check all that can be known offline: manifests and blueprints in `paths`, and one layered blueprint.

    Manifests are held against Karpenter `target`; a blueprint names its own version.
    """
    found = read_manifests(paths, lambda: sys.stdin.buffer.read(MAX_BYTES + 1))
    results = [
        *([_blueprint(blueprint)] if blueprint else []),
        *(_object(each, target) for each in found.objects),
        *(_own_file(each) for each in found.own_files),
    ]
    findings = [*found.findings, *(finding for result in results for finding in result[1])]
    checked = [each for result in results for each in result[0]]
    if not (checked or allow_empty or has_errors(findings)):
        findings.append(_nothing_there(paths))
    files = (*blueprint, *found.files)
    return Report(
        in_file_order(findings, files),
        files,
        tuple(checked),
        documents=found.documents + len(blueprint),
        passed_over=_passed_over(found),
        skipped=tuple(Skipped(each.at, each.reason) for each in found.skipped),
        strict=strict,
    )


def write_karpenter_schemas(folder: Path, target: str = LATEST) -> None:
    """Write JSON Schemas of Karpenter's kinds into a folder, as `GROUP/KIND_VERSION.json`.

    Raises:
        InputError: where the system does not let us write.
    """
    from gpupool.karpenter.schemas import schemas

    for path, text in schemas(target).items():
        folders.write_whole(folder / path, text)


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


_Result: TypeAlias = tuple[list[Checked], Sequence[Finding]]


def _blueprint(files: Sequence[str]) -> _Result:
    at = Location(files[0])
    try:
        rendered = render_files(files)
    except InputError as problem:
        return [Checked("Blueprint", "", at)], problem.findings
    return [Checked("Blueprint", rendered.name, at)], rendered.findings


def _object(found: KarpenterObject, target: str) -> _Result:
    name = found.name or f"{text_at(found.body, 'metadata', 'generateName')}*"
    return [Checked(found.kind, name, found.at)], check(found.kind, found.body, target)


def _own_file(found: OwnFile) -> _Result:
    if found.path == STDIN:
        message = f"a {found.kind.lower()} can't be read here from standard input"
        fix = "write `gpupool validate -f -`" if found.kind == "Blueprint" else "name its file"
        return [], [Finding(Code.NOT_THE_KIND, message, Location(found.path), fix)]
    if found.kind == "Blueprint":
        return _blueprint([found.path])
    profiles = Profiles()
    path = found.path if "/" in found.path else f"./{found.path}"
    profiles.named(Node(path, Location(found.path)))
    return [Checked("Profile", found.name, Location(found.path))], profiles.findings


def _nothing_there(paths: Sequence[str]) -> Finding:
    message = "nothing was checked: there is no NodePool, EC2NodeClass, NodeOverlay or blueprint"
    fix = "name other files, or say --allow-empty where that is all right"
    return Finding(Code.NO_KARPENTER_OBJECT, message, Location(paths[0]), fix)


def _passed_over(found: Manifests) -> dict[str, int]:
    checked = Counter(each.kind for each in found.objects)
    others = {kind: count - checked[kind] for kind, count in found.kinds.items()}
    return {kind: count for kind, count in others.items() if count}
