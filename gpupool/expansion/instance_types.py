"""The machines that an expanded pool may launch, as far as its own words and its class tell."""

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
    from gpupool.expansion.catalogue_access import Catalogued
    from gpupool.karpenter.requirements import Requirements
    from gpupool.scheduling.types.market import Market
    from gpupool.scheduling.types.typemasks import Mask
    from gpupool.yamlio.located import Located, Plain

_GPUS, _MAKER = labels.INSTANCE_GPU_COUNT, labels.INSTANCE_GPU_MANUFACTURER


class Machines(NamedTuple):
    """The types that pass a pool's requirements and its class, in the cluster's region."""

    market: Market
    wanted: Requirements
    types: Mask
    """Without those that EC2 has retired, wherever they are offered."""

    @property
    def here(self) -> Mask:
        """Return those that the region offers in the pool's zones; all of them where offers are not known.

        What a reservation may be of only AWS knows, so a pool that may use one has all that its zones have.
        """
        if not self.market.is_judged:
            return self.types
        said = self.wanted.get(labels.CAPACITY_TYPE)
        if said is not None and said.has("reserved"):
            return self.types & find_types_in_zones(self.market, self.wanted)
        return self.types & find_offered_types(self.market, self.wanted)

    @property
    def gpu_counts(self) -> tuple[int, ...]:
        """Return how many whole GPUs one machine may have, the fewest first."""
        return self._counts(self.types) or self._counts_of_any()

    def _counts_of_any(self) -> tuple[int, ...]:
        """Return the counts that any machine of NVIDIA's has and the pool admits: its GPU may be too new."""
        nvidia = self.market.masks.find_types_by_fact(
            "gpus", lambda gpus: bool(gpus) and gpus[0][1] == "NVIDIA"
        )
        offered = self.market.masks.find_types_by_fact("retired", lambda since: since is None)
        said = self.wanted.get(_GPUS)
        return self._counts(
            nvidia & offered & (self.market.masks.all if said is None else self.market.find_types(said))
        )

    def _counts(self, types: Mask) -> tuple[int, ...]:
        values = {value for place in positions(types) for value in self.market.values(_GPUS, place)}
        return tuple(sorted(int(value) for value in values if value != "0"))


def machines(
    name: str,
    template_labels: Located | None,
    requirements: Located | None,
    node_class: Located | None,
    known: Catalogued,
) -> Machines:
    """Return the machines of a pool; `node_class` is an EC2NodeClass spec, or None where none is known."""
    spec: dict[str, Plain] = {
        "metadata": {"labels": {} if template_labels is None else plain(template_labels)},
        "spec": {"requirements": [] if requirements is None else plain(requirements)},
    }
    market = known.market(
        ScheduledNodeClass() if node_class is None else read_node_class({"spec": plain(node_class)})
    )
    wanted = read_template_requirements({"metadata": {"name": name}, "spec": {"template": spec}})
    offered = market.masks.find_types_by_fact("retired", lambda since: since is None)
    return Machines(market, wanted, match_types(market, wanted).candidates & offered)
