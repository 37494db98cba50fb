"""Durations that may also count days become Karpenter's."""

import re

from gpupool.yamlio.nodes import Node, leaf

_PARTS = re.compile(r"([0-9]+)([smhd])")


def karpenters(node: Node) -> Node:
    """Give a duration as Karpenter reads it: days become hours, all else stays as it was written."""
    text = str(node.value)
    if "d" not in text:
        return node
    hours = sum(
        int(number) * (24 if unit == "d" else 1) for number, unit in _PARTS.findall(text) if unit in "dh"
    )
    rest = "".join(f"{number}{unit}" for number, unit in _PARTS.findall(text) if unit in "ms")
    return leaf(f"{hours}h{rest}", node)
