"""The few verbs of gpupool, for Python users and for the command line.

Each imports what it needs when it is called: to read manifests takes no blueprint.
"""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from gpupool.codes import Code
from gpupool.errors import InputError, StaleError, UsageError
from gpupool.findings import Finding, Location, has_errors, in_file_order
from gpupool.reports.report import Checked, Report, Skipped

if TYPE_CHECKING:
    from datetime import date

    from gpupool.catalogue.model import Catalogue
    from gpupool.expansion.calendar import Calendar
    from gpupool.expansion.provenance.values import Provenance
    from gpupool.explanation import Explanation
    from gpupool.manifests.result import Manifests, OwnFile
    from gpupool.pools import NodePools
    from gpupool.rendering.render import Rendered
    from gpupool.rendering.starter import Starter
    from gpupool.reports.fit import FitReport
    from gpupool.scheduling.names import Names

_STDIN = "-"
_NO_SUCH_KIND = frozenset({Code.OLD_VERSION, Code.UNKNOWN_VERSION})
_Result: TypeAlias = tuple[list[Checked], Sequence[Finding]]


def render_files(paths: Sequence[str]) -> "Rendered":
    """Read blueprint files, later ones over earlier ones, and render them.

    Raises:
        InputError: with every mistake found, in file order.
    """
    from gpupool.blueprint.load import load
    from gpupool.expansion.expand import expand
    from gpupool.rendering.render import render

    return render(expand(load(paths)))


def write_folder(rendered: "Rendered", folder: Path) -> None:
    """Make a folder hold what was rendered, and nothing older of the same blueprint.

    Raises:
        InputError: where a file that gpupool did not write is in the way; nothing is written then.
    """
    from gpupool.rendering import folder as folders

    folders.write(rendered.files(), folder, rendered.name)


def check_folder(rendered: "Rendered", folder: Path) -> None:
    """Compare a folder with what was rendered.

    Raises:
        StaleError: with the names of the files that differ, are missing or are left over.
    """
    from gpupool.rendering import folder as folders

    if stale := folders.stale(rendered.files(), folder, rendered.name):
        raise StaleError(stale)


def chart_values(rendered: "Rendered", chart: str) -> str:
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
    target: str | None = None,
    strict: bool = False,
    allow_empty: bool = False,
) -> Report:
    """Check all that can be known offline: manifests and blueprints in `paths`, and one layered blueprint.

    Manifests are held against Karpenter `target`, or the latest; a blueprint names its own version.
    """
    found = _manifests(paths)
    results = [
        *([_blueprint(blueprint)] if blueprint else []),
        *_objects(found, target),
        (_refused(found.findings), ()),
        *(_own_file(each) for each in found.own_files),
    ]
    findings = [*found.findings, *(finding for result in results for finding in result[1])]
    checked = [each for result in results for each in result[0]]
    if not (checked or allow_empty or has_errors(findings)):
        findings.append(_nothing_there(paths))
    files = tuple(dict.fromkeys((*blueprint, *found.files)))
    order = {file: index for index, file in enumerate(files)}
    return Report(
        in_file_order(findings, files),
        files,
        tuple(sorted(checked, key=lambda each: (order.get(each.at.file, 0), each.at))),
        documents=found.documents + len(blueprint),
        passed_over=_passed_over(found, checked),
        skipped=tuple(Skipped(each.at, each.reason) for each in found.skipped),
        strict=strict,
    )


def fit(
    workloads: Sequence[str],
    blueprint: Sequence[str] = (),
    manifests: Sequence[str] = (),
    *,
    daemon_sets: Sequence[str] = (),
    region: str | None = None,
) -> "FitReport":
    """Say which NodePools of a blueprint, or of plain manifests, take the pods of workloads, and why not.

    Without a region, and without one in the blueprint, offers and prices are not judged.

    Raises:
        InputError: with every mistake found in the workloads, in file order; or else in the pools.
    """
    from gpupool.manifests.workloads import read_workloads
    from gpupool.reports.fit import Counted, FitReport, Fitted, offers_of, taken_for_granted
    from gpupool.scheduling import pending
    from gpupool.scheduling.fit import sites
    from gpupool.scheduling.nodepool import read_pool
    from gpupool.scheduling.verdicts import judge, judge_daemon

    found = read_workloads(workloads, _stdin)
    pods = pending.pending(found)
    running = read_workloads(daemon_sets, _stdin) if daemon_sets else None
    daemons = pending.daemons(running) if running else []
    pools = _pools(blueprint, manifests, region)
    fixed = None if daemon_sets else pending.overhead(pools.cluster)
    known = [read_pool(each.data, each.market) for each in pools.items]
    places = sites(known, daemons, fixed)
    return FitReport(
        fitted=tuple(
            Fitted(each.template, each.pod, judge(each.pod, places))
            if each.template.pods is not None
            else Fitted(each.template, each.pod, judge_daemon(each.pod, sites(known)))
            for each in pods
        ),
        offers=offers_of(pools),
        counted=Counted(tuple(daemon.name for daemon in daemons), fixed),
        notes=tuple(taken_for_granted(pools)),
        findings=(*found.findings, *(running.findings if running else ()), *pools.findings),
        passed_over=found.passed_over,
        skipped=found.skipped,
    )


