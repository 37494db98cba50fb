"""The one door to the kubernetes client: kubeconfig, contexts, exec plugins, in-cluster; and HTTP over it.

The client library finds the way in (addresses, certificates, proxies, tokens and the plugins that make them);
requests are sent through its connection pool, since its own calls would parse and check each answer twice.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlencode

from kubernetes import config
from kubernetes.client import Configuration
from kubernetes.client.rest import RESTClientObject
from urllib3 import Timeout
from urllib3.exceptions import HTTPError

from gpupool.cluster.port import Answer, UnansweredError
from gpupool.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from urllib3 import BaseHTTPResponse

    from gpupool.cluster.port import Request
    from gpupool.yamlio.nodes import Plain

IN_CLUSTER: Final = "in-cluster"
_CONNECT_SECONDS, _READ_SECONDS = 10.0, 60.0
_CHUNK: Final = 1 << 16
_TOKEN_SECONDS: Final = 5.0
"""Much less than what is left of a token when the library makes the next one."""

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


class WayIn(NamedTuple):
    """Which cluster is meant, and as whom."""

    kubeconfig: str | None = None
    """A file; None for $KUBECONFIG or ~/.kube/config, and where there is none for the Pod's own cluster."""

    context: str | None = None
    """A context of it; None for the current one."""

    user: str | None = None
    """Whom to impersonate."""

    connections: int = 8
    """How many requests may be under way at once."""


class _Heard(logging.Handler):
    """The library logs what an exec plugin failed with, and goes on without credentials."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


def connect(way: WayIn) -> KubeConnection:
    """Find the way in, run the plugin that makes the token, and keep connections.

    Raises:
        ClusterError: where the kubeconfig can't be read, has no such context, or its plugin fails.
    """
    configuration = Configuration()
    configuration.connection_pool_maxsize = way.connections + 1
    heard, context = _Heard(), IN_CLUSTER
    logging.getLogger().addHandler(heard)
    try:
        with _readable(way):
            if _is_in_cluster(way):
                config.load_incluster_config(client_configuration=configuration)
            else:
                file = _file(way)
                context = way.context or config.list_kube_config_contexts(config_file=file)[1]["name"]
                config.load_kube_config(
                    config_file=file, context=context, client_configuration=configuration,
                    persist_config=False,
                )  # fmt: skip
    finally:
        logging.getLogger().removeHandler(heard)
    if heard.said:
        message = f"no credentials for the cluster: {'; '.join(heard.said)}"
        raise ClusterError(message)
    return KubeConnection(configuration, context, way.user)


class KubeConnection:
    """The connections to one API server with one set of credentials; safe to be used by several threads."""

    def __init__(self, configuration: Configuration, context: str, user: str | None) -> None:
        """Take the way in as the library found it."""
        self.server = configuration.host
        self.context = context
        self._configuration = configuration
        self._pool = RESTClientObject(configuration).pool_manager
        self._headers = {"Accept": "application/json", "User-Agent": "gpupool"}
        if user is not None:
            self._headers["Impersonate-User"] = user
        self._reading_token = threading.Lock()
        self._token: dict[str, str] = {}
        self._token_read = -math.inf

    def ask(self, request: Request, seconds: float) -> Answer:
        """Ask once.

        Raises:
            UnansweredError: where no whole answer comes within so many seconds.
        """
        headers = {**self._headers, **self._credentials()}
        body = None
        if request.body is not None:
            headers["Content-Type"] = request.content_type
            body = json.dumps(request.body).encode()
        until = time.monotonic() + seconds
        try:
            answer = self._pool.urlopen(
                request.method,
                self.server + request.path + ("?" + urlencode(request.query) if request.query else ""),
                body=body,
                headers=headers,
                timeout=Timeout(connect=min(seconds, _CONNECT_SECONDS), read=min(seconds, _READ_SECONDS)),
                retries=False,
                redirect=False,
                preload_content=False,
            )
            raw = b"".join(_chunks(answer, until))
            answer.release_conn()
        except (HTTPError, OSError) as problem:
            raise UnansweredError(_in_words(problem)) from problem
        said = answer.headers
        return Answer(answer.status, _json(raw), tuple(_warnings(said.getlist("Warning"))), _after(said))

    def _credentials(self) -> dict[str, str]:
        """Give the token, made anew by its plugin where it is about to expire."""
        with self._reading_token:
            # The library reads all its settings anew each time, which takes longer than to send a request.
            if time.monotonic() - self._token_read > _TOKEN_SECONDS:
                bearer = self._configuration.auth_settings().get("BearerToken")
                token = None if bearer is None else bearer["value"]
                self._token = {"Authorization": str(token)} if token else {}
                self._token_read = time.monotonic()
            return self._token


def _chunks(answer: BaseHTTPResponse, until: float) -> Iterator[bytes]:
    """Give the body as it comes; a server that sends a byte now and then is given up in time."""
    while chunk := answer.read1(_CHUNK):
        yield chunk
        if time.monotonic() > until:
            answer.close()
            message = "its answer takes too long"
            raise TimeoutError(message)


def _json(raw: bytes) -> Mapping[str, Plain]:
    try:
        read = json.loads(raw)
    except ValueError:
        read = None
    return read if isinstance(read, dict) else {"message": raw.decode(errors="replace").strip()}


def _warnings(headers: Iterable[str]) -> Iterator[str]:
    for each in headers:
        for said in _QUOTED.findall(each) or [each]:
            yield re.sub(r"\\(.)", r"\1", said)


def _after(headers: Mapping[str, str]) -> float | None:
    """Read Retry-After in seconds; the API server writes no dates there."""
    said = headers.get("Retry-After", "")
    return float(said) if said.isdigit() else None


def _in_words(problem: Exception) -> str:
    """Say what failed without the library's own names around it."""
    inner = problem
    while (reason := getattr(inner, "reason", None)) is not None and isinstance(reason, Exception):
        inner = reason
    said = re.sub(r"^\S*(?:Connection|Pool)\([^)]*\): ", "", str(inner))
    return said or type(inner).__name__


def _file(way: WayIn) -> str:
    return way.kubeconfig or os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")


def _is_in_cluster(way: WayIn) -> bool:
    """Say whether there is no kubeconfig and a Pod's own way in."""
    if way.kubeconfig or way.context or "KUBERNETES_SERVICE_HOST" not in os.environ:
        return False
    return not any(Path(file).expanduser().exists() for file in _file(way).split(os.pathsep) if file)


@contextmanager
def _readable(way: WayIn) -> Iterator[None]:
    try:
        yield
    except Exception as problem:
        # What a broken kubeconfig makes the library raise is of every kind: of YAML, KeyError, TypeError.
        file = "the Pod's service account" if _is_in_cluster(way) else _file(way)
        message = f"can't use {file}: {str(problem) or type(problem).__name__}"
        raise ClusterError(message) from problem
