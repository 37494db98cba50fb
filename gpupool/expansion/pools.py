"""Expansion of one NodePool from its merged layers to Karpenter's fields."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from gpupool.blueprint.constraint import TaintEntry
from gpupool.blueprint.keyed import LocatedByKey
from gpupool.blueprint.nodeclass import NodeClassFields
from gpupool.blueprint.pool import PLUGIN_CONFIG_LABEL, BlueprintLimits, PoolFields
from gpupool.codes import Code
from gpupool.expansion import disruption, limits, requirements, sharing
from gpupool.expansion.accelerator import GPU_PRESENT, find_maker, find_maker_causes
from gpupool.expansion.catalogue_access import CatalogueAccess
from gpupool.expansion.causes import add_causes, collect_causes, collect_selection
from gpupool.expansion.expanded import ExpandedPool
from gpupool.expansion.layers import LayeredPool
from gpupool.expansion.nodeclass import find_ami_family, find_family_causes
from gpupool.expansion.problem import Problem, collect_problem, error
from gpupool.expansion.target import TargetCluster
from gpupool.findings import Finding, has_errors
from gpupool.karpenter import labels
from gpupool.profiles.load import SHIPPED
from gpupool.shapes.error_messages import find_close_match
from gpupool.shapes.fields import Fields, Row
from gpupool.yamlio.located import Located, items, leaf, listing, mapping, tree

if TYPE_CHECKING:
    from gpupool.expansion.instance_types import MatchingTypes


PartT = TypeVar("PartT", bound=Fields)
ResultT = TypeVar("ResultT")
CLASS_GROUP, CLASS_KIND = "karpenter.k8s.aws", "EC2NodeClass"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class ClassFacts(NamedTuple):
    """What is known about a pool's node class; nothing for a class that exists only in the cluster."""

    fields: NodeClassFields
    spec: Located | None
    """The EC2NodeClass spec."""

    @property
    def family(self) -> str:
        """Return the AMI family; empty where it is unknown."""
        return find_ami_family(self.fields)


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

    def to_accelerators(usd: Located) -> tuple[str, Located] | None:
        if has_errors(findings):  # the pool's instance types are unknown
            return None
        resource, limit = limits.calculate_accelerator_limit(usd, find_types(), maker, slices, findings)
        selection = collect_selection(fields, class_facts.spec, target)
        return resource, add_causes(limit, collect_causes(*count_causes(), *selection))

    def count_causes() -> tuple[Located, ...]:
        return collect_causes(*find_maker_causes(fields), fields.sharing.node)

    def expand_limits(own: BlueprintLimits) -> Located:
        causes = count_causes() if own.gpus is not None else ()
        return limits.to_karpenter_limits(own, maker, slices, to_accelerators, causes, findings)

    def convert(part: PartT, build: Callable[[PartT], ResultT]) -> ResultT | None:
        try:
            return build(part) if part else None
        except Problem as problem:
            findings.append(problem.finding)
            return None

    own_limits = convert(fields.limits, lambda part: _calculate_limits(layers, part)) or BlueprintLimits(None)
    expanded: dict[Row[Any], Located | None] = {
        PoolFields.labels: node_labels,
        PoolFields.annotations: _expand_annotations(fields),
        PoolFields.node_class_ref: _build_class_ref(layers),
        PoolFields.requirements: node_requirements,
        PoolFields.taints: _expand_taints(fields.taints, findings),
        PoolFields.startup_taints: _expand_taints(fields.startup_taints, findings),
        PoolFields.disruption: convert(
            fields.disruption, lambda part: disruption.expand_disruption(part, target, findings)
        ),
        PoolFields.limits: convert(own_limits, expand_limits),
    }
    values = {row.to: node for row, node in expanded.items()}
    values = {**values, **{to: node for to, node in fields.copied().items() if to not in values}}
    return ExpandedPool(
        name=layers.name,
        pool=layers.pool,
        path=layers.path,
        at=(layers.tier or layers.own).here,
        values={to: node for to, node in values.items() if node is not None},
        usd_per_hour=own_limits.usd_per_hour,
        maker=maker,
        ami_family=class_facts.family,
        slices=slices,
        gpu_counts=find_types().gpu_counts if slices > 1 else (),
    )


def _calculate_limits(layers: LayeredPool, own: BlueprintLimits) -> BlueprintLimits:
    """Return the limits of a pool or tier; a share of the pool's limits is calculated."""
    share = own.here
    return limits.calculate_share(layers.pool_limits, share) if isinstance(share.value, str) else own


def _expand_labels(fields: PoolFields, class_facts: ClassFacts, findings: list[Finding]) -> Located | None:
    setting, also = fields.labels.node, tuple[Located, ...]()
    node_labels: dict[str, Located] = dict(fields.labels.entries)
    for key, node in node_labels.items():
        if problem := labels.find_key_problem(key):
            message, fix = f"the label `{key}` {problem}", "remove it, or use your own domain"
            findings.append(error(Code.LABEL_KEY, message, replace(node, at=node.key or node.at), fix))
    present = node_labels.get(GPU_PRESENT)
    if present is not None:  # whether it is rendered depends on the image
        also = find_family_causes(class_facts.fields)
        node_labels[GPU_PRESENT] = add_causes(present, also)
    if present is not None and class_facts.family == "Bottlerocket":
        if not present.at.file.startswith(SHIPPED):
            message = "on Bottlerocket this label starts a second device plugin beside the image's own"
            findings.append(
                error(Code.TWO_PLUGINS, message, present, "remove the label; two plugins break the GPUs")
            )
        del node_labels[GPU_PRESENT]
    share = fields.sharing.time_slicing
    if share is not None:
        name = sharing.config_name(share.value)
        node_labels[PLUGIN_CONFIG_LABEL] = leaf(name, share, "sharing.timeSlicing")
    if not node_labels and (setting is None or setting.value):
        return None
    return Located(dict(sorted(node_labels.items())), (setting or fields.here).at, also=also)


def _expand_annotations(fields: PoolFields) -> Located | None:
    setting, protected = fields.annotations.node, fields.do_not_disrupt
    node_annotations: dict[str, Located] = dict(fields.annotations.entries)
    if protected is not None and protected.value:
        node_annotations[labels.DO_NOT_DISRUPT] = leaf("true", protected, "doNotDisrupt")
    if not node_annotations and (setting is None or setting.value):
        return None
    return Located(dict(sorted(node_annotations.items())), (setting or protected or fields.here).at)


def _build_class_ref(layers: LayeredPool) -> Located:
    own = layers.fields.node_class_ref
    if own is not None:
        return tree({key: mapping(own).get(key) for key in ("group", "kind", "name")}, own)
    cause = layers.own.node_class.node or layers.own.here
    parts = {"group": CLASS_GROUP, "kind": CLASS_KIND, "name": layers.class_name}
    return tree({key: leaf(value, cause) for key, value in parts.items()}, cause)


def _expand_taints(setting: LocatedByKey, findings: list[Finding]) -> Located | None:
    """Convert `taints` to Karpenter's list.

    An empty list is rendered, an empty map is not. Invalid taints are added to `findings`.
    """
    if setting.node is None or setting.node.value == {}:
        return None
    taints: list[Located] = []
    for key, entry in setting.by_key.items():
        for item in items(entry) or [entry]:
            taints += collect_problem(findings, partial(_expand_taint, key, item))
    return listing(taints, setting.node)


def _expand_taint(key: str, item: Located) -> list[Located]:
    if isinstance(item.value, dict):
        entry = TaintEntry(item)
        return [tree({key: entry.get(key) for key in TaintEntry.rows}, item)]
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
