"""Manufacturer of a pool's accelerators, derived from the pool's fields."""

from collections.abc import Iterator

from gpupool.blueprint.merge_schema import NAME_LABELS, map_by_key
from gpupool.catalogue.accelerators import GPU_MAKERS, RESOURCES, Maker
from gpupool.expansion.catalogue_access import CatalogueAccess
from gpupool.expansion.causes import collect_causes
from gpupool.karpenter import labels
from gpupool.yamlio.located import Located, find, items, mapping

GPU_PRESENT = "nvidia.com/gpu.present"
NEURON_PRESENT = "aws.amazon.com/neuron.present"
_BY_LABEL = {GPU_PRESENT: Maker.NVIDIA, NEURON_PRESENT: Maker.NEURON}
_BY_RESOURCE = {resource: maker for maker, resource in RESOURCES.items()}
_BY_INSTANCE_FIELD = {"gpus": Maker.NVIDIA, "gpuMemory": Maker.NVIDIA}
_MANUFACTURERS: dict[str, dict[str, Maker]] = {
    labels.INSTANCE_GPU_MANUFACTURER: {maker.value: maker for maker in GPU_MAKERS},
    labels.INSTANCE_ACCELERATOR_MANUFACTURER: {"aws": Maker.NEURON},
}


def find_maker(fields: Located, catalogue: CatalogueAccess) -> Maker | None:
    """Return the maker of a pool's accelerators: from its instance selection, or else from its hints."""
    return find_chosen_maker(fields, catalogue) or find_hinted_maker(fields)


def find_chosen_maker(fields: Located, catalogue: CatalogueAccess) -> Maker | None:
    """Return the maker from the fields that select instance types; None where they do not determine it."""
    return next((maker for maker in _find_makers(fields, catalogue) if maker is not None), None)


def find_hinted_maker(fields: Located) -> Maker | None:
    """Return the maker from taints, labels, limits and GPU counts; None where they do not determine it."""
    return next((maker for maker, _ in find_maker_hints(fields)), None)


def find_maker_hints(fields: Located) -> Iterator[tuple[Maker, Located]]:
    """Yield the maker and the location of each taint, label, limit or count that implies one.

    The fields must not contain `null`s.
    """
    for entries, makers in (
        (map_by_key(find(fields, "taints")), _BY_RESOURCE),
        (mapping(find(fields, "labels")), _BY_LABEL),
        (mapping(find(fields, "limits")), _BY_RESOURCE),
        (mapping(find(fields, "instances")), _BY_INSTANCE_FIELD),
    ):
        yield from ((makers[key], node) for key, node in entries.items() if key in makers)


def find_maker_causes(fields: Located) -> tuple[Located, ...]:
    """Return the fields that determine the maker: `accelerator`, or else the selection, or else a hint."""
    selection = collect_causes(find(fields, "instances"), find(fields, "requirements"))
    hints = [node for _, node in find_maker_hints(fields)][:1]
    return collect_causes(find(fields, "accelerator")) or (*selection, *hints)


def _find_makers(fields: Located, catalogue: CatalogueAccess) -> Iterator[Maker | None]:
    for name in _listed_values(find(fields, "accelerator")):
        yield Maker(name) if name in set(Maker) else catalogue.accelerators.maker(name)
    own = map_by_key(find(fields, "requirements"))
    for label, makers in _MANUFACTURERS.items():
        yield from (makers.get(value) for value in _listed_values(own.get(label)))
    for label in NAME_LABELS:
        yield from (catalogue.accelerators.maker(value) for value in _listed_values(own.get(label)))
    for field, label in (("types", labels.INSTANCE_TYPE), ("families", labels.INSTANCE_FAMILY)):
        for node in (find(fields, "instances", field), own.get(label)):
            yield from (
                catalogue.accelerators.maker_of_family(value.partition(".")[0])
                for value in _listed_values(node)
            )
    for node in (find(fields, "instances", "categories"), own.get(labels.INSTANCE_CATEGORY)):
        yield from (catalogue.accelerators.maker_of_category(value) for value in _listed_values(node))


def _listed_values(constraint: Located | None) -> list[str]:
    """Return the values that a constraint lists; empty for a bound or an exclusion."""
    if constraint is None:
        return []
    inner = find(constraint, "in") or constraint
    values = []
    for node in items(inner) or [inner]:
        own = items(find(node, "values")) if str(getattr(find(node, "operator"), "value", "")) == "In" else []
        values += [item.value for item in own or [node] if isinstance(item.value, str)]
    return values
