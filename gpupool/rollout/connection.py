"""How a command reaches its cluster, and the guard that it is the one that the blueprint means."""

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


_NOBODY: Final = "system:anonymous"


def _nothing(_text: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """What the command line says about the way to the cluster."""

    kubeconfig: str | None = None
    context: str | None = None
    user: str | None = None
    """Whom to impersonate."""

    timeout: float = 600.0
    """Seconds for the whole command."""

    concurrency: int = 16
    """How many requests may be under way at once."""

    say: Callable[[str], None] = _nothing
    """Told what a command waits for where the API server gives no answer."""


@dataclass(frozen=True, slots=True)
class Pins:
    """The cluster that a blueprint means; each is None where it says nothing."""

    context: str | None = None
    server: str | None = None
    uid: str | None = None


class ReachedCluster(NamedTuple):
    """A cluster, and which one it is."""

    cluster: Cluster
    deadline: Deadline
    context: str
    server: str
    uid: str
    """Of its kube-system namespace."""

    way: ClusterOptions
    pinned: bool
    """Whether the blueprint or the command line names it; otherwise it is just the current context."""


def reach(way: ClusterOptions, pins: Pins, deadline: Deadline) -> ReachedCluster:
    """Connect to the cluster, and ensure that it is the one that is meant before anything else is asked.

    Raises:
        ClusterError: where it can't be reached.
        GuardError: where it is another one than the blueprint's.
    """
    reached = connect(way, pins, deadline)
    return identify(reached, pins, _uid(reached))


def connect(way: ClusterOptions, pins: Pins, deadline: Deadline) -> ReachedCluster:
    """Connect to the cluster that the kubeconfig names; nothing is asked yet, so its uid is empty.

    Raises:
        ClusterError: where the kubeconfig gives no way to one.
        GuardError: where it is another one than the blueprint's.
    """
    from gpupool.cluster import kube
    from gpupool.cluster.kubeconfig import ClusterAccess
    from gpupool.cluster.retrying import Retrying

    context = way.context or pins.context
    if pins.context and context != pins.context:
        raise GuardError(_other("context", str(context), pins.context))
    how = ClusterAccess(way.kubeconfig, context, way.user, way.concurrency)
    first = kube.connect(how, deadline)
    meant = without_credentials(pins.server or "")
    if meant and first.server.rstrip("/") != meant.rstrip("/"):
        raise GuardError(_other("server", first.server, meant))
    if first.is_insecure:
        way.say(
            f"warning: the context `{first.context}` has insecure-skip-tls-verify: anyone on the network path"
            " can read and change everything; set certificate-authority"
        )
    connections = iter([first])
    cluster = Retrying(lambda: next(connections, None) or kube.connect(how, deadline), deadline, say=way.say)
    pinned = bool(way.context or pins.context or pins.server or pins.uid)
    return ReachedCluster(cluster, deadline, first.context, first.server, "", way, pinned)


def identify(reached: ReachedCluster, pins: Pins, uid: str) -> ReachedCluster:
    """Return it with its uid.

    Raises:
        GuardError: where it is another cluster than the blueprint's.
    """
    if pins.uid and uid != pins.uid:
        raise GuardError(_other("uid", uid, pins.uid))
    return reached._replace(uid=uid)


def _other(what: str, is_: str, meant: str) -> str:
    return f"wrong cluster: its {what} is `{is_}`, and the blueprint's `cluster.{what}` is `{meant}`"


def _uid(reached: ReachedCluster) -> str:
    request = Request("GET", KUBE_SYSTEM)
    try:
        answer = reached.cluster.ask(request)
    except ClusterError as problem:
        text = f"can't reach the cluster of the context `{reached.context}`: {problem}"
        raise ClusterError(text) from problem
    if not answer.ok:
        if _NOBODY in message(answer):
            context = f"the context `{reached.context}`"
            text = f"{context} has no credentials: the API server treats the request as {_NOBODY}"
            raise ClusterError(text)
        raise_rejection(
            request, answer, "read the namespace kube-system, whose uid says which cluster this is"
        )
    return plain_text(plain_map(answer.body.get("metadata")).get("uid"))
