"""Addresses of objects in plans and on the command line: `KIND/NAME`."""

from __future__ import annotations

import re
from typing import Final

from gpupool.karpenter.checks import DNS
from gpupool.manifests.kinds import CURRENT
from gpupool.objects import Ref

KINDS: Final = ("EC2NodeClass", "NodeOverlay", "NodePool")
"""The kinds that a plan changes, in the order of writes; deletions are in the reverse order."""

_NAME = re.compile(DNS)
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_MAX_NAME_LENGTH, _MAX_LABEL_LENGTH = 253, 63


def is_address(address: str) -> bool:
    """Return whether a text is the address of an object that gpupool can write."""
    ref = Ref.parse(address)
    return ref.kind in KINDS and is_name(ref.name)


def is_name(name: str) -> bool:
    """Return whether Kubernetes accepts a text as the name of an object, which rules out any path."""
    return len(name) <= _MAX_NAME_LENGTH and _NAME.fullmatch(name) is not None


def is_label(name: str) -> bool:
    """Return whether Kubernetes accepts a text as the name of a namespace."""
    return len(name) <= _MAX_LABEL_LENGTH and _LABEL.fullmatch(name) is not None


def api_version_of(kind: str) -> str:
    """Return the `apiVersion` of a kind of `KINDS`."""
    return CURRENT[kind]
