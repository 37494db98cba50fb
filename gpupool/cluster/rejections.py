"""What the API server holds against a request, read from its Status."""

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
    """One thing that is wrong with an object."""

    field: str
    reason: str
    message: str


def read_causes(answer: Response) -> tuple[RejectionCause, ...]:
    """Return each violation that the server names."""
    details = plain_map(answer.body.get("details"))
    return tuple(
        RejectionCause(*(plain_text(plain_map(each).get(key)) for key in ("field", "reason", "message")))
        for each in plain_list(details.get("causes"))
    )


def message(answer: Response) -> str:
    """Return the server's own words, on one line."""
    return " ".join(plain_text(answer.body.get("message")).split()) or f"HTTP {answer.status}"


def field_conflicts(answer: Response) -> tuple[tuple[str, str], ...]:
    """Return path and manager of each field that somebody else owns; nothing for another kind of refusal."""
    return tuple(_field_conflicts(answer))


def _field_conflicts(answer: Response) -> Iterator[tuple[str, str]]:
    for cause in read_causes(answer):
        if cause.reason == _FIELD_CONFLICT:
            found = _CONFLICT_WITH.search(cause.message)
            yield cause.field.removeprefix("."), found["manager"] if found else ""


def raise_rejection(request: Request, answer: Response, doing: str) -> NoReturn:
    """End the command with what the server said; `doing` says what for, as in `list NodePools`.

    Raises:
        ClusterError: always.
    """
    said = message(answer)
    forbidden = _VERB.search(said)
    verb = forbidden["verb"] if forbidden else request.method.lower()
    hints = {
        401: "; the credentials are not valid, or have expired",
        403: f"; the permission to {verb} is missing: see `gpupool rbac`",
        404: "; are Karpenter's CRDs installed? `gpupool doctor` says",
    }
    text = f"can't {doing}: the API server answers {answer.status}: {said}{hints.get(answer.status, '')}"
    raise ClusterError(text)
