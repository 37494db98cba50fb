"""All that can be known offline about blueprints and manifests, as one report.

It imports what it needs when it meets it: to check manifests takes no blueprint.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gpupool.checking.report import CheckedObject, Report, Skipped
from gpupool.codes import Code
from gpupool.errors import InputError
from gpupool.findings import Finding, Location, has_errors, in_file_order, merged

if TYPE_CHECKING:
    from gpupool.manifests.result import Manifests, OwnFile
    from gpupool.scheduling.naming.names import Names

_STDIN = "-"
_NO_SUCH_KIND = frozenset({Code.OLD_VERSION, Code.UNKNOWN_VERSION})
_Result: TypeAlias = tuple[list[CheckedObject], Sequence[Finding]]


class ValidationRequest(NamedTuple):
    """What is to be checked, and how."""

    paths: Sequence[str]
    """Manifests and blueprints; a folder with all that is in it."""

    blueprint: Sequence[str]
    """The files of one layered blueprint, in order; empty for none."""

    target: str | None
    """The Karpenter version for manifests; None for the latest. A blueprint names its own."""

    allow_empty: bool


def check(wanted: ValidationRequest, stdin: Callable[[], bytes], *, strict: bool) -> Report:
    """Check everything that is wanted; `stdin` is read where `-` is among the paths."""
    found = _manifests(wanted.paths, stdin)
    results = [
        *([_blueprint(wanted.blueprint)] if wanted.blueprint else []),
        *_objects(found, wanted.target),
        (_refused(found.findings), ()),
        *(_own_file(each) for each in found.own_files),
    ]
    findings = [*found.findings, *(finding for result in results for finding in result[1])]
    checked = [each for result in results for each in result[0]]
    if not (checked or wanted.allow_empty or has_errors(findings)):
        findings.append(_nothing_there(wanted.paths))
    files = tuple(dict.fromkeys((*wanted.blueprint, *found.files)))
    order = {file: index for index, file in enumerate(files)}
    return Report(
        merged(in_file_order(findings, files)),
        files,
        tuple(sorted(checked, key=lambda each: (order.get(each.at.file, 0), each.at))),
        documents=found.documents + len(wanted.blueprint),
        passed_over=_passed_over(found, checked),
        skipped=tuple(Skipped(each.at, each.reason) for each in found.skipped),
        strict=strict,
    )


def _manifests(paths: Sequence[str], stdin: Callable[[], bytes]) -> "Manifests":
    from gpupool.manifests.result import Manifests

    if not paths:
        return Manifests()
    from gpupool.manifests.read import read_manifests

    return read_manifests(paths, stdin)


def _blueprint(files: Sequence[str]) -> _Result:
    from gpupool.rendering.render import render_files

    at = Location(files[0])
    try:
        rendered = render_files(files)
    except InputError as problem:
        return [CheckedObject("Blueprint", "", at)], problem.findings
    return [CheckedObject("Blueprint", rendered.name, at)], rendered.findings


def _objects(found: "Manifests", target: str | None) -> list[_Result]:
    if not found.objects:
        return []
    from gpupool.karpenter.validation.check import check, get_object_name
    from gpupool.karpenter.versions import LATEST
    from gpupool.scheduling.naming.checks import check_manifest_names

    results: list[_Result] = []
    placeholders = {each.at for each in found.findings if each.code == Code.PLACEHOLDER}
    names = _shipped_names()
    for each in found.objects:
        said = check(each.kind, each.body, target or LATEST)
        told = {finding.at for finding in said}
        said += (
            finding for finding in check_manifest_names(names, each.kind, each.body) if finding.at not in told
        )
        # What a placeholder is wrong for is nobody's mistake before it was filled in.
        meant = [finding for finding in said if finding.at not in placeholders]
        results.append(([CheckedObject(each.kind, get_object_name(each.body), each.at)], meant))
    return results


def _shipped_names() -> "Names":
    """Return what names there are, by the catalogue that everybody has: a check says the same everywhere."""
    from gpupool.catalogue.load import load_shipped
    from gpupool.scheduling.naming.names import Names
    from gpupool.scheduling.types.typemasks import TypeMasks

    return Names(TypeMasks(load_shipped()))


def _own_file(found: "OwnFile") -> _Result:
    if found.path == _STDIN:
        message = f"a {(found.kind or 'blueprint').lower()} can't be read here from standard input"
        fix = "pass its file" if found.kind == "Profile" else "run `gpupool validate -f -`"
        return [], [Finding(Code.NOT_THE_KIND, message, Location(found.path), fix)]
    return _profile(found) if found.kind == "Profile" else _blueprint([found.path])


def _profile(found: "OwnFile") -> _Result:
    from gpupool.profiles.load import Profiles
    from gpupool.yamlio.located import Located

    profiles, at = Profiles((found.path,)), Location(found.path)
    profiles.named(Located(found.path if "/" in found.path else f"./{found.path}", at))
    return [CheckedObject("Profile", found.name, at)], profiles.findings


def _nothing_there(paths: Sequence[str]) -> Finding:
    message = "nothing to check: no NodePool, EC2NodeClass, NodeOverlay or blueprint found"
    fix = "pass other files, or add `--allow-empty`"
    return Finding(Code.NO_KARPENTER_OBJECT, message, Location(paths[0]), fix)


def _refused(findings: Sequence[Finding]) -> list[CheckedObject]:
    """Return the objects of Karpenter's groups whose kind or version is itself the mistake."""
    found = []
    for each in findings:
        if each.code in _NO_SUCH_KIND and each.path in {"apiVersion", "kind"}:
            kind, _, name = each.object.partition("/")
            found.append(CheckedObject(kind, name, each.at))
    return found


def _passed_over(found: "Manifests", checked: Sequence[CheckedObject]) -> dict[str, int]:
    left = Counter(found.kinds)
    left.subtract(each.kind for each in checked)
    return {kind: count for kind, count in left.items() if count > 0}
