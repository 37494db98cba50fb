"""Requests to a Kubernetes API server and its responses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, TypeAlias

from gpupool.errors import StoppedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpupool.yamlio.located import Plain

FIELD_MANAGER: Final = "gpupool"
"""gpupool's only field manager; a version or a blueprint's name in it would orphan fields when it changes."""

Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

APPLY: Final = "application/apply-patch+yaml"
MERGE: Final = "application/merge-patch+json"


@dataclass(frozen=True, slots=True)
class Request:
    """A request to the API server."""

    method: Method
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Plain = None
    content_type: str = "application/json"

    @property
    def is_dry_run(self) -> bool:
        """Return whether the server stores nothing."""
        return self.method == "GET" or self.query.get("dryRun") == "All"


class Response(NamedTuple):
    """The API server's response."""

    status: int
    body: Mapping[str, Plain]
    """The JSON body; a body that is not JSON is under `message`."""

    warnings: tuple[str, ...] = ()
    retry_after: float | None = None
    """Seconds to wait before the next try, from the Retry-After header."""

    tries: int = 1
    """How many times the request was sent."""

    @property
    def ok(self) -> bool:
        """Return whether the request succeeded."""
        return self.status < 300  # noqa: PLR2004 - HTTP's own border


class UnansweredError(Exception):
    """A request without a complete response; the server may have carried it out all the same."""

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        """Keep the reason; `is_final` where a retry would fail too, as with an invalid certificate."""
        super().__init__(message)
        self.is_final = is_final


class UnsureError(StoppedError):
    """A signal during a write whose response is missing; the server may have carried it out."""


class Connection(Protocol):
    """A connection to an API server with one set of credentials."""

    @property
    def server(self) -> str:
        """Return the server's address."""

    def ask(self, request: Request, seconds: float) -> Response:
        """Send a request once.

        Raises:
            UnansweredError: where no complete response arrives within so many seconds.
        """


class Cluster(Protocol):
    """An API server with retries, as one user; safe for several threads."""

    @property
    def server(self) -> str:
        """Return the server's address."""

    def ask(self, request: Request) -> Response:
        """Send a request, with retries where they are safe and may help.

        Raises:
            ClusterError: where no response arrives in time.
            StoppedError: after a signal; an UnsureError for a write that was sent.
        """

    def with_patience(self, seconds: float) -> Cluster:
        """Return the same cluster for callers that retry: a request gives up after so many seconds."""

    def with_deadline(self, seconds: float) -> Cluster:
        """Return the same cluster with a deadline of its own, for cleanup that a signal must not stop."""
