"""Errors of the API server: causes, messages and field conflicts of a Status."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from gpupool.errors import ClusterError
from gpupool.yamlio.located import plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.cluster.client import Request, Response

_CONFLICT_WITH: Final = re.compile(r'conflict with "(?P<manager>[^"]*)"(?P<rest>.*)', re.DOTALL)
_FIELD_CONFLICT: Final = "FieldManagerConflict"
_VERB: Final = re.compile(r" cannot (?P<verb>\w+) resource ")


class RejectionCause(NamedTuple):
    """One violation that a Status names."""

    field: str
    reason: str
    message: str


def read_causes(answer: Response) -> tuple[RejectionCause, ...]:
    """Return each violation that the server names."""
    details = plain_map(answer.body.get("details"))
    return tuple(
        RejectionCause(*(plain_text(cause.get(key)) for key in ("field", "reason", "message")))
        for cause in map(plain_map, plain_list(details.get("causes")))
    )


def message(answer: Response) -> str:
    """Return the server's message on one line."""
    return " ".join(plain_text(answer.body.get("message")).split()) or f"HTTP {answer.status}"


def field_conflicts(answer: Response) -> tuple[tuple[str, str], ...]:
    """Return path and manager of each field that another field manager owns; empty for other errors."""
    return tuple(_field_conflicts(answer))


def _field_conflicts(answer: Response) -> Iterator[tuple[str, str]]:
    for cause in read_causes(answer):
        if cause.reason == _FIELD_CONFLICT:
            match = _CONFLICT_WITH.search(cause.message)
            yield cause.field.removeprefix("."), match["manager"] if match else ""


def raise_rejection(request: Request, answer: Response, action: str) -> NoReturn:
    """Raise an error with the server's message; `action` is what failed, as in `list NodePools`.

    Raises:
        ClusterError: always.
    """
    text = message(answer)
    forbidden = _VERB.search(text)
    verb = forbidden["verb"] if forbidden else request.method.lower()
    hints = {
        401: "; the credentials are not valid, or have expired",
        403: f"; the permission to {verb} is missing: see `gpupool rbac`",
        404: "; are Karpenter's CRDs installed? `gpupool doctor` says",
    }
    error = f"can't {action}: the API server answers {answer.status}: {text}{hints.get(answer.status, '')}"
    raise ClusterError(error)
