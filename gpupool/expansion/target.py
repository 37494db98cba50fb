"""Target cluster of a blueprint: its Karpenter version, region, time zone and feature gates."""

import re

from gpupool.blueprint.model import BlueprintCluster
from gpupool.blueprint.targets import find_zone_label
from gpupool.codes import Code
from gpupool.expansion.problem import Problem
from gpupool.karpenter import labels
from gpupool.karpenter.versions import LATEST
from gpupool.yamlio.located import Located, leaf, text_of


class TargetCluster(BlueprintCluster):
    """The blueprint's `cluster`; every field is optional."""

    @property
    def minor(self) -> str:
        """Return the Karpenter minor version in the cluster."""
        return text_of(self.karpenter) or LATEST

    @property
    def gates(self) -> frozenset[str]:
        """Return the enabled feature gates."""
        return frozenset(self.features.texts())

    def parse_zone(self, setting: Located[str]) -> tuple[str, Located]:
        """Return the label key and the value for a zone's name, letter or id.

        Raises:
            Problem: for a letter without a region, or a zone of another region.
        """
        name, region, also = setting.value, text_of(self.region), setting.also
        if re.fullmatch("[a-z]", name):
            if not region:
                raise Problem(
                    Code.ZONE, f"zone `{name}` requires a region", setting, "set `cluster: {region: …}`"
                )
            name, also = f"{region}{name}", tuple(filter(None, [self.region]))
        elif find_zone_label(name) == labels.ZONE and region and not name.startswith(region):
            message = f"zone `{name}` is not in region {region}, so no node can launch"
            letter = name[-1:] if name[-1:].isalpha() else "a"
            raise Problem(Code.ZONE, message, setting, f"did you mean `{region}{letter}`?")
        return find_zone_label(name), leaf(name, setting, also=also)
