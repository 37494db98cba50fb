"""Instance types that an expanded pool can launch, by its requirements and its node class."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.karpenter import labels
from gpupool.scheduling.matching import (
    find_offered_types,
    find_types_in_zones,
    match_types,
    read_template_requirements,
)
from gpupool.scheduling.types.nodeclass import ScheduledNodeClass, read_node_class
from gpupool.scheduling.types.typemasks import positions
from gpupool.yamlio.located import plain

if TYPE_CHECKING:
    from gpupool.expansion.catalogue_access import CatalogueAccess
    from gpupool.karpenter.requirements import Requirements
    from gpupool.scheduling.types.market import Market
    from gpupool.scheduling.types.typemasks import Mask
    from gpupool.yamlio.located import Located, Plain

_GPUS, _MAKER = labels.INSTANCE_GPU_COUNT, labels.INSTANCE_GPU_MANUFACTURER


class MatchingTypes(NamedTuple):
    """The instance types that meet a pool's requirements and its node class, in the cluster's region."""

    market: Market
    requirements: Requirements
    types: Mask
    """The matching instance types, without those that EC2 has retired."""

    @property
    def offered(self) -> Mask:
        """Return the types that are offered in the pool's zones; all types where offerings are unknown.

        A reservation can be of any type, so for a pool with `reserved` the capacity type does not matter.
        """
        if not self.market.is_judged:
            return self.types
        capacity = self.requirements.get(labels.CAPACITY_TYPE)
        if capacity is not None and capacity.has("reserved"):
            return self.types & find_types_in_zones(self.market, self.requirements)
        return self.types & find_offered_types(self.market, self.requirements)

    @property
    def gpu_counts(self) -> tuple[int, ...]:
        """Return the possible numbers of whole GPUs in one node, in ascending order."""
        return self._counts(self.types) or self._counts_of_nvidia()

    def _counts_of_nvidia(self) -> tuple[int, ...]:
        """Return the counts of all NVIDIA instance types that the pool allows: its GPU can be too new."""
        nvidia = self.market.masks.find_types_by_fact(
            "gpus", lambda gpus: bool(gpus) and gpus[0][1] == "NVIDIA"
        )
        current = self.market.masks.find_types_by_fact("retired", lambda since: since is None)
        requirement = self.requirements.get(_GPUS)
        return self._counts(
            nvidia
            & current
            & (self.market.masks.all if requirement is None else self.market.find_types(requirement))
        )

    def _counts(self, types: Mask) -> tuple[int, ...]:
        values = {value for position in positions(types) for value in self.market.values(_GPUS, position)}
        return tuple(sorted(int(value) for value in values if value != "0"))


def find_matching_types(
    name: str,
    template_labels: Located | None,
    requirements: Located | None,
    node_class: Located | None,
    catalogue: CatalogueAccess,
) -> MatchingTypes:
    """Find the instance types of a pool; `node_class` is an EC2NodeClass spec, None where it is unknown."""
    spec: dict[str, Plain] = {
        "metadata": {"labels": {} if template_labels is None else plain(template_labels)},
        "spec": {"requirements": [] if requirements is None else plain(requirements)},
    }
    market = catalogue.market(
        ScheduledNodeClass() if node_class is None else read_node_class({"spec": plain(node_class)})
    )
    parsed = read_template_requirements({"metadata": {"name": name}, "spec": {"template": spec}})
    current = market.masks.find_types_by_fact("retired", lambda since: since is None)
    return MatchingTypes(market, parsed, match_types(market, parsed).candidates & current)