def pools(blueprint: Sequence[str], manifests: Sequence[str] = (), region: str | None = None) -> "NodePools":
    """Give the NodePools of a blueprint, or of plain manifests, each with what its class may launch.

    Raises:
        InputError: with every mistake found, in file order; also where there is no NodePool.
    """
    return _pools(blueprint, manifests, region)


def explain(pools: "NodePools", pool: str, type_name: str | None = None) -> "Explanation":
    """Say what a pool may launch, and what becomes of one instance type there.

    Raises:
        UsageError: where there is no such pool, or nobody knows the type.
    """
    from gpupool.explanation import explain_pool

    return explain_pool(pools, pool, type_name)


def explain_all(pools: "NodePools") -> "list[Explanation]":
    """Say what every pool may launch."""
    from gpupool.explanation import explain_each

    return explain_each(pools)


def provenance(blueprint: Sequence[str], field: str) -> "Provenance":
    """Say where a value of a blueprint comes from; `field` is as in `chat.limits.gpus`.

    Raises:
        InputError: with every mistake found in the blueprint.
        UsageError: where there is no such field.
    """
    from gpupool.blueprint.load import load
    from gpupool.expansion.expand import expand
    from gpupool.expansion.provenance.trace import trace
    from gpupool.rendering.render import render

    loaded = load(blueprint)
    return trace(loaded, render(expand(loaded)).manifests, field)


def calendars(
    pools: "NodePools", pool: str, timezone: str | None, nodes: int, day: "date"
) -> "list[Calendar]":
    """Say for each NodePool of a pool how many of so many nodes may be disrupted in each hour of a week.

    Raises:
        UsageError: where there is no such pool or time zone.
    """
    from gpupool.expansion.calendar import calendar
    from gpupool.expansion.timezones import UnknownTimezoneError
    from gpupool.explanation import node_pools
    from gpupool.yamlio.nodes import text_at

    zone = timezone or text_at(pools.cluster, "timezone") or "UTC"
    try:
        return [calendar(dict(each.data), nodes, zone, day) for each in node_pools(pools, pool)]
    except UnknownTimezoneError as problem:
        raise UsageError(str(problem)) from None


def catalogue(blueprint: Sequence[str] = ()) -> "Catalogue":
    """Give the catalogue that `explain` asks: a blueprint's own, the user's, or what gpupool brings.

    Raises:
        InputError: where a file can't be read, or is no catalogue.
    """
    from gpupool.catalogue.load import shipped, users_own
    from gpupool.expansion.catalogued import named_catalogue
    from gpupool.yamlio.nodes import find

    named = None
    if blueprint:
        from gpupool.blueprint.load import load

        named = named_catalogue(find(load(blueprint).node, "cluster"))
    return named or users_own() or shipped()


def write_karpenter_schemas(folder: Path, target: str) -> None:
    """Write JSON Schemas of the kinds of Karpenter `target` into a folder, as `GROUP/KIND_VERSION.json`.

    Raises:
        InputError: where the system does not let us write.
    """
    from gpupool.karpenter.schemas import schemas
    from gpupool.rendering.folder import write_whole

    for path, text in schemas(target).items():
        write_whole(folder / path, text)


def schema_text(what: str) -> str:
    """Give the JSON Schema of a `blueprint` or a `profile` as text."""
    from gpupool.blueprint.model import Blueprint
    from gpupool.profiles.model import Profile
    from gpupool.shapes.docs import json_schema

    made = json_schema(Blueprint) if what == "blueprint" else json_schema(Profile)
    return json.dumps(made, indent=2) + "\n"


