"""Questions to an API server and their answers: what the rest of gpupool knows of HTTP."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, TypeAlias

from gpupool.errors import StoppedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpupool.yamlio.located import Plain

FIELD_MANAGER: Final = "gpupool"
"""The one field manager; a version or a blueprint's name in it would orphan fields when it changes."""

Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

APPLY: Final = "application/apply-patch+yaml"
MERGE: Final = "application/merge-patch+json"


@dataclass(frozen=True, slots=True)
class Request:
    """One question to the API server."""

    method: Method
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Plain = None
    content_type: str = "application/json"

    @property
    def is_dry_run(self) -> bool:
        """Return whether the server stores nothing for it."""
        return self.method == "GET" or self.query.get("dryRun") == "All"


class Response(NamedTuple):
    """What the server sent back."""

    status: int
    body: Mapping[str, Plain]
    """Its JSON; what is no JSON stands under `message`."""

    warnings: tuple[str, ...] = ()
    retry_after: float | None = None
    """Seconds that the server asks to wait before the next try."""

    asked: int = 1
    """How many times it was asked until this answer came."""

    @property
    def ok(self) -> bool:
        """Return whether it did what it was asked for."""
        return self.status < 300  # noqa: PLR2004 - HTTP's own border


class UnansweredError(Exception):
    """No whole answer came: the connection failed, broke, or took too long. The server may have done it."""

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        """Keep what happened; `is_final` where the next try would fail as well, as with a wrong certificate."""
        super().__init__(message)
        self.is_final = is_final


class UnsureError(StoppedError):
    """A signal came when a write had been sent and not been answered: the server may do it, or may not."""


class Connection(Protocol):
    """One way to an API server with one set of credentials; `gpupool.cluster.kube` has the real one."""

    @property
    def server(self) -> str:
        """Return the server's address."""

    def ask(self, request: Request, seconds: float) -> Response:
        """Ask once.

        Raises:
            UnansweredError: where no whole answer comes within so many seconds.
        """


class Cluster(Protocol):
    """One API server, as one user; safe to be asked by several threads."""

    @property
    def server(self) -> str:
        """Return the server's address."""

    def ask(self, request: Request) -> Response:
        """Ask, and ask again where that is safe and may help.

        Raises:
            ClusterError: where no answer comes in time.
            StoppedError: where the user wants it to end; an UnsureError for a write that was sent.
        """

    def patient(self, seconds: float) -> Cluster:
        """Return the same cluster for whoever asks again by himself: each request gives up after so long."""

    def afresh(self, seconds: float) -> Cluster:
        """Return the same cluster with a deadline of its own, for what has to be done after a signal too."""
