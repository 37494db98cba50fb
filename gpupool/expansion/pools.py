"""The layered words of one NodePool become Karpenter's."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from gpupool.blueprint.kinds import PLUGIN_CONFIG_LABEL
from gpupool.blueprint.merge import settled
from gpupool.codes import Code
from gpupool.expansion import disruption, limits, requirements, sharing, taints
from gpupool.expansion.accelerator import GPU_PRESENT, maker_of
from gpupool.expansion.catalogued import Catalogued
from gpupool.expansion.durations import karpenters as karpenters_duration
from gpupool.expansion.expanded import ExpandedPool
from gpupool.expansion.layers import Layered
from gpupool.expansion.problem import Problem, error
from gpupool.expansion.target import Target
from gpupool.findings import Finding, has_errors
from gpupool.karpenter import labels
from gpupool.profiles.load import SHIPPED
from gpupool.yamlio.nodes import Node, find, leaf, mapping, tree

if TYPE_CHECKING:
    from gpupool.expansion.machines import Machines

CLASS_GROUP, CLASS_KIND = "karpenter.k8s.aws", "EC2NodeClass"


class OfClass(NamedTuple):
    """What a pool's node class decides about its machines; nothing where only the cluster has it."""

    family: str
    """The family of its image; empty where nothing tells."""

    spec: Node | None
    """The EC2NodeClass spec."""


def expand_pool(
    layered: Layered, of_class: OfClass, target: Target, known: Catalogued, found: list[Finding]
) -> ExpandedPool:
    """Give one NodePool; mistakes go to `found`, and the part that holds one is left out."""
    words = layered.words
    maker, slices = maker_of(words, known), sharing.slices(words)
    made_labels = _labels(words, of_class.family, found)
    made_requirements = requirements.pool_requirements(layered.words_and_nulls, target, known, found)

    @cache
    def admitted() -> "Machines":
        from gpupool.expansion.machines import machines

        return machines(layered.name, made_labels, made_requirements, of_class.spec, known)

    def part(word: str, make: Callable[[Node], Node | None]) -> Node | None:
        node = find(words, word)
        try:
            return None if node is None else make(node)
        except Problem as problem:
            found.append(problem.finding)
            return None

    def priced(usd: Node) -> tuple[str, Node] | None:
        from gpupool.expansion.dollars import accelerator_limit

        # Which machines there are is not known while a word that chooses them is wrong.
        return None if has_errors(found) else accelerator_limit(usd, admitted(), maker, slices, found)

    own_limits = part("limits", lambda node: _own_limits(layered, node))

    return ExpandedPool(
        name=layered.name,
        pool=layered.pool,
        path=layered.path,
        at=layered.tier or layered.own,
        metadata=find(words, "metadata"),
        labels=made_labels,
        annotations=_annotations(words),
        class_ref=_class_ref(layered, words),
        requirements=made_requirements,
        taints=part("taints", lambda node: taints.taints(node, found)),
        startup_taints=part("startupTaints", lambda node: taints.taints(node, found)),
        expire_after=part("expireAfter", karpenters_duration),
        termination_grace_period=part("terminationGracePeriod", karpenters_duration),
        disruption=part("disruption", lambda node: disruption.disruption(node, target, found)),
        limits=part("limits", lambda _: own_limits and limits.karpenters(own_limits, maker, slices, priced)),
        usd_per_hour=find(own_limits, limits.USD),
        weight=find(words, "weight"),
        replicas=find(words, "replicas"),
        maker=maker,
        ami_family=of_class.family,
        slices=slices,
        gpu_counts=admitted().gpu_counts if slices > 1 else (),
    )


def _own_limits(layered: Layered, node: Node) -> Node:
    """Give a pool's or tier's limits in its own words, a share of the pool's worked out."""
    if isinstance(node.value, str):
        return limits.shared_out(settled(layered.pool_limits or node), node)
    return node


def _labels(words: Node, ami_family: str, found: list[Finding]) -> Node | None:
    said = find(words, "labels")
    made = dict(mapping(said))
    for key, node in made.items():
        if wrong := labels.key_problem(key):
            message, fix = f"the label `{key}` {wrong}", "remove it, or use your own domain"
            found.append(error(Code.LABEL_KEY, message, replace(node, at=node.key or node.at), fix))
    if ami_family == "Bottlerocket" and (present := made.get(GPU_PRESENT)):
        if not present.at.file.startswith(SHIPPED):
            message = "on Bottlerocket this label starts a second device plugin beside the image's own"
            found.append(
                error(Code.TWO_PLUGINS, message, present, "remove the label; two plugins break the GPUs")
            )
        del made[GPU_PRESENT]
    share = find(words, "sharing", "timeSlicing")
    if share is not None:
        made[PLUGIN_CONFIG_LABEL] = leaf(
            sharing.config_name(int(str(share.value))), share, "sharing.timeSlicing"
        )
    if not made and (said is None or said.value):
        return None
    return Node(dict(sorted(made.items())), (said or words).at)


def _annotations(words: Node) -> Node | None:
    said, protected = find(words, "annotations"), find(words, "doNotDisrupt")
    made = dict(mapping(said))
    if protected is not None and protected.value:
        made[labels.DO_NOT_DISRUPT] = leaf("true", protected, "doNotDisrupt")
    if not made and (said is None or said.value):
        return None
    return Node(dict(sorted(made.items())), (said or protected or words).at)


def _class_ref(layered: Layered, words: Node) -> Node:
    own = find(words, "nodeClassRef")
    if own is not None:
        return tree({key: mapping(own).get(key) for key in ("group", "kind", "name")}, own)
    cause = find(layered.own, "nodeClass") or layered.own
    parts = {"group": CLASS_GROUP, "kind": CLASS_KIND, "name": layered.class_name}
    return tree({key: leaf(value, cause) for key, value in parts.items()}, cause)
