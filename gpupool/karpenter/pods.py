"""What a pod asks of a node: its requests, tolerations, selectors, affinity and ports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gpupool.karpenter.integers import parse_int64

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpupool.findings import Location
    from gpupool.karpenter.quantities import Amount

Resources: TypeAlias = "Mapping[str, Amount]"
"""An amount of each resource, in base units."""

PODS = "pods"
_EXISTS = "Exists"


class Expression(NamedTuple):
    """One condition on a node's labels."""

    key: str
    operator: str
    values: tuple[str, ...]


Term: TypeAlias = tuple[Expression, ...]
"""Conditions that have to hold together."""


class NodeTaint(NamedTuple):
    """A mark on a node that keeps pods away."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        """Return the taint as kubectl writes it: `nvidia.com/gpu=true:NoSchedule`."""
        return f"{self.key}{'=' * bool(self.value)}{self.value}:{self.effect}"


class Toleration(NamedTuple):
    """What a pod puts up with; an empty key or effect stands for all."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""

    def tolerates(self, taint: NodeTaint) -> bool:
        """Return whether the taint does not keep the pod away."""
        if (self.effect and self.effect != taint.effect) or (self.key and self.key != taint.key):
            return False
        if self.operator in ("", "Equal"):
            return self.value == taint.value
        return self.operator == _EXISTS or self._compares(taint.value)

    def _compares(self, value: str) -> bool:
        """Compare whole numbers, which tolerations can since Kubernetes 1.35."""
        mine, theirs = _whole(self.value), _whole(value)
        if mine is None or theirs is None or self.operator not in ("Lt", "Gt"):
            return False
        return theirs < mine if self.operator == "Lt" else theirs > mine


PREFER_NO_SCHEDULE = Toleration(operator=_EXISTS, effect="PreferNoSchedule")
"""What Karpenter adds to a pod that fits nowhere otherwise."""


class HostPort(NamedTuple):
    """A port of the node itself, which one pod alone can have."""

    ip: str
    port: int
    protocol: str

    def conflicts(self, other: HostPort) -> bool:
        """Return whether two pods with these can't share a node."""
        if (self.port, self.protocol) != (other.port, other.protocol):
            return False
        return self.ip == other.ip or bool({self.ip, other.ip} & {"0.0.0.0", "::"})  # noqa: S104 - compared, not bound

    def __str__(self) -> str:
        """Return the port as one says it: `9100/TCP`."""
        return f"{self.port}/{self.protocol}"


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod as far as a scheduler looks at it without any other pod."""

    requests: Resources
    """With the pod's overhead, and `pods: 1`."""

    tolerations: tuple[Toleration, ...] = ()
    node_selector: Mapping[str, str] | None = None
    required: tuple[Term, ...] = ()
    """Required node affinity: one of these has to hold."""

    preferred: tuple[Term, ...] = ()
    """Preferred node affinity, the heaviest first."""

    host_ports: tuple[HostPort, ...] = ()
    claims_devices: bool = False
    """It asks for devices with resource claims (DRA)."""

    selects_by_field: bool = False
    """Its node affinity has `matchFields`."""

    node_name: str = ""
    """The node that it is bound to without any scheduler."""

    not_judged: tuple[str, ...] = ()
    """What it asks that can't be known from files."""

    places: Mapping[str, Location] | None = None
    """Where its parts stand, by key of the pod spec."""

    def tolerates(self, taint: NodeTaint) -> bool:
        """Return whether one of its tolerations does for the taint."""
        return any(each.tolerates(taint) for each in self.tolerations)


def _whole(text: str) -> int | None:
    """Read a number as Kubernetes takes it in a comparison: without plus and leading zeros."""
    number = parse_int64(text)
    return number if str(number) == text else None