def write_starter(path: Path, starter: "Starter", *, force: bool) -> None:
    """Write the starter blueprint.

    Raises:
        InputError: where a file of that name is there already.
    """
    from gpupool.rendering.folder import write_whole
    from gpupool.rendering.starter import starter_text

    if path.exists() and not force:
        fix = "name another file, or overwrite it with --force"
        raise InputError(
            [Finding(Code.IN_THE_WAY, "there is a file of this name already", Location(str(path)), fix)]
        )
    write_whole(path, starter_text(starter))


def _pools(blueprint: Sequence[str], manifests: Sequence[str], region: str | None) -> "NodePools":
    from gpupool import pools

    if not manifests:
        return pools.of_blueprint(blueprint, region)
    found = pools.of_manifests(manifests, _stdin() if _STDIN in manifests else b"", region)
    if not found.items:
        message, fix = "there is no NodePool here", "name the files of your NodePools, or a blueprint with -f"
        raise InputError([Finding(Code.NO_KARPENTER_OBJECT, message, Location(manifests[0]), fix)])
    return found


def _manifests(paths: Sequence[str]) -> "Manifests":
    from gpupool.manifests.result import Manifests

    if not paths:
        return Manifests()
    from gpupool.manifests.read import read_manifests

    return read_manifests(paths, _stdin)


def _stdin() -> bytes:
    """Give what standard input holds; of what has no end, enough to refuse it."""
    from gpupool.yamlio.decoding import MAX_MANIFEST_BYTES

    return sys.stdin.buffer.read(MAX_MANIFEST_BYTES + 1)


def _blueprint(files: Sequence[str]) -> _Result:
    at = Location(files[0])
    try:
        rendered = render_files(files)
    except InputError as problem:
        return [Checked("Blueprint", "", at)], problem.findings
    return [Checked("Blueprint", rendered.name, at)], rendered.findings


def _objects(found: "Manifests", target: str | None) -> list[_Result]:
    if not found.objects:
        return []
    from gpupool.karpenter.validation.check import check, named
    from gpupool.karpenter.versions import LATEST
    from gpupool.scheduling.named import in_manifest

    results: list[_Result] = []
    placeholders = {each.at for each in found.findings if each.code == Code.PLACEHOLDER}
    names = _shipped_names()
    for each in found.objects:
        said = check(each.kind, each.body, target or LATEST)
        told = {finding.at for finding in said}
        said += (finding for finding in in_manifest(names, each.kind, each.body) if finding.at not in told)
        # What a placeholder is wrong for is nobody's mistake before it was filled in.
        meant = [finding for finding in said if finding.at not in placeholders]
        results.append(([Checked(each.kind, named(each.body), each.at)], meant))
    return results


def _shipped_names() -> "Names":
    """Give what names there are, by the catalogue that everybody has: a check says the same everywhere."""
    from gpupool.catalogue.load import shipped
    from gpupool.scheduling.names import Names
    from gpupool.scheduling.typemasks import TypeMasks

    return Names(TypeMasks(shipped()))


def _own_file(found: "OwnFile") -> _Result:
    if found.path == _STDIN:
        message = f"a {(found.kind or 'blueprint').lower()} can't be read here from standard input"
        fix = "name its file" if found.kind == "Profile" else "write `gpupool validate -f -`"
        return [], [Finding(Code.NOT_THE_KIND, message, Location(found.path), fix)]
    return _profile(found) if found.kind == "Profile" else _blueprint([found.path])


def _profile(found: "OwnFile") -> _Result:
    from gpupool.profiles.load import Profiles
    from gpupool.yamlio.nodes import Node

    profiles, at = Profiles(), Location(found.path)
    profiles.named(Node(found.path if "/" in found.path else f"./{found.path}", at))
    return [Checked("Profile", found.name, at)], profiles.findings


def _nothing_there(paths: Sequence[str]) -> Finding:
    message = "nothing was checked: there is no NodePool, EC2NodeClass, NodeOverlay or blueprint"
    fix = "name other files, or say --allow-empty where that is all right"
    return Finding(Code.NO_KARPENTER_OBJECT, message, Location(paths[0]), fix)


def _refused(findings: Sequence[Finding]) -> list[Checked]:
    """Give the objects of Karpenter's groups whose kind or version is itself the mistake."""
    found = []
    for each in findings:
        if each.code in _NO_SUCH_KIND and each.path in {"apiVersion", "kind"}:
            kind, _, name = each.object.partition("/")
            found.append(Checked(kind, name, each.at))
    return found


def _passed_over(found: "Manifests", checked: Sequence[Checked]) -> dict[str, int]:
    left = Counter(found.kinds)
    left.subtract(each.kind for each in checked)
    return {kind: count for kind, count in left.items() if count > 0}
