"""The words that choose machines become Karpenter's requirements, in one fixed order by key."""

from collections.abc import Iterator
from functools import partial

from gpupool.blueprint.merge import settled
from gpupool.blueprint.merge_schema import INSTANCE_LABELS, by_key, pool_reach
from gpupool.catalogue.accelerators import GPU_MAKERS, Maker
from gpupool.codes import Code
from gpupool.expansion import constraints
from gpupool.expansion.catalogue_access import Catalogued
from gpupool.expansion.problem import Problem, error, info, told
from gpupool.expansion.target import TargetCluster
from gpupool.findings import Finding, has_errors
from gpupool.karpenter import labels
from gpupool.scheduling.naming.checks import check_requirement_names, check_value_names, is_looked_up
from gpupool.scheduling.naming.names import ACCELERATOR
from gpupool.yamlio.located import Located, find, items, leaf, listing, mapping, text_at

_GPU_LABELS = (labels.INSTANCE_GPU_NAME, labels.INSTANCE_GPU_MANUFACTURER)
_MANUFACTURER_VALUES = {Maker.NEURON: "aws"}
_KARPENTERS_ORDER = ("reserved", "spot", "on-demand")


def pool_requirements(
    words: Located, target: TargetCluster, known: Catalogued, found: list[Finding]
) -> Located | None:
    """Return the requirement list of one NodePool; `words` still holds its `null`s.

    Mistakes go to `found`; the word that holds one is left out.
    """
    made: list[Located] = []
    for label, node, in_short in _said_of_labels(words):
        wanted = told(found, partial(_of_label, label, node))
        found += names(wanted, known, in_short=in_short)
        made += wanted
    made += told(found, lambda: list(_accelerator(words, known, found)))
    zones = list(_zones(words, target, found))
    found += names(zones, known)
    made += zones
    found += _order_notes(words)
    found += _lets_cpu_machines_in(made)
    return listing(sorted(made, key=_key), words)


def _key(requirement: Located) -> str:
    return text_at(requirement, "key")


def _said(words: Located, *path: str) -> Located | None:
    node = find(words, *path)
    return None if node is None or node.value is None else node


def _said_of_labels(words: Located) -> Iterator[tuple[str, Located, bool]]:
    """Yield each label that a word speaks about alone, the constraint on it, and whether the word is short."""
    for word, label in (("arch", labels.ARCH), ("os", labels.OS), ("capacity", labels.CAPACITY_TYPE)):
        node = _said(words, word)
        if node is not None and node.value != "any":
            yield label, node, True
    for in_short, by_label in (
        (True, {INSTANCE_LABELS[word]: node for word, node in mapping(find(words, "instances")).items()}),
        (False, by_key(find(words, "requirements"))),
    ):
        yield from ((label, node, in_short) for label, node in by_label.items() if node.value is not None)


def names(wanted: list[Located], known: Catalogued, *, in_short: bool = False) -> Iterator[Finding]:
    """Find names in Karpenter's requirements that the catalogue lacks; a slip in a short word is an error."""
    for each in wanted:
        if is_looked_up(each):
            yield from check_requirement_names(known.names, each, in_short=in_short)


def _of_label(label: str, node: Located) -> list[Located]:
    if wrong := labels.find_key_problem(label):
        raise Problem(Code.LABEL_KEY, f"requirement `{label}`: {wrong}", node)
    constraint = settled(node)
    return [] if constraint.value is None else list(constraints.requirements(label, constraint))


def _order_notes(words: Located) -> Iterator[Finding]:
    said = [str(item.value) for item in items(find(words, "capacity"))]
    if said != [word for word in _KARPENTERS_ORDER if word in said]:
        message = "the order of `capacity` is ignored: Karpenter tries reserved, then spot, then on-demand"
        node = find(words, "capacity")
        if node is not None:
            yield info(Code.CAPACITY_ORDER, message, node, "use `tiers` to set an order")


