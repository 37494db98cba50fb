"""The few verbs of gpupool, for Python users and for the command line.

Each imports what it needs when it is called: to read manifests takes no blueprint.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gpupool.codes import Code
from gpupool.errors import InputError, StaleError, UsageError
from gpupool.findings import Finding, Location
from gpupool.reports.escaping import visible

if TYPE_CHECKING:
    from datetime import date

    from gpupool.catalogue.model import Catalogue
    from gpupool.checking.report import Report
    from gpupool.explain.calendar import Calendar
    from gpupool.explain.explanation import Explanation
    from gpupool.pools import LoadedNodePools
    from gpupool.provenance.values import Provenance
    from gpupool.rendering.folder import Written
    from gpupool.rendering.render import Rendered
    from gpupool.rendering.starter import Starter
    from gpupool.reports.fit.text import FitReport

_STDIN = "-"


def render_files(paths: Sequence[str]) -> "Rendered":
    """Read blueprint files, later ones over earlier ones, and render them.

    Raises:
        InputError: with every mistake found, in file order.
    """
    from gpupool.rendering import render

    return render.render_files(paths)


def write_folder(rendered: "Rendered", folder: Path) -> "Written":
    """Make a folder hold what was rendered, and nothing older of the same blueprint; return the counts.

    Raises:
        InputError: where a file that gpupool did not write is in the way; nothing is written then.
    """
    from gpupool.rendering import folder as folders

    return folders.write(rendered.files(), folder, rendered.name)


def check_folder(rendered: "Rendered", folder: Path) -> None:
    """Compare a folder with what was rendered.

    Raises:
        StaleError: with the names of the files that differ, are missing or are left over.
    """
    from gpupool.rendering import folder as folders

    if stale := folders.stale(rendered.files(), folder, rendered.name):
        raise StaleError(stale)


def folder_diff(rendered: "Rendered", folder: Path) -> str:
    """Return a unified diff from what a folder holds to what was rendered, without sensitive values.

    It is empty where nothing differs.

    Raises:
        InputError: where a file can't be read.
    """
    from gpupool.folder_diff import folder_diff as lines

    return "".join(f"{visible(line)}\n" for line in lines(rendered, folder))


def chart_values(rendered: "Rendered", chart: str) -> str:
    """Return one chart's values file.

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
) -> "Report":
    """Check all that can be known offline: manifests and blueprints in `paths`, and one layered blueprint.

    Manifests are held against Karpenter `target`, or the latest; a blueprint names its own version.
    """
    from gpupool.checking.check import ValidationRequest, check

    return check(ValidationRequest(paths, blueprint, target, allow_empty), _stdin, strict=strict)


def fit(
    workloads: Sequence[str],
    blueprint: Sequence[str] = (),
    manifests: Sequence[str] = (),
    *,
    daemon_sets: Sequence[str] = (),
    region: str | None = None,
) -> "FitReport":
    """Return which NodePools of a blueprint, or of plain manifests, take the pods of workloads, and why not.

    Without a region, and without one in the blueprint, offers and prices are not judged.

    Raises:
        InputError: with every mistake found in the workloads, in file order; or else in the pools.
    """
    from gpupool.manifests.workloads import read_workloads
    from gpupool.reports.fit.text import Counted, FitReport, Fitted, offers_of, taken_for_granted
    from gpupool.scheduling.nodepool import read_pool
    from gpupool.scheduling.pods import pending
    from gpupool.scheduling.pods.fit import build_sites
    from gpupool.scheduling.pods.verdicts import judge_daemon, judge_pod

    found = read_workloads(workloads, _stdin)
    pods = pending.read_pending_pods(found)
    running = read_workloads(daemon_sets, _stdin) if daemon_sets else None
    daemons = pending.read_daemons(running) if running else []
    offered = pools(blueprint, manifests, region)
    fixed = None if daemon_sets else pending.read_daemon_overhead(offered.cluster)
    known = [read_pool(each.data, each.market) for each in offered.items]
    places = build_sites(known, daemons, fixed)
    return FitReport(
        fitted=tuple(
            Fitted(each.template, each.pod, judge_pod(each.pod, places))
            if each.template.pods is not None
            else Fitted(each.template, each.pod, judge_daemon(each.pod, build_sites(known)))
            for each in pods
        ),
        offers=offers_of(offered),
        counted=Counted(tuple(daemon.name for daemon in daemons), fixed),
        notes=tuple(taken_for_granted(offered)),
        findings=(*found.findings, *(running.findings if running else ()), *offered.findings),
        passed_over=found.skipped_kinds,
        skipped=found.skipped,
    )


