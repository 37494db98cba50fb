"""Connection of a command to its cluster, and the check that it is the blueprint's cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.addresses import without_credentials
from gpupool.cluster.client import Request
from gpupool.cluster.rejections import message, raise_rejection
from gpupool.cluster.resources import KUBE_SYSTEM
from gpupool.errors import ClusterError, GuardError
from gpupool.yamlio.located import plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpupool.cluster.client import Cluster
    from gpupool.cluster.deadline import Deadline


_ANONYMOUS: Final = "system:anonymous"


def _ignore(_text: str) -> None:
    """Drop a message."""


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """The options of the command line for the connection to a cluster."""

    kubeconfig: str | None = None
    context: str | None = None
    user: str | None = None
    """The user to impersonate."""

    timeout: float = 600.0
    """Seconds for the complete command."""

    concurrency: int = 16
    """The number of parallel requests."""

    say: Callable[[str], None] = _ignore
    """Gets messages about requests that are retried."""


@dataclass(frozen=True, slots=True)
class Pins:
    """The cluster that a blueprint names; a pin is None where it is not set."""

    context: str | None = None
    server: str | None = None
    uid: str | None = None


class ReachedCluster(NamedTuple):
    """A cluster that is connected, with its identity."""

    cluster: Cluster
    deadline: Deadline
    context: str
    server: str
    uid: str
    """Of its kube-system namespace."""

    options: ClusterOptions
    is_pinned: bool
    """Whether the blueprint or the command line names it; otherwise it is the current context."""


def reach(options: ClusterOptions, pins: Pins, deadline: Deadline) -> ReachedCluster:
    """Connect to the cluster, and check that it is the blueprint's before any other request.

    Raises:
        ClusterError: where it can't be reached.
        GuardError: where it is not the blueprint's cluster.
    """
    reached = connect(options, pins, deadline)
    return identify(reached, pins, _uid(reached))


def connect(options: ClusterOptions, pins: Pins, deadline: Deadline) -> ReachedCluster:
    """Connect to the cluster that the kubeconfig names, without a request; its uid is empty.

    Raises:
        ClusterError: where the kubeconfig is not usable.
        GuardError: where it is not the blueprint's cluster.
    """
    from gpupool.cluster import kube
    from gpupool.cluster.kubeconfig import ClusterAccess
    from gpupool.cluster.retrying import Retrying

    context = options.context or pins.context
    if pins.context and context != pins.context:
        raise GuardError(_wrong_cluster("context", str(context), pins.context))
    access = ClusterAccess(options.kubeconfig, context, options.user, options.concurrency)
    connection = kube.connect(access, deadline)
    pinned_server = without_credentials(pins.server or "")
    if pinned_server and connection.server.rstrip("/") != pinned_server.rstrip("/"):
        raise GuardError(_wrong_cluster("server", connection.server, pinned_server))
    if connection.is_insecure:
        options.say(
            f"warning: the context `{connection.context}` has insecure-skip-tls-verify: anyone on the network"
            " path can read and change everything; set certificate-authority"
        )
    connections = iter([connection])
    cluster = Retrying(
        lambda: next(connections, None) or kube.connect(access, deadline), deadline, say=options.say
    )
    is_pinned = bool(options.context or pins.context or pins.server or pins.uid)
    return ReachedCluster(cluster, deadline, connection.context, connection.server, "", options, is_pinned)


def identify(reached: ReachedCluster, pins: Pins, uid: str) -> ReachedCluster:
    """Return the cluster with its uid.

    Raises:
        GuardError: where it is not the blueprint's cluster.
    """
    if pins.uid and uid != pins.uid:
        raise GuardError(_wrong_cluster("uid", uid, pins.uid))
    return reached._replace(uid=uid)


def _wrong_cluster(pin: str, actual: str, expected: str) -> str:
    return f"wrong cluster: its {pin} is `{actual}`, and the blueprint's `cluster.{pin}` is `{expected}`"


def _uid(reached: ReachedCluster) -> str:
    request = Request("GET", KUBE_SYSTEM)
    try:
        answer = reached.cluster.ask(request)
    except ClusterError as problem:
        text = f"can't reach the cluster of the context `{reached.context}`: {problem}"
        raise ClusterError(text) from problem
    if not answer.ok:
        if _ANONYMOUS in message(answer):
            context = f"the context `{reached.context}`"
            text = f"{context} has no credentials: the API server treats the request as {_ANONYMOUS}"
            raise ClusterError(text)
        raise_rejection(
            request, answer, "read the namespace kube-system, whose uid says which cluster this is"
        )
    return plain_text(plain_map(answer.body.get("metadata")).get("uid"))
