"""Durations of a blueprint, which may be in days, as Karpenter's, which may not."""

import re

from gpupool.yamlio.located import Located, leaf

_PARTS = re.compile(r"([0-9]+)([smhd])")


def to_karpenter_duration(node: Located) -> Located:
    """Convert the days of a duration to hours, which Karpenter can parse."""
    text = str(node.value)
    if "d" not in text:
        return node
    hours = sum(
        int(number) * (24 if unit == "d" else 1) for number, unit in _PARTS.findall(text) if unit in "dh"
    )
    rest = "".join(f"{number}{unit}" for number, unit in _PARTS.findall(text) if unit in "ms")
    return leaf(f"{hours}h{rest}", node)
