"""Values of NVIDIA's device plugin chart, from all pools that need the chart.

Bottlerocket's NVIDIA images run the plugin themselves; a second one there breaks the GPUs, so those
pools are left out of the affinity.
"""

from collections.abc import Iterator

from gpupool.blueprint.merge import merge, remove_nulls
from gpupool.catalogue.accelerators import RESOURCES, Maker
from gpupool.codes import Code
from gpupool.errors import InputError
from gpupool.expansion.expanded import Expanded, ExpandedPool
from gpupool.expansion.sharing import config_name
from gpupool.findings import Finding, Severity
from gpupool.helm.charts import NVIDIA_DEVICE_PLUGIN
from gpupool.karpenter import labels
from gpupool.rendering.values import Release, build_release
from gpupool.yamlio.located import Located, find, items, leaf, listing, mapping, text_at, tree
from gpupool.yamlio.write import dump

_BROKEN_BOOLEAN = "0.17.0"
_CHANGED_DEFAULTS = ("0.19.0", "0.19.1", "0.19.2")


def build_device_plugin(expanded: Expanded) -> Release | None:
    """Return the chart's release and values; None where no pool needs it, or it is turned off.

    Raises:
        InputError: for values that the chart's version is known to break on.
    """
    pools = [
        pool for pool in expanded.pools if pool.maker is Maker.NVIDIA and pool.ami_family != "Bottlerocket"
    ]
    said = find(expanded.stack, NVIDIA_DEVICE_PLUGIN.name)
    if not pools or (said is not None and said.value is None):
        return None
    generated, own = _values(pools), find(said, "values")
    values = generated if own is None or own.value is None else remove_nulls(merge(generated, own))
    made = build_release(NVIDIA_DEVICE_PLUGIN, said, values)
    if wrong := _broken(made, said):
        raise InputError([wrong])
    return made


def _values(pools: list[ExpandedPool]) -> Located:
    first = pools[0].at
    parts = {
        "affinity": _affinity(pools),
        "tolerations": listing(list(_tolerations(pools)), first),
        "config": _sharing(pools),
        "resources": _resources(first),
    }
    return tree(parts, first)


def _affinity(pools: list[ExpandedPool]) -> Located:
    """Ask for the nodes of these pools only; the chart's own affinity wants labels that nobody sets."""
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


def _tolerations(pools: list[ExpandedPool]) -> Iterator[Located]:
    """Tolerate every taint of the pools whatever its value, since values differ from pool to pool."""
    seen: dict[tuple[str, str], Located] = {}
    for pool in pools:
        for taint in (*items(pool.taints), *items(pool.startup_taints)):
            seen.setdefault((text_at(taint, "key"), text_at(taint, "effect")), taint)
    yield tree(
        {"key": leaf("CriticalAddonsOnly", pools[0].at), "operator": leaf("Exists", pools[0].at)}, pools[0].at
    )
    for (key, effect), taint in sorted(seen.items()):
        parts = {"key": key, "operator": "Exists", "effect": effect}
        yield tree({name: leaf(value, taint) for name, value in parts.items()}, taint)


def _sharing(pools: list[ExpandedPool]) -> Located | None:
    shared = {pool.slices: pool for pool in pools if pool.slices > 1}
    if not shared:
        return None
    first = pools[0].at
    entries = {"default": leaf(dump({"version": "v1"}), first)}
    for slices, pool in sorted(shared.items()):
        entries[config_name(slices)] = leaf(_time_slicing(slices), pool.at)
    return tree({"map": tree(dict(entries), first), "default": leaf("default", first)}, first)


def _time_slicing(slices: int) -> str:
    """Return a plugin configuration; both switches are written out, since Bottlerocket's defaults differ."""
    sharing = {
        "renameByDefault": False,
        "failRequestsGreaterThanOne": True,
        "resources": [{"name": RESOURCES[Maker.NVIDIA], "replicas": slices}],
    }
    return dump({"version": "v1", "sharing": {"timeSlicing": sharing}})  # type: ignore[dict-item] # a plain tree


def _resources(cause: Located) -> Located:
    """Ask for a little, so that Karpenter counts the plugin when it fills nodes; the chart asks for none."""
    requests = {"cpu": leaf("10m", cause), "memory": leaf("64Mi", cause)}
    return tree({"requests": tree(dict(requests), cause)}, cause)


def _broken(made: Release, said: Located | None) -> Finding | None:
    version, knob = find(said, "version"), find(said, "values", "failOnInitError")
    if made.version == _BROKEN_BOOLEAN and knob is not None and knob.value is not None:
        message = (
            f"chart {_BROKEN_BOOLEAN} renders `failOnInitError` as a boolean, which the API server rejects"
        )
        return Finding(
            Code.CHART_BUG,
            message,
            knob.at,
            "set `version: 0.17.1` or newer, and leave `failOnInitError` at true",
        )
    if version is not None and made.version in _CHANGED_DEFAULTS and not mapping(find(said, "values")):
        message = (
            f"chart {made.version} exposes GDS and GDRCopy devices by default, which AL2023 does not have"
        )
        return Finding(
            Code.CHART_DEFAULTS, message, version.at, "set `version: 0.19.3` or newer", Severity.ERROR
        )
    return None
