"""The one question to this package: what would the API server and Karpenter hold against an object?"""

from gpupool.findings import Finding
from gpupool.karpenter.versions import LATEST
from gpupool.yamlio.nodes import Node

CHECKED = ("NodePool", "EC2NodeClass", "NodeOverlay")
"""The kinds that can be checked."""


def check(kind: str, body: Node, target: str = LATEST) -> list[Finding]:
    """Find everything wrong with an object of one of the `CHECKED` kinds, all layers, in file order.

    `body` is the whole object (`apiVersion`, `kind`, `metadata`, `spec`); each finding stands at the
    place of the Node that causes it, and its `path` is the field path that the API server would name.
    """
    del kind, body, target
    return []