def _zones(words: Located, target: TargetCluster, found: list[Finding]) -> Iterator[Located]:
    node = _said(words, "zones")
    if node is None:
        return
    by_label: dict[str, list[Located]] = {}
    for word in items(node) or [node]:
        try:
            label, zone = target.zone(word)
            by_label.setdefault(label, []).append(zone)
        except Problem as problem:
            found.append(problem.finding)
    for label, zones in by_label.items():
        yield constraints.requirement(label, "In", node, zones)


def _accelerator(words: Located, known: Catalogued, found: list[Finding]) -> Iterator[Located]:
    node = _said(words, "accelerator")
    if node is None:
        return
    names = items(node) or [node]
    said = list(_unknown(names, known))
    found += said
    if has_errors(said):
        return
    reached = {label for name in names if (label := _chip_label(str(name.value), known))}
    if len(reached) > 1 or (len(names) > 1 and any(name.value == "none" for name in names)):
        fix = "create a pool for each, or use `requirements`"
        message = "one pool can't select several kinds of accelerator"
        raise Problem(Code.ACCELERATOR, message, node, fix)
    for label in reached:
        values = [leaf(_MANUFACTURER_VALUES.get(Maker(name), name), item) if label in _BY_MAKER else item
                  for item in names if (name := str(item.value))]  # fmt: skip
        yield constraints.requirement(label, "In", node, values)
    yield from _guards(words, node, next(iter(reached), ""))


_BY_MAKER = (labels.INSTANCE_GPU_MANUFACTURER, labels.INSTANCE_ACCELERATOR_MANUFACTURER)


def _unknown(names: list[Located], known: Catalogued) -> Iterator[Finding]:
    """Find accelerators that the catalogue lacks."""
    if any(name.value != "none" for name in names):
        yield from check_value_names(known.names, ACCELERATOR, names, in_short=True)


def _chip_label(name: str, known: Catalogued) -> str:
    """Return the label that a name stands in; where nothing tells, it is taken for a GPU's."""
    if name == "none":
        return ""
    if name in set(Maker):
        return _BY_MAKER[Maker(name) not in GPU_MAKERS]
    is_other = known.accelerators.is_gpu(name) is False
    return (labels.INSTANCE_GPU_NAME, labels.INSTANCE_ACCELERATOR_NAME)[is_other]


def _guards(words: Located, node: Located, label: str) -> Iterator[Located]:
    """Keep out machines that a name alone lets in; a word of anybody's on the same key wins.

    `label` is the one that the name stands in; `none` stands in none.
    """
    spoken = {target for path, target in pool_reach(words) if path != ("accelerator",)}
    if not label:
        for count in (labels.INSTANCE_GPU_COUNT, labels.INSTANCE_ACCELERATOR_COUNT):
            if f"requirement {count}" not in spoken:
                yield constraints.requirement(count, "DoesNotExist", node, note="guard of accelerator: none")
    elif label in _GPU_LABELS and f"requirement {labels.INSTANCE_GPU_COUNT}" not in spoken:
        note = "guard of accelerator: fractional GPUs count 0"
        yield constraints.requirement(labels.INSTANCE_GPU_COUNT, "Gt", node, [leaf("0", node, note)], note)


def _lets_cpu_machines_in(made: list[Located]) -> Iterator[Finding]:
    """Find a NotIn on the GPU count beside a bound: together they also let machines without GPUs in."""
    counts = [node for node in made if _key(node) == labels.INSTANCE_GPU_COUNT]
    operators = {text_at(node, "operator") for node in counts}
    if "NotIn" in operators and operators & {"Gt", "Lt", "Gte", "Lte"}:
        node = next(node for node in counts if text_at(node, "operator") == "NotIn")
        message = "`not` beside a bound on the GPU count also matches instance types without a GPU"
        yield error(Code.CPU_MACHINES_TOO, message, node, "list the counts instead, as in `gpus: [1, 4, 8]`")
