"""Requests and error messages without sensitive values."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias

from gpupool.cluster.rejections import message
from gpupool.errors import ClusterError
from gpupool.planning.message_redaction import redact_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gpupool.cluster.client import Cluster, Request, Response
    from gpupool.planning.masking import Masker
    from gpupool.yamlio.located import Plain

Secrets: TypeAlias = "Callable[[], Sequence[str]]"
_STEP: Final = re.compile(r"[^.\[\]]+")


def collect_secrets(masker: Masker, bodies: Iterable[Mapping[str, Plain]]) -> Callable[[], tuple[str, ...]]:
    """Return a function that collects the sensitive texts of objects when an error message needs it."""

    @cache
    def collect() -> tuple[str, ...]:
        return tuple(dict.fromkeys(secret for body in bodies for secret in masker.find_values(dict(body))))

    return collect


def ask(cluster: Cluster, request: Request, secrets: Secrets) -> Response:
    """Send a request with sensitive values.

    Raises:
        ClusterError: where no response arrives in time; the message holds no sensitive value.
    """
    try:
        return cluster.ask(request)
    except ClusterError as problem:
        raise ClusterError(redact_secrets(str(problem), secrets())) from None


def redact_response(answer: Response, secrets: Sequence[str]) -> Response:
    """Return a rejection with its message alone, without sensitive values."""
    return answer._replace(body={"message": redact_secrets(message(answer), secrets)})


def redact_path(path: str, bodies: Sequence[Mapping[str, Plain]], secrets: Sequence[str]) -> str:
    """Return the field of a rejection, without sensitive values where it is not a path of the objects."""
    keys = {key for body in bodies for key in _keys(dict(body))}
    return path if keys.issuperset(_STEP.findall(path)) else redact_secrets(path, secrets)


def _keys(body: Plain) -> Iterator[str]:
    items = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for key, item in items:
        yield str(key)
        yield from _keys(item)
