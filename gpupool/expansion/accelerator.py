"""Whose accelerators a pool has, as far as its words tell."""

from collections.abc import Iterator

from gpupool.blueprint.merge_schema import map_by_key
from gpupool.catalogue.accelerators import GPU_MAKERS, RESOURCES, Maker
from gpupool.expansion.catalogue_access import CatalogueAccess
from gpupool.karpenter import labels
from gpupool.yamlio.located import Located, find, items, mapping

GPU_PRESENT = "nvidia.com/gpu.present"
NEURON_PRESENT = "aws.amazon.com/neuron.present"
_BY_LABEL = {GPU_PRESENT: Maker.NVIDIA, NEURON_PRESENT: Maker.NEURON}
_BY_RESOURCE = {resource: maker for maker, resource in RESOURCES.items()}
_BY_WORD = {"gpus": Maker.NVIDIA, "gpuMemory": Maker.NVIDIA}
_NAMES = (labels.INSTANCE_GPU_NAME, labels.INSTANCE_ACCELERATOR_NAME)
_MANUFACTURERS: dict[str, dict[str, Maker]] = {
    labels.INSTANCE_GPU_MANUFACTURER: {maker.value: maker for maker in GPU_MAKERS},
    labels.INSTANCE_ACCELERATOR_MANUFACTURER: {"aws": Maker.NEURON},
}


def find_maker(words: Located, known: CatalogueAccess) -> Maker | None:
    """Return the maker of a pool's accelerators: from what it chooses, or else from what it hints at."""
    return find_chosen_maker(words, known) or find_hinted_maker(words)


def find_chosen_maker(words: Located, known: CatalogueAccess) -> Maker | None:
    """Return the maker that the words which choose machines speak of; None where they tell nothing."""
    return next((maker for maker in _choices(words, known) if maker is not None), None)


def find_hinted_maker(words: Located) -> Maker | None:
    """Return the maker that taints, labels, limits and GPU counts speak of."""
    return next((maker for maker, _ in find_maker_hints(words)), None)


def find_maker_hints(words: Located) -> Iterator[tuple[Maker, Located]]:
    """Yield each taint, label, limit or count that speaks of a maker, and where it stands.

    The words have to be settled: a `null` speaks of nobody.
    """
    for said, makers in (
        (map_by_key(find(words, "taints")), _BY_RESOURCE),
        (mapping(find(words, "labels")), _BY_LABEL),
        (mapping(find(words, "limits")), _BY_RESOURCE),
        (mapping(find(words, "instances")), _BY_WORD),
    ):
        yield from ((makers[key], node) for key, node in said.items() if key in makers)


def _choices(words: Located, known: CatalogueAccess) -> Iterator[Maker | None]:
    for name in _values(find(words, "accelerator")):
        yield Maker(name) if name in set(Maker) else known.accelerators.maker(name)
    own = map_by_key(find(words, "requirements"))
    for label, of in _MANUFACTURERS.items():
        yield from (of.get(value) for value in _values(own.get(label)))
    for label in _NAMES:
        yield from (known.accelerators.maker(value) for value in _values(own.get(label)))
    for word, label in (("types", labels.INSTANCE_TYPE), ("families", labels.INSTANCE_FAMILY)):
        for node in (find(words, "instances", word), own.get(label)):
            yield from (
                known.accelerators.maker_of_family(value.partition(".")[0]) for value in _values(node)
            )
    for node in (find(words, "instances", "categories"), own.get(labels.INSTANCE_CATEGORY)):
        yield from (known.accelerators.maker_of_category(value) for value in _values(node))


def _values(constraint: Located | None) -> list[str]:
    """Return the values that a constraint lists; none where it bounds or excludes."""
    if constraint is None:
        return []
    inner = find(constraint, "in") or constraint
    found = []
    for node in items(inner) or [inner]:
        own = items(find(node, "values")) if str(getattr(find(node, "operator"), "value", "")) == "In" else []
        found += [item.value for item in own or [node] if isinstance(item.value, str)]
    return found
