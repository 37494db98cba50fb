"""The cluster that a blueprint is for, as far as expansion needs it."""

import re
from typing import NamedTuple

from gpupool.blueprint.merge_schema import zone_label
from gpupool.codes import Code
from gpupool.expansion.problem import Problem
from gpupool.karpenter import labels
from gpupool.karpenter.versions import LATEST
from gpupool.yamlio.located import Located, find, items, leaf, text_at


class TargetCluster(NamedTuple):
    """`cluster` of the blueprint; every part of it may be absent."""

    node: Located | None

    @property
    def karpenter(self) -> str:
        """The Karpenter minor version that runs there."""
        return text_at(self.node, "karpenter") or LATEST

    @property
    def region(self) -> str:
        """The AWS region, or the empty text."""
        return text_at(self.node, "region")

    @property
    def timezone(self) -> str:
        """The IANA time zone of windows that name none, or the empty text."""
        return text_at(self.node, "timezone")

    @property
    def features(self) -> frozenset[str]:
        """The feature gates that are on."""
        return frozenset(str(item.value) for item in items(find(self.node, "features")))

    def named(self, key: str) -> Located | None:
        """Return one of the cluster's own words, with its place: `name`, `zones`."""
        node = find(self.node, key)
        return None if node is None or node.value is None else node

    def zone(self, word: Located) -> tuple[str, Located]:
        """Return the label key and the value for a zone's name, letter or id.

        Raises:
            Problem: for a letter where the region is not known.
        """
        name = str(word.value)
        if re.fullmatch("[a-z]", name):
            if not self.region:
                raise Problem(
                    Code.ZONE, f"zone `{name}` requires a region", word, "set `cluster: {region: …}`"
                )
            name = f"{self.region}{name}"
        elif zone_label(name) == labels.ZONE and self.region and not name.startswith(self.region):
            message = f"zone `{name}` is not in region {self.region}, so no node can launch"
            letter = name[-1:] if name[-1:].isalpha() else "a"
            raise Problem(Code.ZONE, message, word, f"did you mean `{self.region}{letter}`?")
        return zone_label(name), leaf(name, word)
