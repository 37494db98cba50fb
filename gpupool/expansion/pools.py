"""Expansion of one NodePool from its merged layers to Karpenter's fields."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from gpupool.blueprint.merge import remove_nulls
from gpupool.blueprint.merge_schema import PLUGIN_CONFIG_LABEL, map_by_key
from gpupool.codes import Code
from gpupool.expansion import disruption, limits, requirements, sharing
from gpupool.expansion.accelerator import GPU_PRESENT, find_maker, find_maker_causes
from gpupool.expansion.catalogue_access import CatalogueAccess
from gpupool.expansion.causes import add_causes, collect_causes, collect_selection
from gpupool.expansion.disruption import to_karpenter_duration
from gpupool.expansion.expanded import ExpandedPool
from gpupool.expansion.layers import LayeredPool
from gpupool.expansion.problem import Problem, collect_problem, error
from gpupool.expansion.target import TargetCluster
from gpupool.findings import Finding, has_errors
from gpupool.karpenter import labels
from gpupool.profiles.load import SHIPPED
from gpupool.shapes.error_messages import find_close_match
from gpupool.yamlio.located import Located, find, items, leaf, listing, mapping, tree

if TYPE_CHECKING:
    from gpupool.expansion.instance_types import MatchingTypes


CLASS_GROUP, CLASS_KIND = "karpenter.k8s.aws", "EC2NodeClass"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class ClassFacts(NamedTuple):
    """The facts about a pool's node class; empty for a class that exists only in the cluster."""

    family: str
    """The AMI family; empty where it is unknown."""

    spec: Located | None
    """The EC2NodeClass spec."""

    causes: tuple[Located, ...] = ()
    """The fields that determine the AMI family."""


def expand_pool(
    layers: LayeredPool,
    class_facts: ClassFacts,
    target: TargetCluster,
    catalogue: CatalogueAccess,
    findings: list[Finding],
) -> ExpandedPool:
    """Expand one NodePool; errors are added to `findings`, and invalid fields are omitted."""
    fields = layers.fields
    maker, slices = find_maker(fields, catalogue), sharing.count_slices(fields)
    node_labels = _expand_labels(fields, class_facts, findings)
    node_requirements = requirements.build_requirements(layers.fields_and_nulls, target, catalogue, findings)

    @cache
    def find_types() -> "MatchingTypes":
        from gpupool.expansion.instance_types import find_matching_types

        return find_matching_types(layers.name, node_labels, node_requirements, class_facts.spec, catalogue)

    def convert(key: str, build: Callable[[Located], Located | None]) -> Located | None:
        node = find(fields, key)
        try:
            return None if node is None else build(node)
        except Problem as problem:
            findings.append(problem.finding)
            return None

    def to_accelerators(usd: Located) -> tuple[str, Located] | None:
        from gpupool.expansion.limits import calculate_accelerator_limit

        if has_errors(findings):  # the pool's instance types are unknown
            return None
        resource, limit = calculate_accelerator_limit(usd, find_types(), maker, slices, findings)
        selection = collect_selection(fields, class_facts.spec, target.node)
        return resource, add_causes(limit, collect_causes(*count_causes, *selection))

    own_limits = convert("limits", lambda node: _expand_limits(layers, node))
    is_counted = any(key in mapping(own_limits) for key in ("gpus", limits.USD))
    count_causes = collect_causes(*find_maker_causes(fields), find(fields, "sharing")) if is_counted else ()
    return ExpandedPool(
        name=layers.name,
        pool=layers.pool,
        path=layers.path,
        at=layers.tier or layers.own,
        metadata=find(fields, "metadata"),
        labels=node_labels,
        annotations=_expand_annotations(fields),
        class_ref=_build_class_ref(layers, fields),
        requirements=node_requirements,
        taints=convert("taints", lambda node: _expand_taints(node, findings)),
        startup_taints=convert("startupTaints", lambda node: _expand_taints(node, findings)),
        expire_after=convert("expireAfter", to_karpenter_duration),
        termination_grace_period=convert("terminationGracePeriod", to_karpenter_duration),
        disruption=convert("disruption", lambda node: disruption.expand_disruption(node, target, findings)),
        limits=convert(
            "limits",
            lambda _: (
                own_limits
                and limits.to_karpenter_limits(
                    own_limits, maker, slices, to_accelerators, count_causes, findings
                )
            ),
        ),
        usd_per_hour=find(own_limits, limits.USD),
        weight=find(fields, "weight"),
        replicas=find(fields, "replicas"),
        maker=maker,
        ami_family=class_facts.family,
        slices=slices,
        gpu_counts=find_types().gpu_counts if slices > 1 else (),
    )


