"""What can go wrong between a client and the API server."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from tests.rig.forwarding import Answered, Exchange

_AN_HOUR: Final = 3600.0


class Fault(Protocol):
    """What happens to a request."""

    def strike(self, exchange: Exchange) -> None:
        """End the exchange in its way."""


@dataclass(frozen=True, slots=True)
class Through:
    """Nothing: the server's answer reaches the client."""

    def strike(self, exchange: Exchange) -> None:
        if "watch" in exchange.asked.query:
            exchange.stream()
        else:
            exchange.send(exchange.forward())


@dataclass(frozen=True, slots=True)
class Instead:
    """An answer that the server never gave; it was not even asked."""

    answered: Answered

    def strike(self, exchange: Exchange) -> None:
        exchange.send(self.answered)


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection breaks: before the server hears of the request, or after it has done it."""

    after_answer: bool = False

    def strike(self, exchange: Exchange) -> None:
        if self.after_answer:
            exchange.forward()
        exchange.reset()


@dataclass(frozen=True, slots=True)
class Cut:
    """The server has done it, and half of its answer arrives; then the connection ends.

    Either fewer bytes come than `Content-Length` says, or a chunk lacks its end.
    """

    chunked: bool = False

    def strike(self, exchange: Exchange) -> None:
        answered = exchange.forward()
        whole = len(answered.body)
        half = answered.body[: whole // 2]
        if self.chunked:
            exchange.send_head(answered, ("Transfer-Encoding", "chunked"))
            exchange.send_raw(b"%x\r\n%b" % (whole, half))
        else:
            exchange.send_head(answered, ("Content-Length", str(whole)))
            exchange.send_raw(half)
        exchange.hang_up()


@dataclass(frozen=True, slots=True)
class Trickle:
    """The server has done it, and its answer comes in small pieces with pauses between them."""

    step: int = 1
    seconds: float = 0.1

    def strike(self, exchange: Exchange) -> None:
        answered = exchange.forward()
        exchange.send_head(answered, ("Content-Length", str(len(answered.body))))
        for piece in _pieces(answered.body, self.step):
            exchange.pause(self.seconds)
            exchange.send_raw(piece)


@dataclass(frozen=True, slots=True)
class Late:
    """Nothing comes for a while, not even a status; then all is well."""

    seconds: float
    after_answer: bool = True
    """The server has done it at once; else it hears of it late as well."""

    def strike(self, exchange: Exchange) -> None:
        if self.after_answer:
            answered = exchange.forward()
            exchange.pause(self.seconds)
        else:
            exchange.pause(self.seconds)
            answered = exchange.forward()
        exchange.send(answered)


def never(*, after_answer: bool = False) -> Late:
    """Let the client wait for ever."""
    return Late(_AN_HOUR, after_answer)


def too_many_requests(retry_after: int | None = None) -> Instead:
    """Answer as API priority and fairness does."""
    message = "Too many requests, please try again later."
    return _status(429, "TooManyRequests", message, retry_after)


def unavailable(retry_after: int | None = None) -> Instead:
    """Answer as a server that is starting or ending."""
    return _status(503, "ServiceUnavailable", "apiserver is shutting down", retry_after)


def gateway_timeout() -> Instead:
    """Answer as a server that waited too long for its storage."""
    return _status(504, "Timeout", "Timeout: request did not complete within the allotted timeout")


def bad_gateway() -> Instead:
    """Answer as a load balancer in front of the server: with a page, not with JSON."""
    page = b"<html><body><h1>502 Bad Gateway</h1></body></html>"
    return Instead(Answered(502, (("Content-Type", "text/html"),), page))


def failing_webhook() -> Instead:
    """Answer as where an admission webhook is down."""
    message = (
        'Internal error occurred: failed calling webhook "validation.webhook.example.com": failed to call webhook: '
        'Post "https://webhook.example.svc:443/?timeout=10s": dial tcp 10.0.0.9:443: connect: connection refused'
    )
    return _status(500, "InternalError", message)


def typed_patch() -> Instead:
    """Answer as to a server-side apply with a field that the schema lacks: it is no passing trouble."""
    message = (
        "failed to create typed patch object (/rig; karpenter.sh/v1, Kind=NodePool): "
        ".spec.limit: field not declared in schema"
    )
    return _status(500, "", message)


def conflict() -> Instead:
    """Answer as where somebody else wrote the object in between; it names no causes."""
    message = (
        'Operation cannot be fulfilled on nodepools.karpenter.sh "rig": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )
    return _status(409, "Conflict", message)


def unauthorized() -> Instead:
    """Answer as to a token that has expired."""
    return _status(401, "Unauthorized", "Unauthorized")


def _status(code: int, reason: str, message: str, retry_after: int | None = None) -> Instead:
    body: dict[str, object] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
    }
    if reason:
        body["reason"] = reason
    headers = [("Content-Type", "application/json")]
    if retry_after is not None:
        body["details"] = {"retryAfterSeconds": retry_after}
        headers.append(("Retry-After", str(retry_after)))
    return Instead(Answered(code, tuple(headers), json.dumps(body | {"code": code}).encode()))


def _pieces(body: bytes, step: int) -> Iterator[bytes]:
    return (body[start : start + step] for start in range(0, len(body), step))
