"""Manufacturer of a pool's accelerators, derived from the pool's fields."""

from collections.abc import Iterator, Mapping

from gpupool.blueprint.constraint import Membership, RequirementEntry
from gpupool.blueprint.pool import PoolFields
from gpupool.blueprint.targets import NAME_LABELS
from gpupool.catalogue.accelerators import GPU_MAKERS, RESOURCES, Maker
from gpupool.expansion.catalogue_access import CatalogueAccess
from gpupool.expansion.causes import collect_causes
from gpupool.karpenter import labels
from gpupool.shapes.fields import LocatedItems
from gpupool.yamlio.located import Located, YamlValue, text_of

GPU_PRESENT = "nvidia.com/gpu.present"
NEURON_PRESENT = "aws.amazon.com/neuron.present"
_BY_LABEL = {GPU_PRESENT: Maker.NVIDIA, NEURON_PRESENT: Maker.NEURON}
_BY_RESOURCE = {resource: maker for maker, resource in RESOURCES.items()}
_MANUFACTURERS: dict[str, dict[str, Maker]] = {
    labels.INSTANCE_GPU_MANUFACTURER: {maker.value: maker for maker in GPU_MAKERS},
    labels.INSTANCE_ACCELERATOR_MANUFACTURER: {"aws": Maker.NEURON},
}


def find_maker(fields: PoolFields, catalogue: CatalogueAccess) -> Maker | None:
    """Return the maker of a pool's accelerators: from its instance selection, or else from its hints."""
    return find_chosen_maker(fields, catalogue) or find_hinted_maker(fields)


def find_chosen_maker(fields: PoolFields, catalogue: CatalogueAccess) -> Maker | None:
    """Return the maker from the fields that select instance types; None where they do not determine it."""
    return next((maker for maker in _find_makers(fields, catalogue) if maker is not None), None)


def find_hinted_maker(fields: PoolFields) -> Maker | None:
    """Return the maker from taints, labels, limits and GPU counts; None where they do not determine it."""
    return next((maker for maker, _ in find_maker_hints(fields)), None)


def find_maker_hints(fields: PoolFields) -> Iterator[tuple[Maker, Located]]:
    """Yield the maker and the location of each taint, label, limit or count that implies one."""
    named: tuple[tuple[Mapping[str, Located], Mapping[str, Maker]], ...] = (
        (fields.taints.by_key, _BY_RESOURCE),
        (fields.labels.entries, _BY_LABEL),
        (fields.limits.entries(), _BY_RESOURCE),
    )
    for entries, makers in named:
        yield from ((makers[key], node) for key, node in entries.items() if key in makers)
    for node in (fields.instances.gpus, fields.instances.gpu_memory):
        if node is not None:
            yield Maker.NVIDIA, node


def find_maker_causes(fields: PoolFields) -> tuple[Located, ...]:
    """Return the fields that determine the maker: `accelerator`, or else the selection, or else a hint."""
    selection = collect_causes(fields.instances.node, fields.requirements.node)
    hints = [node for _, node in find_maker_hints(fields)][:1]
    return collect_causes(fields.accelerator.node) or (*selection, *hints)


def _find_makers(fields: PoolFields, catalogue: CatalogueAccess) -> Iterator[Maker | None]:
    instances, own = fields.instances, fields.requirements.by_key
    for name in fields.accelerator.texts():
        yield Maker(name) if name in set(Maker) else catalogue.accelerators.maker(name)
    for label, makers in _MANUFACTURERS.items():
        yield from (makers.get(value) for value in list_values(own.get(label)))
    for label in NAME_LABELS:
        yield from (catalogue.accelerators.maker(value) for value in list_values(own.get(label)))
    for node in (
        instances.types,
        own.get(labels.INSTANCE_TYPE),
        instances.families,
        own.get(labels.INSTANCE_FAMILY),
    ):
        yield from (
            catalogue.accelerators.maker_of_family(value.partition(".")[0]) for value in list_values(node)
        )
    for node in (instances.categories, own.get(labels.INSTANCE_CATEGORY)):
        yield from (catalogue.accelerators.maker_of_category(value) for value in list_values(node))


def list_values(constraint: Located | None) -> list[str]:
    """Return the texts that a constraint lists; empty for a bound or an exclusion."""
    if constraint is None:
        return []
    bounds = Membership(constraint)
    values = []
    for node in bounds.in_ if bounds.in_.node else LocatedItems[YamlValue](constraint):
        own = RequirementEntry(node)
        listed = own.values if text_of(own.operator) == "In" else None
        values += [item.value for item in listed or [node] if isinstance(item.value, str)]
    return values
