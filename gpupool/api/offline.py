"""Python API without a cluster: render, validate, explain and fit blueprints and manifests.

Modules are imported when a function needs them: reading manifests does not import the blueprint's.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

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
    from gpupool.profiles.shown import ProfileListing
    from gpupool.provenance.values import Provenance
    from gpupool.rendering.folder import FolderResult
    from gpupool.rendering.render import Rendered
    from gpupool.rendering.roles import Subject
    from gpupool.rendering.starter import Starter
    from gpupool.reports.fit.text import FitReport

_STDIN = "-"


def render_files(paths: Sequence[str]) -> "Rendered":
    """Read blueprint files, later ones over earlier ones, and render them.

    Raises:
        InputError: with every error, in file order.
    """
    from gpupool.rendering import render

    return render.render_files(paths)


def write_folder(rendered: "Rendered", folder: Path) -> "FolderResult":
    """Make a folder hold what was rendered, and nothing older of the same blueprint; return the counts.

    Raises:
        InputError: where a file exists that gpupool did not write; nothing is written.
    """
    from gpupool.rendering import folder as folders

    return folders.write_files(rendered.files(), folder, rendered.name)


def check_folder(rendered: "Rendered", folder: Path) -> None:
    """Compare a folder with a rendering.

    Raises:
        StaleError: with the names of the files that differ, are missing or are left over.
    """
    from gpupool.rendering import folder as folders

    if stale := folders.find_stale(rendered.files(), folder, rendered.name):
        raise StaleError(stale)


def folder_diff(rendered: "Rendered", folder: Path) -> str:
    """Return a unified diff from a folder to a rendering, without sensitive values; empty without changes.

    Raises:
        InputError: where a file can't be read.
    """
    from gpupool.folder_diff import folder_diff as lines

    return "".join(f"{visible(line)}\n" for line in lines(rendered, folder))


def chart_values(rendered: "Rendered", chart: str) -> str:
    """Return the values file of a chart.

    Raises:
        UsageError: where the blueprint renders no values for that chart.
    """
    for release in rendered.releases:
        if release.chart == chart:
            return rendered.values_text(release)
    charts = ", ".join(release.chart for release in rendered.releases) or "none"
    message = f"the blueprint renders no values for the chart `{chart}`; available: {charts}"
    raise UsageError(message)


def validate(
    paths: Sequence[str],
    blueprint: Sequence[str] = (),
    *,
    target: str | None = None,
    strict: bool = False,
    allow_empty: bool = False,
) -> "Report":
    """Validate manifests and blueprints in `paths`, and one layered blueprint.

    Manifests are checked for Karpenter `target`, or the latest version; a blueprint sets its own version.
    """
    from gpupool.checking.check import ValidationRequest, check_files

    return check_files(ValidationRequest(paths, blueprint, target, allow_empty), _stdin, strict=strict)


def fit(
    workloads: Sequence[str],
    blueprint: Sequence[str] = (),
    manifests: Sequence[str] = (),
    *,
    daemon_sets: Sequence[str] = (),
    region: str | None = None,
) -> "FitReport":
    """Return which NodePools of a blueprint, or of manifests, fit the pods of workloads, and why not.

    Without a region, and without one in the blueprint, offerings and prices are not checked.

    Raises:
        InputError: with every error in the workloads, in file order; without any, with those in the pools.
    """
    from gpupool.blueprint.model import BlueprintCluster
    from gpupool.manifests.workloads import read_workloads
    from gpupool.reports.fit.text import (
        CountedDaemonSets,
        FitReport,
        FittedWorkload,
        find_offering_source,
        list_assumptions,
    )
    from gpupool.scheduling.nodepool import read_pool
    from gpupool.scheduling.pods import pending
    from gpupool.scheduling.pods.fit import build_sites
    from gpupool.scheduling.pods.verdicts import judge_daemon, judge_pod

    loaded = read_workloads(workloads, _stdin)
    pods = pending.read_pending_pods(loaded)
    running = read_workloads(daemon_sets, _stdin) if daemon_sets else None
    daemons = pending.read_daemons(running) if running else []
    offered = pools(blueprint, manifests, region)
    fixed = (
        None
        if daemon_sets
        else pending.read_daemon_overhead(BlueprintCluster(offered.cluster).daemon_overhead)
    )
    node_pools = [read_pool(item.data, item.market) for item in offered.items]
    places = build_sites(node_pools, daemons, fixed)
    return FitReport(
        workloads=tuple(
            FittedWorkload(pod.template, pod.pod, judge_pod(pod.pod, places))
            if pod.template.pods is not None
            else FittedWorkload(pod.template, pod.pod, judge_daemon(pod.pod, build_sites(node_pools)))
            for pod in pods
        ),
        offers=find_offering_source(offered),
        daemon_sets=CountedDaemonSets(tuple(daemon.name for daemon in daemons), fixed),
        notes=tuple(list_assumptions(offered)),
        findings=(*loaded.findings, *(running.findings if running else ()), *offered.findings),
        skipped_kinds=loaded.skipped_kinds,
        skipped=loaded.skipped,
    )


def pools(
    blueprint: Sequence[str], manifests: Sequence[str] = (), region: str | None = None
) -> "LoadedNodePools":
    """Return the NodePools of a blueprint, or of manifests, each with the offerings that its class allows.

    Raises:
        InputError: with every error, in file order; also without any NodePool.
    """
    from gpupool.pools import load_from_blueprint, load_from_manifests

    if not manifests:
        return load_from_blueprint(blueprint, region)
    loaded = load_from_manifests(manifests, _stdin() if _STDIN in manifests else b"", region)
    if not loaded.items:
        message, fix = (
            "no NodePool in these files",
            "pass the files of your NodePools, or a blueprint with -f",
        )
        raise InputError([Finding(Code.NO_KARPENTER_OBJECT, message, Location(manifests[0]), fix)])
    return loaded


def explain(pools: "LoadedNodePools", pool: str, type_name: str | None = None) -> "Explanation":
    """Return the instance types that a pool can launch, and why it can or can't launch one type.

    Raises:
        UsageError: where the pool or the type does not exist.
    """
    from gpupool.explain.explanation import explain_pool

    return explain_pool(pools, pool, type_name)


def explain_all(pools: "LoadedNodePools") -> "list[Explanation]":
    """Return what every pool may launch."""
    from gpupool.explain.explanation import explain_pools

    return explain_pools(pools)


def provenance(blueprint: Sequence[str], field: str) -> "Provenance":
    """Return the sources of a value of a blueprint; `field` is a path as in `chat.limits.gpus`.

    Raises:
        InputError: with every error in the blueprint.
        UsageError: where the field does not exist.
    """
    from gpupool.provenance.trace import trace
    from gpupool.rendering.render import render_files

    rendered = render_files(blueprint)
    return trace(rendered.expanded.loaded, rendered.manifests, field)


def calendars(
    pools: "LoadedNodePools", pool: str, timezone: str | None, nodes: int, day: "date"
) -> "list[Calendar]":
    """Return for each NodePool of a pool how many of `nodes` nodes can be disrupted in each hour of a week.

    Raises:
        UsageError: where the pool or the time zone does not exist.
    """
    from gpupool.blueprint.model import BlueprintCluster
    from gpupool.expansion.windows.timezones import UnknownTimezoneError
    from gpupool.explain.calendar import build_calendar
    from gpupool.explain.explanation import find_node_pools
    from gpupool.yamlio.located import text_of

    zone = timezone or text_of(BlueprintCluster(pools.cluster).timezone) or "UTC"
    try:
        return [build_calendar(dict(each.data), nodes, zone, day) for each in find_node_pools(pools, pool)]
    except UnknownTimezoneError as problem:
        raise UsageError(str(problem)) from None


def catalogue(blueprint: Sequence[str] = ()) -> "Catalogue":
    """Return the catalogue that `explain` uses: a blueprint's own, the user's, or the shipped one.

    Raises:
        InputError: where a file can't be read, or is not a catalogue.
    """
    from gpupool.catalogue.load import load_preferred
    from gpupool.expansion.catalogue_access import load_named_catalogue

    named = None
    if blueprint:
        from gpupool.blueprint.load import load

        named = load_named_catalogue(load(blueprint).blueprint.cluster)
    return load_preferred(named)


def write_karpenter_schemas(folder: Path, target: str) -> None:
    """Write the JSON Schemas of Karpenter `target` into a folder, as `GROUP/KIND_VERSION.json`.

    Raises:
        InputError: where a file can't be written.
    """
    from gpupool.karpenter.schemas import build_schemas
    from gpupool.rendering.folder import write_atomically

    for path, text in build_schemas(target).items():
        write_atomically(folder / path, text)


def schema_text(kind: str) -> str:
    """Return the JSON Schema of a `blueprint`, a `profile` or a `plan` file as text."""
    from gpupool.blueprint.model import Blueprint
    from gpupool.planning.plan import Plan
    from gpupool.profiles.model import Profile
    from gpupool.shapes.docs import build_dataclass_schema, build_json_schema

    if kind == "plan":
        schema = build_dataclass_schema(Plan)
    else:
        schema = build_json_schema(Blueprint) if kind == "blueprint" else build_json_schema(Profile)
    return json.dumps(schema, indent=2) + "\n"


def write_starter(path: Path, starter: "Starter", *, force: bool) -> None:
    """Write the starter blueprint.

    Raises:
        InputError: where the file exists already.
    """
    from gpupool.rendering.folder import write_atomically
    from gpupool.rendering.starter import render_starter

    if path.exists() and not force:
        fix = "pass another file name, or overwrite it with --force"
        raise InputError([Finding(Code.IN_THE_WAY, "the file already exists", Location(str(path)), fix)])
    write_atomically(path, render_starter(starter))


def refresh_catalogue(
    regions: Sequence[str] = (), profile: str | None = None, *, today: "date | None" = None
) -> "Catalogue":
    """Return the shipped catalogue, updated with the answers of an AWS account about regions.

    Unlike the rest of this module it contacts AWS. The default region is that of the AWS profile.

    Raises:
        AccountError: where the account can't be reached, or returns an error.
    """
    from datetime import UTC, datetime

    from gpupool.catalogue.load import load_shipped
    from gpupool.catalogue.refresh import query_account
    from gpupool.catalogue.renew import renew_catalogue

    day = today or datetime.now(UTC).date()
    return renew_catalogue(load_shipped(), query_account(regions, profile), day.isoformat()).catalogue


def profiles() -> "Sequence[ProfileListing]":
    """Return the profiles that gpupool ships, each with its settings and their reasons."""
    from gpupool.profiles.shown import show_all

    return show_all()


def profile(name: str) -> "ProfileListing":
    """Return one profile, by its name or by the path of its file.

    Raises:
        UsageError: for an unknown name.
        InputError: with every error in the file.
    """
    from gpupool.profiles.shown import show

    return show(name)


def roles(purpose: "Literal['plan', 'apply']", files: Sequence[str], subject: "Subject | None" = None) -> str:
    """Return the Kubernetes roles that planning, or applying, a blueprint requires, as YAML.

    `purpose` is `plan` or `apply`; the default subject is the group `gpupool-plan` or `gpupool-apply`.

    Raises:
        InputError: with every error in the blueprint.
    """
    from gpupool.rendering.roles import RoleScope, render_roles
    from gpupool.rollout.desired_state import load_desired_state

    blueprint = load_desired_state(files)
    return render_roles(purpose, RoleScope(blueprint.blueprint, blueprint.namespace), subject)


def _stdin() -> bytes:
    """Read standard input up to one byte more than the size limit, so that endless input is rejected."""
    from gpupool.yamlio.decoding import MAX_MANIFEST_BYTES

    return sys.stdin.buffer.read(MAX_MANIFEST_BYTES + 1)