def pools(
    blueprint: Sequence[str], manifests: Sequence[str] = (), region: str | None = None
) -> "LoadedNodePools":
    """Return the NodePools of a blueprint, or of plain manifests, each with what its class may launch.

    Raises:
        InputError: with every mistake found, in file order; also where there is no NodePool.
    """
    from gpupool.pools import of_blueprint, of_manifests

    if not manifests:
        return of_blueprint(blueprint, region)
    found = of_manifests(manifests, _stdin() if _STDIN in manifests else b"", region)
    if not found.items:
        message, fix = "there is no NodePool here", "name the files of your NodePools, or a blueprint with -f"
        raise InputError([Finding(Code.NO_KARPENTER_OBJECT, message, Location(manifests[0]), fix)])
    return found


def explain(pools: "LoadedNodePools", pool: str, type_name: str | None = None) -> "Explanation":
    """Return what a pool may launch, and what becomes of one instance type there.

    Raises:
        UsageError: where there is no such pool, or nobody knows the type.
    """
    from gpupool.explain.explanation import explain_pool

    return explain_pool(pools, pool, type_name)


def explain_all(pools: "LoadedNodePools") -> "list[Explanation]":
    """Return what every pool may launch."""
    from gpupool.explain.explanation import explain_each

    return explain_each(pools)


def provenance(blueprint: Sequence[str], field: str) -> "Provenance":
    """Return where a value of a blueprint comes from; `field` is as in `chat.limits.gpus`.

    Raises:
        InputError: with every mistake found in the blueprint.
        UsageError: where there is no such field.
    """
    from gpupool.provenance.trace import trace
    from gpupool.rendering.render import render_files

    rendered = render_files(blueprint)
    return trace(rendered.expanded.loaded, rendered.manifests, field)


def calendars(
    pools: "LoadedNodePools", pool: str, timezone: str | None, nodes: int, day: "date"
) -> "list[Calendar]":
    """Return for each NodePool of a pool how many of so many nodes may be disrupted in each hour of a week.

    Raises:
        UsageError: where there is no such pool or time zone.
    """
    from gpupool.expansion.windows.timezones import UnknownTimezoneError
    from gpupool.explain.calendar import calendar
    from gpupool.explain.explanation import node_pools
    from gpupool.yamlio.located import text_at

    zone = timezone or text_at(pools.cluster, "timezone") or "UTC"
    try:
        return [calendar(dict(each.data), nodes, zone, day) for each in node_pools(pools, pool)]
    except UnknownTimezoneError as problem:
        raise UsageError(str(problem)) from None


def catalogue(blueprint: Sequence[str] = ()) -> "Catalogue":
    """Return the catalogue that `explain` asks: a blueprint's own, the user's, or what gpupool brings.

    Raises:
        InputError: where a file can't be read, or is no catalogue.
    """
    from gpupool.catalogue.load import load_preferred
    from gpupool.expansion.catalogue_access import named_catalogue
    from gpupool.yamlio.located import find

    named = None
    if blueprint:
        from gpupool.blueprint.load import load

        named = named_catalogue(find(load(blueprint).node, "cluster"))
    return load_preferred(named)


def write_karpenter_schemas(folder: Path, target: str) -> None:
    """Write JSON Schemas of the kinds of Karpenter `target` into a folder, as `GROUP/KIND_VERSION.json`.

    Raises:
        InputError: where the system does not let us write.
    """
    from gpupool.karpenter.schemas import build_schemas
    from gpupool.rendering.folder import write_whole

    for path, text in build_schemas(target).items():
        write_whole(folder / path, text)


def schema_text(what: str) -> str:
    """Return the JSON Schema of a `blueprint`, a `profile` or a `plan` file as text."""
    from gpupool.blueprint.model import Blueprint
    from gpupool.planning.plan import Plan
    from gpupool.profiles.model import Profile
    from gpupool.shapes.docs import dataclass_schema, json_schema

    if what == "plan":
        made = dataclass_schema(Plan)
    else:
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


def _stdin() -> bytes:
    """Return what standard input holds; of what has no end, enough to refuse it."""
    from gpupool.yamlio.decoding import MAX_MANIFEST_BYTES

    return sys.stdin.buffer.read(MAX_MANIFEST_BYTES + 1)
