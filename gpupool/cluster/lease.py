"""A Lease: a name that one holder at a time has, taken, renewed and given back by compare-and-swap."""

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
    """A Lease as the server has it, or as it shall be."""

    namespace: str
    name: str
    holder: str
    """Empty where nobody has it."""

    seconds: int
    """How long after a renewal nobody else may take it; 0 where it does not say."""

    acquired: str
    renewed: str
    transitions: int
    """How often it went from one holder to another."""

    uid: str = ""
    version: str = ""
    """Its resourceVersion."""

    @property
    def title(self) -> str:
        """Return its name for people."""
        return f"{self.namespace}/{self.name}"

    @property
    def age(self) -> float | None:
        """Return the seconds since the renewal by this machine's clock; None where it does not say when.

        The holder wrote the time by its own clock, so it may be wrong, and even lie in the future.
        """
        try:
            then = datetime.fromisoformat(self.renewed or self.acquired)
        except ValueError:
            return None
        return (datetime.now(UTC) - then.astimezone(UTC)).total_seconds()


def now() -> str:
    """Return this moment as a Lease writes it."""
    return datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def read(cluster: Cluster, namespace: str, name: str) -> Lease | None:
    """Return a Lease; None where there is none.

    Raises:
        ClusterError: where the server refuses.
    """
    request = Request("GET", lease_path(namespace, name))
    answer = cluster.ask(request)
    if answer.status == _NOT_FOUND:
        return None
    if not answer.ok:
        raise_rejection(request, answer, f"read the lock {namespace}/{name}")
    return _read(namespace, name, answer)


def create(cluster: Cluster, wanted: Lease) -> Lease | None:
    """Make a Lease; None where there is one, which may be what an earlier try, whose answer was lost, made.

    Raises:
        ClusterError: where the server refuses.
    """
    request = Request("POST", lease_path(wanted.namespace), _WRITTEN, _body(wanted))
    answer = cluster.ask(request)
    if answer.status == _CONFLICT:
        return None
    if answer.status == _NOT_FOUND:
        message = (
            f"there is no namespace {wanted.namespace}, where the blueprint keeps its inventory and its lock:"
            " create it, or name another one under `inventory.namespace`"
        )
        raise ClusterError(message)
    if not answer.ok:
        raise_rejection(request, answer, f"take the lock {wanted.title}")
    return _read(wanted.namespace, wanted.name, answer)


def replace(cluster: Cluster, wanted: Lease) -> Lease | None:
    """Write a Lease over the one with its uid and version; None where that is no longer what is there.

    The uid matters: a Lease that is gone would be made anew by a write that does not name one.

    Raises:
        ClusterError: where the server refuses.
    """
    request = Request("PUT", lease_path(wanted.namespace, wanted.name), _WRITTEN, _body(wanted))
    answer = cluster.ask(request)
    if answer.status in {_CONFLICT, _NOT_FOUND}:
        return None
    if not answer.ok:
        raise_rejection(request, answer, f"write the lock {wanted.title}")
    return _read(wanted.namespace, wanted.name, answer)


def delete(cluster: Cluster, found: Lease) -> bool:
    """Delete a Lease; False where it is no longer as it was read. One that is gone already is no matter.

    Raises:
        ClusterError: where the server refuses.
    """
    body: Plain = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": found.uid, "resourceVersion": found.version},
    }
    request = Request("DELETE", lease_path(found.namespace, found.name), body=body)
    answer = cluster.ask(request)
    if answer.status == _CONFLICT:
        return False
    if not answer.ok and answer.status != _NOT_FOUND:
        raise_rejection(request, answer, f"delete the lock {found.title}")
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


def _number(said: Plain) -> int:
    return said if isinstance(said, int) else 0
