"""What the server says, without what is sensitive: asking, and quoting its answers."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias

from gpupool.cluster.rejections import message
from gpupool.errors import ClusterError
from gpupool.planning.message_redaction import without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gpupool.cluster.client import Cluster, Request, Response
    from gpupool.planning.masking import Masker
    from gpupool.yamlio.located import Plain

Secrets: TypeAlias = "Callable[[], Sequence[str]]"
_STEP: Final = re.compile(r"[^.\[\]]+")


def collect_secrets(masker: Masker, bodies: Iterable[Mapping[str, Plain]]) -> Callable[[], tuple[str, ...]]:
    """Return what gives every sensitive text of some objects; it is asked only where something is refused."""

    @cache
    def found() -> tuple[str, ...]:
        return tuple(dict.fromkeys(secret for body in bodies for secret in masker.values(dict(body))))

    return found


def ask(cluster: Cluster, request: Request, secrets: Secrets) -> Response:
    """Ask something that holds secrets.

    Raises:
        ClusterError: where no answer comes in time; what came so far is quoted without them.
    """
    try:
        return cluster.ask(request)
    except ClusterError as problem:
        raise ClusterError(without(str(problem), secrets())) from None


def redact_response(answer: Response, secrets: Sequence[str]) -> Response:
    """Return a refusal with a message, and nothing else, that quotes no secret."""
    return answer._replace(body={"message": without(message(answer), secrets)})


def redact_path(said: str, bodies: Sequence[Mapping[str, Plain]], secrets: Sequence[str]) -> str:
    """Return the path that a cause names; a webhook may write anything there, and so may quote a value."""
    known = {key for body in bodies for key in _keys(dict(body))}
    return said if known.issuperset(_STEP.findall(said)) else without(said, secrets)


def _keys(body: Plain) -> Iterator[str]:
    items = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for key, item in items:
        yield str(key)
        yield from _keys(item)
