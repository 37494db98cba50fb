"""Leases: a lock in the API server, acquired, renewed and released by compare-and-swap."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.client import FIELD_MANAGER, Request
from gpupool.cluster.rejections import raise_rejection
from gpupool.cluster.resources import lease_path
from gpupool.errors import ClusterError
from gpupool.yamlio.located import plain_map, plain_text

if TYPE_CHECKING:
    from gpupool.cluster.client import Cluster, Response
    from gpupool.yamlio.located import Plain

_API_VERSION: Final = "coordination.k8s.io/v1"
_NOT_FOUND, _CONFLICT = 404, 409
_WRITTEN: Final = {"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict"}


class Lease(NamedTuple):
    """A Lease, live or desired."""

    namespace: str
    name: str
    holder: str
    """Empty where the Lease is free."""

    seconds: int
    """How long a renewal is valid; 0 where it is not set."""

    acquired: str
    renewed: str
    transitions: int
    """How often the holder changed."""

    uid: str = ""
    version: str = ""
    """Its resourceVersion."""

    @property
    def title(self) -> str:
        """Return `NAMESPACE/NAME`."""
        return f"{self.namespace}/{self.name}"

    @property
    def age(self) -> float | None:
        """Return the seconds since the renewal by the local clock; None where no time is set.

        The holder wrote the time by its own clock, so it may be wrong, even in the future.
        """
        try:
            then = datetime.fromisoformat(self.renewed or self.acquired)
        except ValueError:
            return None
        return (datetime.now(UTC) - then.astimezone(UTC)).total_seconds()


def now() -> str:
    """Return the current time in the format of a Lease."""
    return datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def read(cluster: Cluster, namespace: str, name: str) -> Lease | None:
    """Read a Lease; None where it does not exist.

    Raises:
        ClusterError: where the server rejects the request.
    """
    request = Request("GET", lease_path(namespace, name))
    answer = cluster.ask(request)
    if answer.status == _NOT_FOUND:
        return None
    if not answer.ok:
        raise_rejection(request, answer, f"read the lock {namespace}/{name}")
    return _read(namespace, name, answer)


def create(cluster: Cluster, desired: Lease) -> Lease | None:
    """Create a Lease; None where one exists, perhaps from an earlier try whose response was lost.

    Raises:
        ClusterError: where the server rejects the request.
    """
    request = Request("POST", lease_path(desired.namespace), _WRITTEN, _body(desired))
    answer = cluster.ask(request)
    if answer.status == _CONFLICT:
        return None
    if answer.status == _NOT_FOUND:
        message = (
            f"the namespace {desired.namespace} of the inventory and the lock does not exist: create it, or"
            " set another one under `inventory.namespace`"
        )
        raise ClusterError(message)
    if not answer.ok:
        raise_rejection(request, answer, f"take the lock {desired.title}")
    return _read(desired.namespace, desired.name, answer)


def replace(cluster: Cluster, desired: Lease) -> Lease | None:
    """Replace the Lease with this uid and version; None where it changed since.

    The uid matters: a write without one would create a Lease that was deleted.

    Raises:
        ClusterError: where the server rejects the request.
    """
    request = Request("PUT", lease_path(desired.namespace, desired.name), _WRITTEN, _body(desired))
    answer = cluster.ask(request)
    if answer.status in {_CONFLICT, _NOT_FOUND}:
        return None
    if not answer.ok:
        raise_rejection(request, answer, f"write the lock {desired.title}")
    return _read(desired.namespace, desired.name, answer)


def delete(cluster: Cluster, lease: Lease) -> bool:
    """Delete a Lease; return False where it changed since. One that does not exist counts as deleted.

    Raises:
        ClusterError: where the server rejects the request.
    """
    body: Plain = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": lease.uid, "resourceVersion": lease.version},
    }
    request = Request("DELETE", lease_path(lease.namespace, lease.name), body=body)
    answer = cluster.ask(request)
    if answer.status == _CONFLICT:
        return False
    if not answer.ok and answer.status != _NOT_FOUND:
        raise_rejection(request, answer, f"delete the lock {lease.title}")
    return True


def _body(lease: Lease) -> Plain:
    metadata: dict[str, Plain] = {"name": lease.name}
    if lease.uid:
        metadata |= {"uid": lease.uid, "resourceVersion": lease.version}
    return {
        "apiVersion": _API_VERSION,
        "kind": "Lease",
        "metadata": metadata,
        "spec": {
            "holderIdentity": lease.holder,
            "leaseDurationSeconds": lease.seconds,
            "acquireTime": lease.acquired,
            "renewTime": lease.renewed,
            "leaseTransitions": lease.transitions,
        },
    }


def _read(namespace: str, name: str, answer: Response) -> Lease:
    metadata, spec = plain_map(answer.body.get("metadata")), plain_map(answer.body.get("spec"))
    return Lease(
        namespace=namespace,
        name=name,
        holder=plain_text(spec.get("holderIdentity")),
        seconds=_number(spec.get("leaseDurationSeconds")),
        acquired=plain_text(spec.get("acquireTime")),
        renewed=plain_text(spec.get("renewTime")),
        transitions=_number(spec.get("leaseTransitions")),
        uid=plain_text(metadata.get("uid")),
        version=plain_text(metadata.get("resourceVersion")),
    )


def _number(value: Plain) -> int:
    return value if isinstance(value, int) else 0
