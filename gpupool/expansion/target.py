"""Target cluster of a blueprint: its Karpenter version, region, time zone and feature gates."""

import re
from typing import NamedTuple

from gpupool.blueprint.merge_schema import zone_label
from gpupool.codes import Code
from gpupool.expansion.problem import Problem
from gpupool.karpenter import labels
from gpupool.karpenter.versions import LATEST
from gpupool.yamlio.located import Located, find, items, leaf, text_at


class TargetCluster(NamedTuple):
    """The blueprint's `cluster`; every field is optional."""

    node: Located | None

    @property
    def karpenter(self) -> str:
        """Return the Karpenter minor version in the cluster."""
        return text_at(self.node, "karpenter") or LATEST

    @property
    def region(self) -> str:
        """Return the AWS region; empty where it is not set."""
        return text_at(self.node, "region")

    @property
    def timezone(self) -> str:
        """Return the default IANA time zone of windows; empty where it is not set."""
        return text_at(self.node, "timezone")

    @property
    def features(self) -> frozenset[str]:
        """Return the enabled feature gates."""
        return frozenset(str(item.value) for item in items(find(self.node, "features")))

    def find(self, key: str) -> Located | None:
        """Return a field of the cluster, such as `name` or `zones`; None where it is not set."""
        node = find(self.node, key)
        return None if node is None or node.value is None else node

    def parse_zone(self, setting: Located) -> tuple[str, Located]:
        """Return the label key and the value for a zone's name, letter or id.

        Raises:
            Problem: for a letter without a region, or a zone of another region.
        """
        name, also = str(setting.value), setting.also
        if re.fullmatch("[a-z]", name):
            if not self.region:
                raise Problem(
                    Code.ZONE, f"zone `{name}` requires a region", setting, "set `cluster: {region: …}`"
                )
            name, also = f"{self.region}{name}", tuple(filter(None, [self.find("region")]))
        elif zone_label(name) == labels.ZONE and self.region and not name.startswith(self.region):
            message = f"zone `{name}` is not in region {self.region}, so no node can launch"
            letter = name[-1:] if name[-1:].isalpha() else "a"
            raise Problem(Code.ZONE, message, setting, f"did you mean `{self.region}{letter}`?")
        return zone_label(name), leaf(name, setting, also=also)
