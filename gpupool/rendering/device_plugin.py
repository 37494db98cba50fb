"""Helm values of NVIDIA's device plugin chart, for all pools that need it.

Bottlerocket's NVIDIA images contain the plugin, and a second one breaks the GPUs, so the affinity omits
those pools.
"""

from collections.abc import Iterator

from gpupool.blueprint.constraint import TaintEntry
from gpupool.blueprint.merge import merge, remove_nulls
from gpupool.blueprint.model import Stack
from gpupool.catalogue.accelerators import RESOURCES, Maker
from gpupool.codes import Code
from gpupool.errors import InputError
from gpupool.expansion.expanded import Expanded, ExpandedPool
from gpupool.expansion.sharing import config_name
from gpupool.findings import Finding, Severity
from gpupool.helm.charts import NVIDIA_DEVICE_PLUGIN
from gpupool.helm.releases import NvidiaDevicePluginRelease
from gpupool.karpenter import labels
from gpupool.rendering.values import Release, build_release
from gpupool.yamlio.located import Located, items, leaf, listing, mapping, text_of, tree
from gpupool.yamlio.write import dump

_BOOLEAN_BUG = "0.17.0"
_CHANGED_DEFAULTS_VERSIONS = ("0.19.0", "0.19.1", "0.19.2")


def build_device_plugin(expanded: Expanded) -> Release | None:
    """Build the chart's release and values; None where no pool needs the chart, or `stack` disables it.

    Raises:
        InputError: for values that do not work with the chart's version.
    """
    pools = [
        pool for pool in expanded.pools if pool.maker is Maker.NVIDIA and pool.ami_family != "Bottlerocket"
    ]
    settings = Stack(expanded.stack).nvidia_device_plugin
    is_off = NVIDIA_DEVICE_PLUGIN.name in mapping(expanded.stack) and not settings
    if not pools or is_off:
        return None
    generated, own = _build_values(pools), settings.values.node
    values = generated if own is None else remove_nulls(merge(generated, own))
    release = build_release(NVIDIA_DEVICE_PLUGIN, settings, values)
    if error := _find_chart_bug(release, settings):
        raise InputError([error])
    return release


def _build_values(pools: list[ExpandedPool]) -> Located:
    first = pools[0].at
    parts = {
        "affinity": _build_affinity(pools),
        "tolerations": listing(list(_build_tolerations(pools)), first),
        "config": _build_sharing_config(pools),
        "resources": _build_resources(first),
    }
    return tree(parts, first)


def _build_affinity(pools: list[ExpandedPool]) -> Located:
    """Build the affinity to the pools' nodes; the chart's default requires labels that nodes do not have."""
    first = pools[0].at
    names = listing([leaf(pool.name, pool.at) for pool in sorted(pools, key=lambda pool: pool.name)], first)
    expression = tree(
        {"key": leaf(labels.NODEPOOL, first), "operator": leaf("In", first), "values": names}, first
    )
    terms = listing([tree({"matchExpressions": listing([expression], first)}, first)], first)
    required = tree({"nodeSelectorTerms": terms}, first)
    return tree(
        {"nodeAffinity": tree({"requiredDuringSchedulingIgnoredDuringExecution": required}, first)}, first
    )


def _build_tolerations(pools: list[ExpandedPool]) -> Iterator[Located]:
    """Yield a toleration of each taint of the pools, for any value, because values differ between pools."""
    seen: dict[tuple[str, str], Located] = {}
    for pool in pools:
        for taint in (*items(pool.taints), *items(pool.startup_taints)):
            entry = TaintEntry(taint)
            seen.setdefault((text_of(entry.label), text_of(entry.effect)), taint)
    yield tree(
        {"key": leaf("CriticalAddonsOnly", pools[0].at), "operator": leaf("Exists", pools[0].at)}, pools[0].at
    )
    for (key, effect), taint in sorted(seen.items()):
        parts = {"key": key, "operator": "Exists", "effect": effect}
        yield tree({name: leaf(value, taint) for name, value in parts.items()}, taint)


def _build_sharing_config(pools: list[ExpandedPool]) -> Located | None:
    shared = {pool.slices: pool for pool in pools if pool.slices > 1}
    if not shared:
        return None
    first = pools[0].at
    entries = {"default": leaf(dump({"version": "v1"}), first)}
    for slices, pool in sorted(shared.items()):
        entries[config_name(slices)] = leaf(_format_time_slicing(slices), pool.at)
    return tree({"map": tree(dict(entries), first), "default": leaf("default", first)}, first)


def _format_time_slicing(slices: int) -> str:
    """Return a plugin configuration; both switches are explicit, because Bottlerocket's defaults differ."""
    sharing = {
        "renameByDefault": False,
        "failRequestsGreaterThanOne": True,
        "resources": [{"name": RESOURCES[Maker.NVIDIA], "replicas": slices}],
    }
    return dump({"version": "v1", "sharing": {"timeSlicing": sharing}})  # type: ignore[dict-item] # a plain tree


def _build_resources(cause: Located) -> Located:
    """Build small resource requests, so that Karpenter counts the plugin; the chart's default is none."""
    requests = {"cpu": leaf("10m", cause), "memory": leaf("64Mi", cause)}
    return tree({"requests": tree(dict(requests), cause)}, cause)


def _find_chart_bug(release: Release, settings: NvidiaDevicePluginRelease) -> Finding | None:
    version, setting = settings.version, settings.values.fail_on_init_error
    if release.version == _BOOLEAN_BUG and setting is not None:
        message = f"chart {_BOOLEAN_BUG} renders `failOnInitError` as a boolean, which the API server rejects"
        return Finding(
            Code.CHART_BUG,
            message,
            setting.at,
            "set `version: 0.17.1` or newer, and leave `failOnInitError` at true",
        )
    if (
        version is not None
        and release.version in _CHANGED_DEFAULTS_VERSIONS
        and not mapping(settings.values.node)
    ):
        message = (
            f"chart {release.version} exposes GDS and GDRCopy devices by default, which AL2023 does not have"
        )
        return Finding(
            Code.CHART_DEFAULTS, message, version.at, "set `version: 0.19.3` or newer", Severity.ERROR
        )
    return None