def _expand_limits(layers: LayeredPool, node: Located) -> Located:
    """Return the limits of a pool or tier; a share of the pool's limits is calculated."""
    if isinstance(node.value, str):
        return limits.calculate_share(remove_nulls(layers.pool_limits or node), node)
    return node


def _expand_labels(fields: Located, class_facts: ClassFacts, findings: list[Finding]) -> Located | None:
    setting, also = find(fields, "labels"), tuple[Located, ...]()
    node_labels = dict(mapping(setting))
    for key, node in node_labels.items():
        if problem := labels.find_key_problem(key):
            message, fix = f"the label `{key}` {problem}", "remove it, or use your own domain"
            findings.append(error(Code.LABEL_KEY, message, replace(node, at=node.key or node.at), fix))
    present = node_labels.get(GPU_PRESENT)
    if present is not None:  # whether it is rendered depends on the image
        also = class_facts.causes
        node_labels[GPU_PRESENT] = add_causes(present, also)
    if present is not None and class_facts.family == "Bottlerocket":
        if not present.at.file.startswith(SHIPPED):
            message = "on Bottlerocket this label starts a second device plugin beside the image's own"
            findings.append(
                error(Code.TWO_PLUGINS, message, present, "remove the label; two plugins break the GPUs")
            )
        del node_labels[GPU_PRESENT]
    share = find(fields, "sharing", "timeSlicing")
    if share is not None:
        node_labels[PLUGIN_CONFIG_LABEL] = leaf(
            sharing.config_name(int(str(share.value))), share, "sharing.timeSlicing"
        )
    if not node_labels and (setting is None or setting.value):
        return None
    return Located(dict(sorted(node_labels.items())), (setting or fields).at, also=also)


def _expand_annotations(fields: Located) -> Located | None:
    setting, protected = find(fields, "annotations"), find(fields, "doNotDisrupt")
    node_annotations = dict(mapping(setting))
    if protected is not None and protected.value:
        node_annotations[labels.DO_NOT_DISRUPT] = leaf("true", protected, "doNotDisrupt")
    if not node_annotations and (setting is None or setting.value):
        return None
    return Located(dict(sorted(node_annotations.items())), (setting or protected or fields).at)


def _build_class_ref(layers: LayeredPool, fields: Located) -> Located:
    own = find(fields, "nodeClassRef")
    if own is not None:
        return tree({key: mapping(own).get(key) for key in ("group", "kind", "name")}, own)
    cause = find(layers.own, "nodeClass") or layers.own
    parts = {"group": CLASS_GROUP, "kind": CLASS_KIND, "name": layers.class_name}
    return tree({key: leaf(value, cause) for key, value in parts.items()}, cause)


def _expand_taints(setting: Located, findings: list[Finding]) -> Located | None:
    """Convert `taints` to Karpenter's list.

    An empty list is rendered, an empty map is not. Invalid taints are added to `findings`.
    """
    if setting.value == {}:
        return None
    taints: list[Located] = []
    for key, entry in map_by_key(setting).items():
        for item in items(entry) or [entry]:
            taints += collect_problem(findings, partial(_expand_taint, key, item))
    return listing(taints, setting)


def _expand_taint(key: str, item: Located) -> list[Located]:
    if isinstance(item.value, dict):
        parts = mapping(item)
        return [tree({name: parts.get(name) for name in ("key", "value", "effect")}, item)]
    value, colon, effect = str(item.value).rpartition(":")
    if effect not in _EFFECTS:
        match = find_close_match(effect, _EFFECTS)
        fix = f"did you mean `{match}`?" if match else f"set `{key}: true:NoSchedule`, or only the effect"
        raise Problem(
            Code.TAINT, f"taint `{key}`: unknown effect `{effect}` ({', '.join(_EFFECTS)})", item, fix
        )
    if colon and not value:
        raise Problem(
            Code.TAINT,
            f"taint `{key}` has an empty value",
            item,
            f"set `{effect}` for a taint without a value",
        )
    taint = {
        "key": leaf(key, item),
        "value": leaf(value, item) if value else None,
        "effect": leaf(effect, item),
    }
    return [tree(taint, item)]
