"""A pod as the scheduler sees it: requests, tolerations, selectors, affinity and host ports."""

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
"""Conditions that must all hold."""


class NodeTaint(NamedTuple):
    """A taint on a node, which keeps pods without a toleration off it."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        """Return the taint as kubectl writes it: `nvidia.com/gpu=true:NoSchedule`."""
        return f"{self.key}{'=' * bool(self.value)}{self.value}:{self.effect}"


class Toleration(NamedTuple):
    """A toleration of a pod; an empty key or effect matches all."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""

    def tolerates(self, taint: NodeTaint) -> bool:
        """Return whether the pod tolerates the taint."""
        if (self.effect and self.effect != taint.effect) or (self.key and self.key != taint.key):
            return False
        if self.operator in ("", "Equal"):
            return self.value == taint.value
        return self.operator == _EXISTS or self._has_passing_number(taint.value)

    def _has_passing_number(self, value: str) -> bool:
        """Compare whole numbers, which tolerations support since Kubernetes 1.35."""
        own_number, taint_number = _to_int(self.value), _to_int(value)
        if own_number is None or taint_number is None or self.operator not in ("Lt", "Gt"):
            return False
        return taint_number < own_number if self.operator == "Lt" else taint_number > own_number


PREFER_NO_SCHEDULE = Toleration(operator=_EXISTS, effect="PreferNoSchedule")
"""The toleration that Karpenter adds to a pod that fits nowhere otherwise."""


class HostPort(NamedTuple):
    """A port of the node itself, which only one pod can use."""

    ip: str
    port: int
    protocol: str

    def has_conflict(self, other: HostPort) -> bool:
        """Return whether pods with these two ports can't share a node."""
        if (self.port, self.protocol) != (other.port, other.protocol):
            return False
        return self.ip == other.ip or bool({self.ip, other.ip} & {"0.0.0.0", "::"})  # noqa: S104 - compared, not bound

    def __str__(self) -> str:
        """Return the port as Kubernetes writes it: `9100/TCP`."""
        return f"{self.port}/{self.protocol}"


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod as the scheduler sees it, without regard to other pods."""

    requests: Resources
    """Total requests, including the pod's overhead and `pods: 1`."""

    tolerations: tuple[Toleration, ...] = ()
    node_selector: Mapping[str, str] | None = None
    required: tuple[Term, ...] = ()
    """Required node affinity: one of these terms must hold."""

    preferred: tuple[Term, ...] = ()
    """Preferred node affinity, highest weight first."""

    host_ports: tuple[HostPort, ...] = ()
    claims_devices: bool = False
    """Whether it requests devices with resource claims (DRA)."""

    selects_by_field: bool = False
    """Whether its node affinity has `matchFields`."""

    node_name: str = ""
    """The node that it is bound to, past the scheduler."""

    not_judged: tuple[str, ...] = ()
    """Its requests that can't be judged from files."""

    places: Mapping[str, Location] | None = None
    """The locations of its parts, by key of the pod spec."""

    def tolerates(self, taint: NodeTaint) -> bool:
        """Return whether one of its tolerations matches the taint."""
        return any(toleration.tolerates(taint) for toleration in self.tolerations)


def _to_int(text: str) -> int | None:
    """Parse a number as Kubernetes does for a comparison: without a plus sign or leading zeros."""
    number = parse_int64(text)
    return number if str(number) == text else None
