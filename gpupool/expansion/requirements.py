"""The words that choose machines become Karpenter's requirements, in one fixed order by key."""

from collections.abc import Iterator
from functools import partial

from gpupool.blueprint.kinds import INSTANCE_LABELS, accelerator_labels, by_key, pool_reach
from gpupool.blueprint.merge import settled
from gpupool.catalogue.accelerators import GPU_MAKERS, MAKERS, Maker
from gpupool.codes import Code
from gpupool.expansion import constraints
from gpupool.expansion.problem import Problem, error, info, told
from gpupool.expansion.target import Target
from gpupool.findings import Finding
from gpupool.karpenter import labels
from gpupool.shapes.words import nearest
from gpupool.yamlio.nodes import Node, find, items, leaf, listing, mapping, text_at

_MANUFACTURER_VALUES = {Maker.NEURON: "aws"}
_KARPENTERS_ORDER = ("reserved", "spot", "on-demand")


def pool_requirements(words: Node, target: Target, found: list[Finding]) -> Node | None:
    """Give the requirement list of one NodePool; `words` still holds its `null`s.

    Mistakes go to `found`; the word that holds one is left out.
    """
    made: list[Node] = []
    for label, node in _said_of_labels(words):
        made += told(found, partial(_of_label, label, node))
    made += told(found, lambda: list(_accelerator(words, found)))
    made += _zones(words, target, found)
    found += _order_notes(words)
    found += _lets_cpu_machines_in(made)
    return listing(sorted(made, key=_key), words)


def _key(requirement: Node) -> str:
    return text_at(requirement, "key")


def _said(words: Node, *path: str) -> Node | None:
    node = find(words, *path)
    return None if node is None or node.value is None else node


def _said_of_labels(words: Node) -> Iterator[tuple[str, Node]]:
    """Give each label that a word speaks about alone, and the constraint on it."""
    for word, label in (("arch", labels.ARCH), ("os", labels.OS), ("capacity", labels.CAPACITY_TYPE)):
        node = _said(words, word)
        if node is not None and node.value != "any":
            yield label, node
    for by_label in (
        {INSTANCE_LABELS[word]: node for word, node in mapping(find(words, "instances")).items()},
        by_key(find(words, "requirements")),
    ):
        yield from ((label, node) for label, node in by_label.items() if node.value is not None)


def _of_label(label: str, node: Node) -> list[Node]:
    if wrong := labels.key_problem(label):
        raise Problem(Code.LABEL_KEY, f"requirement `{label}`: {wrong}", node)
    constraint = settled(node)
    return [] if constraint.value is None else list(constraints.requirements(label, constraint))


def _order_notes(words: Node) -> Iterator[Finding]:
    said = [str(item.value) for item in items(find(words, "capacity"))]
    if said != [word for word in _KARPENTERS_ORDER if word in said]:
        message = "Karpenter tries reserved, spot, on-demand in this order, whatever the order here"
        node = find(words, "capacity")
        if node is not None:
            yield info(Code.CAPACITY_ORDER, message, node, "use `tiers` where the order matters")


def _zones(words: Node, target: Target, found: list[Finding]) -> Iterator[Node]:
    node = _said(words, "zones")
    if node is None:
        return
    by_label: dict[str, list[Node]] = {}
    for word in items(node) or [node]:
        try:
            label, zone = target.zone(word)
            by_label.setdefault(label, []).append(zone)
        except Problem as problem:
            found.append(problem.finding)
    for label, zones in by_label.items():
        yield constraints.requirement(label, "In", node, zones)


def _accelerator(words: Node, found: list[Finding]) -> Iterator[Node]:
    node = _said(words, "accelerator")
    if node is None:
        return
    names = items(node) or [node]
    if unknown := [_unknown(name) for name in names if not _is_known(name)]:
        found += unknown
        return
    reached = {label for name in names for label in accelerator_labels(str(name.value))}
    if len(reached) > 1 or (len(names) > 1 and any(name.value == "none" for name in names)):
        fix = "make a pool for each, or use `requirements`"
        message = "one pool can't ask for several kinds of accelerator at once"
        raise Problem(Code.ACCELERATOR, message, node, fix)
    for label in reached:
        values = [leaf(_MANUFACTURER_VALUES.get(Maker(name), name), item) if label in _BY_MAKER else item
                  for item in names if (name := str(item.value))]  # fmt: skip
        yield constraints.requirement(label, "In", node, values)
    yield from _guards(words, node, str(names[0].value))


_BY_MAKER = (labels.INSTANCE_GPU_MANUFACTURER, labels.INSTANCE_ACCELERATOR_MANUFACTURER)


def _is_known(word: Node) -> bool:
    return word.value == "none" or word.value in MAKERS or word.value in set(Maker)


def _unknown(word: Node) -> Finding:
    name = str(word.value)
    near = nearest(name, [*MAKERS, *Maker, "none"])
    newer = f"a newer one goes under `requirements: {{{labels.INSTANCE_GPU_NAME}: {name}}}`"
    fix = f"did you mean `{near}`?" if near else newer
    return error(Code.ACCELERATOR, f"unknown accelerator `{name}`", word, fix)


def _guards(words: Node, node: Node, name: str) -> Iterator[Node]:
    """Keep out machines that a name alone lets in; a word of anybody's on the same key wins."""
    spoken = {target for path, target in pool_reach(words) if path != ("accelerator",)}
    if name == "none":
        for label in (labels.INSTANCE_GPU_COUNT, labels.INSTANCE_ACCELERATOR_COUNT):
            if f"requirement {label}" not in spoken:
                yield constraints.requirement(label, "DoesNotExist", node, note="guard of accelerator: none")
    elif MAKERS.get(name, name) in GPU_MAKERS and f"requirement {labels.INSTANCE_GPU_COUNT}" not in spoken:
        note = "guard of accelerator: fractional GPUs count 0"
        yield constraints.requirement(labels.INSTANCE_GPU_COUNT, "Gt", node, [leaf("0", node, note)], note)


def _lets_cpu_machines_in(made: list[Node]) -> Iterator[Finding]:
    """Find a NotIn on the GPU count beside a bound: together they also let machines without GPUs in."""
    counts = [node for node in made if _key(node) == labels.INSTANCE_GPU_COUNT]
    operators = {text_at(node, "operator") for node in counts}
    if "NotIn" in operators and operators & {"Gt", "Lt", "Gte", "Lte"}:
        node = next(node for node in counts if text_at(node, "operator") == "NotIn")
        message = "`not` beside a bound on the GPU count lets machines without a GPU in"
        yield error(
            Code.CPU_MACHINES_TOO, message, node, "list the counts that are wanted: `gpus: [1, 4, 8]`"
        )
