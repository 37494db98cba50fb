"""The layered words of one NodePool become Karpenter's."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from gpupool.blueprint.merge import settled
from gpupool.blueprint.merge_schema import PLUGIN_CONFIG_LABEL, by_key
from gpupool.codes import Code
from gpupool.expansion import disruption, limits, requirements, sharing
from gpupool.expansion.accelerator import GPU_PRESENT, maker_of
from gpupool.expansion.catalogue_access import Catalogued
from gpupool.expansion.disruption import karpenters_duration
from gpupool.expansion.expanded import ExpandedPool
from gpupool.expansion.layers import Layered
from gpupool.expansion.problem import Problem, error, told
from gpupool.expansion.target import TargetCluster
from gpupool.findings import Finding, has_errors
from gpupool.karpenter import labels
from gpupool.profiles.load import SHIPPED
from gpupool.shapes.error_messages import nearest
from gpupool.yamlio.located import Located, find, items, leaf, listing, mapping, tree

if TYPE_CHECKING:
    from gpupool.expansion.instance_types import Machines


CLASS_GROUP, CLASS_KIND = "karpenter.k8s.aws", "EC2NodeClass"


class ClassFacts(NamedTuple):
    """What a pool's node class decides about its machines; nothing where only the cluster has it."""

    family: str
    """The family of its image; empty where nothing tells."""

    spec: Located | None
    """The EC2NodeClass spec."""


def expand_pool(
    layered: Layered, of_class: ClassFacts, target: TargetCluster, known: Catalogued, found: list[Finding]
) -> ExpandedPool:
    """Return one NodePool; mistakes go to `found`, and the part that holds one is left out."""
    words = layered.words
    maker, slices = maker_of(words, known), sharing.slices(words)
    made_labels = _labels(words, of_class.family, found)
    made_requirements = requirements.pool_requirements(layered.words_and_nulls, target, known, found)

    @cache
    def admitted() -> "Machines":
        from gpupool.expansion.instance_types import machines

        return machines(layered.name, made_labels, made_requirements, of_class.spec, known)

    def part(word: str, make: Callable[[Located], Located | None]) -> Located | None:
        node = find(words, word)
        try:
            return None if node is None else make(node)
        except Problem as problem:
            found.append(problem.finding)
            return None

    def priced(usd: Located) -> tuple[str, Located] | None:
        from gpupool.expansion.limits import accelerator_limit

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
        taints=part("taints", lambda node: taints(node, found)),
        startup_taints=part("startupTaints", lambda node: taints(node, found)),
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


def _own_limits(layered: Layered, node: Located) -> Located:
    """Return a pool's or tier's limits in its own words, a share of the pool's worked out."""
    if isinstance(node.value, str):
        return limits.shared_out(settled(layered.pool_limits or node), node)
    return node


def _labels(words: Located, ami_family: str, found: list[Finding]) -> Located | None:
    said = find(words, "labels")
    made = dict(mapping(said))
    for key, node in made.items():
        if wrong := labels.find_key_problem(key):
            found.append(
                error(Code.LABEL_KEY, f"label `{key}`: {wrong}", replace(node, at=node.key or node.at))
            )
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
    return Located(dict(sorted(made.items())), (said or words).at)


def _annotations(words: Located) -> Located | None:
    said, protected = find(words, "annotations"), find(words, "doNotDisrupt")
    made = dict(mapping(said))
    if protected is not None and protected.value:
        made[labels.DO_NOT_DISRUPT] = leaf("true", protected, "doNotDisrupt")
    if not made and (said is None or said.value):
        return None
    return Located(dict(sorted(made.items())), (said or protected or words).at)


def _class_ref(layered: Layered, words: Located) -> Located:
    own = find(words, "nodeClassRef")
    if own is not None:
        return tree({key: mapping(own).get(key) for key in ("group", "kind", "name")}, own)
    cause = find(layered.own, "nodeClass") or layered.own
    parts = {"group": CLASS_GROUP, "kind": CLASS_KIND, "name": layered.class_name}
    return tree({key: leaf(value, cause) for key, value in parts.items()}, cause)


EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def taints(word: Located, found: list[Finding]) -> Located | None:
    """Return Karpenter's list for a `taints` word.

    An empty list stays one, and is rendered; an empty map says nothing. A taint that is neither
    `value:Effect` nor `Effect` goes to `found`.
    """
    if word.value == {}:
        return None
    made: list[Located] = []
    for key, said in by_key(word).items():
        for item in items(said) or [said]:
            made += told(found, partial(_taint, key, item))
    return listing(made, word)


def _taint(key: str, item: Located) -> list[Located]:
    if isinstance(item.value, dict):
        parts = mapping(item)
        return [tree({name: parts.get(name) for name in ("key", "value", "effect")}, item)]
    value, colon, effect = str(item.value).rpartition(":")
    if effect not in EFFECTS:
        near = nearest(effect, EFFECTS)
        fix = f"did you mean `{near}`?" if near else f"set `{key}: true:NoSchedule`, or only the effect"
        raise Problem(
            Code.TAINT, f"taint `{key}`: unknown effect `{effect}` ({', '.join(EFFECTS)})", item, fix
        )
    if colon and not value:
        raise Problem(
            Code.TAINT,
            f"taint `{key}` has an empty value",
            item,
            f"set `{effect}` for a taint without a value",
        )
    said = {
        "key": leaf(key, item),
        "value": leaf(value, item) if value else None,
        "effect": leaf(effect, item),
    }
    return [tree(said, item)]
