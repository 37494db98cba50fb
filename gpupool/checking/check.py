"""Offline validation of blueprints and manifests.

Modules are imported when they are needed: checking manifests does not import the blueprint's.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gpupool.checking.report import CheckedObject, Report, Skipped
from gpupool.codes import Code
from gpupool.errors import InputError
from gpupool.findings import Finding, Location, has_errors, in_file_order, merge_findings

if TYPE_CHECKING:
    from gpupool.manifests.result import Manifests, OwnFile
    from gpupool.scheduling.naming.names import Names

_STDIN = "-"
_UNKNOWN_KIND = frozenset({Code.OLD_VERSION, Code.UNKNOWN_VERSION})
_Result: TypeAlias = tuple[list[CheckedObject], Sequence[Finding]]


class ValidationRequest(NamedTuple):
    """The files to validate, and the options."""

    paths: Sequence[str]
    """Manifests and blueprints; a folder includes all files in it."""

    blueprint: Sequence[str]
    """The files of one layered blueprint, in order; may be empty."""

    target: str | None
    """The Karpenter version for manifests; None for the latest. A blueprint sets its own."""

    allow_empty: bool


def check_files(request: ValidationRequest, stdin: Callable[[], bytes], *, strict: bool) -> Report:
    """Check all files of a request; `stdin` is read where `-` is among the paths."""
    manifests = _read_manifests(request.paths, stdin)
    results = [
        *([_check_blueprint(request.blueprint)] if request.blueprint else []),
        *_check_objects(manifests, request.target),
        (_list_rejected(manifests.findings), ()),
        *(_check_own_file(file) for file in manifests.own_files),
    ]
    findings = [*manifests.findings, *(finding for result in results for finding in result[1])]
    checked = [item for result in results for item in result[0]]
    if not (checked or request.allow_empty or has_errors(findings)):
        findings.append(_report_nothing(request.paths))
    files = tuple(dict.fromkeys((*request.blueprint, *manifests.files)))
    order = {file: index for index, file in enumerate(files)}
    return Report(
        merge_findings(in_file_order(findings, files)),
        files,
        tuple(sorted(checked, key=lambda item: (order.get(item.at.file, 0), item.at))),
        documents=manifests.documents + len(request.blueprint),
        other_kinds=_count_other_kinds(manifests, checked),
        skipped=tuple(Skipped(entry.at, entry.reason) for entry in manifests.skipped),
        strict=strict,
    )


def _read_manifests(paths: Sequence[str], stdin: Callable[[], bytes]) -> "Manifests":
    from gpupool.manifests.result import Manifests

    if not paths:
        return Manifests()
    from gpupool.manifests.read import read_manifests

    return read_manifests(paths, stdin)


def _check_blueprint(files: Sequence[str]) -> _Result:
    from gpupool.rendering.render import render_files

    at = Location(files[0])
    try:
        rendered = render_files(files)
    except InputError as problem:
        return [CheckedObject("Blueprint", "", at)], problem.findings
    return [CheckedObject("Blueprint", rendered.name, at)], rendered.findings


def _check_objects(manifests: "Manifests", target: str | None) -> list[_Result]:
    if not manifests.objects:
        return []
    from gpupool.karpenter.validation.check import check, get_object_name
    from gpupool.karpenter.versions import LATEST
    from gpupool.scheduling.naming.checks import check_manifest_names

    results: list[_Result] = []
    placeholders = {finding.at for finding in manifests.findings if finding.code == Code.PLACEHOLDER}
    names = _load_shipped_names()
    for item in manifests.objects:
        findings = check(item.kind, item.body, target or LATEST)
        places = {finding.at for finding in findings}
        findings += (
            finding
            for finding in check_manifest_names(names, item.kind, item.body)
            if finding.at not in places
        )
        # An error in an unrendered placeholder may disappear once the template is rendered.
        reported = [finding for finding in findings if finding.at not in placeholders]
        results.append(([CheckedObject(item.kind, get_object_name(item.body), item.at)], reported))
    return results


def _load_shipped_names() -> "Names":
    """Return the names in the shipped catalogue, so that findings are the same on every computer."""
    from gpupool.catalogue.load import load_shipped
    from gpupool.scheduling.naming.names import Names
    from gpupool.scheduling.types.typemasks import TypeMasks

    return Names(TypeMasks(load_shipped()))


def _check_own_file(file: "OwnFile") -> _Result:
    if file.path == _STDIN:
        message = f"a {(file.kind or 'blueprint').lower()} can't be read here from standard input"
        fix = "pass its file" if file.kind == "Profile" else "run `gpupool validate -f -`"
        return [], [Finding(Code.NOT_THE_KIND, message, Location(file.path), fix)]
    return _check_profile(file) if file.kind == "Profile" else _check_blueprint([file.path])


def _check_profile(file: "OwnFile") -> _Result:
    from gpupool.profiles.load import Profiles
    from gpupool.yamlio.located import Located

    profiles, at = Profiles((file.path,)), Location(file.path)
    profiles.resolve(Located(file.path if "/" in file.path else f"./{file.path}", at))
    return [CheckedObject("Profile", file.name, at)], profiles.findings


def _report_nothing(paths: Sequence[str]) -> Finding:
    message = "nothing to check: no NodePool, EC2NodeClass, NodeOverlay or blueprint found"
    fix = "pass other files, or add `--allow-empty`"
    return Finding(Code.NO_KARPENTER_OBJECT, message, Location(paths[0]), fix)


def _list_rejected(findings: Sequence[Finding]) -> list[CheckedObject]:
    """Return the objects of Karpenter's API groups with an unknown kind or version."""
    rejected = []
    for finding in findings:
        if finding.code in _UNKNOWN_KIND and finding.path in {"apiVersion", "kind"}:
            kind, _, name = finding.object.partition("/")
            rejected.append(CheckedObject(kind, name, finding.at))
    return rejected


def _count_other_kinds(manifests: "Manifests", checked: Sequence[CheckedObject]) -> dict[str, int]:
    counts = Counter(manifests.kinds)
    counts.subtract(item.kind for item in checked)
    return {kind: count for kind, count in counts.items() if count > 0}
