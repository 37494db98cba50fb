"""The door to the kubernetes client: a way in, and HTTP over it.

The client library finds the way in (addresses, certificates, proxies, tokens and the plugins that make them);
requests are sent through its connection pool, since its own calls would parse and check each answer twice.
"""

from __future__ import annotations

import json
import logging
import math
import re
import socket
import ssl
import threading
import time
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from kubernetes import config
from kubernetes.client import Configuration
from kubernetes.client.rest import RESTClientObject
from urllib3 import Timeout, disable_warnings
from urllib3.exceptions import HTTPError, InsecureRequestWarning, LocationValueError, ProxyError

from gpupool.cluster.addresses import without_credentials
from gpupool.cluster.client import Response, UnansweredError
from gpupool.cluster.kubeconfig import (
    current_context,
    explain_errors,
    find_kubeconfig,
    is_in_cluster,
    redact_addresses,
)
from gpupool.cluster.plugin import bound_plugins
from gpupool.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from urllib3 import BaseHTTPResponse

    from gpupool.cluster.client import Request
    from gpupool.cluster.deadline import Deadline
    from gpupool.cluster.kubeconfig import ClusterAccess
    from gpupool.yamlio.located import Plain

IN_CLUSTER: Final = "in-cluster"
_CONNECT_SECONDS, _READ_SECONDS = 10.0, 60.0
_CHUNK: Final = 1 << 16
_MOST_BYTES: Final = 64 << 20
"""A page of 500 objects, each with as much as etcd holds, is larger; no server has such."""

_REFUSED, _MOST_SHOWN = 300, 100
_TOKEN_SECONDS: Final = 5.0
"""Much less than what is left of a token when the library makes the next one."""

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


class _Heard(logging.Handler):
    """The library logs what an exec plugin failed with, and goes on without credentials."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        # A thread of a command that gave up may still be asking for its own token.
        if record.thread == self._thread:
            self.said.append(record.getMessage())


def connect(way: ClusterAccess, deadline: Deadline) -> KubeConnection:
    """Find the way in, run the plugin that makes the token, and keep connections.

    The plugin ends with the deadline, also where it is run again later.

    Raises:
        ClusterError: where the kubeconfig can't be read, has no such context or an address that is not valid,
            or its plugin fails.
    """
    configuration = Configuration()
    configuration.connection_pool_maxsize = way.connections + 1
    heard, context = _Heard(), IN_CLUSTER
    logging.getLogger().addHandler(heard)
    try:
        with explain_errors(way, configuration), bound_plugins(deadline):
            if is_in_cluster(way):
                config.load_incluster_config(client_configuration=configuration)
            else:
                file = find_kubeconfig(way)
                context = way.context or current_context(file)
                config.load_kube_config(
                    config_file=file, context=context, client_configuration=configuration,
                    persist_config=False,
                )  # fmt: skip
    finally:
        logging.getLogger().removeHandler(heard)
    if "://" not in configuration.host:
        server = without_credentials(configuration.host)
        message = f"the server of the context `{context}` is `{server}`: write it with https://"
        raise ClusterError(message)
    if heard.said:
        message = f"no credentials for the cluster: {redact_addresses('; '.join(heard.said), configuration)}"
        raise ClusterError(message)
    return _connection(configuration, context, way.user, deadline)


def _connection(
    configuration: Configuration, context: str, user: str | None, deadline: Deadline
) -> KubeConnection:
    try:
        return KubeConnection(configuration, context, user, deadline)
    except LocationValueError as problem:
        # The library quotes the whole address.
        proxy = without_credentials(str(configuration.proxy))
        message = f"can't use the proxy `{proxy}` of the context `{context}`: write it as http://HOST:PORT"
        raise ClusterError(message) from problem


class KubeConnection:
    """The connections to one API server with one set of credentials; safe to be used by several threads."""

    def __init__(
        self, configuration: Configuration, context: str, user: str | None, deadline: Deadline
    ) -> None:
        """Take the way in as the library found it."""
        self._deadline = deadline
        self.server = without_credentials(configuration.host)
        self._address = configuration.host
        self.context = context
        self.is_insecure = not configuration.verify_ssl
        """Whether anybody on the way may pass for the server: no certificate is looked at."""

        if self.is_insecure:
            # The library would say it of each request, in its own words.
            disable_warnings(InsecureRequestWarning)
        self._configuration = configuration
        self._pool = RESTClientObject(configuration).pool_manager
        self._headers = {"Accept": "application/json", "User-Agent": "gpupool"}
        if user is not None:
            self._headers["Impersonate-User"] = user
        self._reading_token = threading.Lock()
        self._token: dict[str, str] = {}
        self._token_read = -math.inf

    def ask(self, request: Request, seconds: float) -> Response:
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
                self._address + request.path + ("?" + urlencode(request.query) if request.query else ""),
                body=body,
                headers=headers,
                timeout=Timeout(connect=min(seconds, _CONNECT_SECONDS), read=min(seconds, _READ_SECONDS)),
                retries=False,
                redirect=False,
                preload_content=False,
            )
            raw = b"".join(_chunks(answer, until))
            answer.release_conn()
        except (HTTPError, OSError, UnicodeError) as problem:
            why = redact_addresses(_in_words(problem), self._configuration)
            raise UnansweredError(why, is_final=_is_final(problem)) from problem
        said, read = answer.headers, _json(raw)
        if read is None and answer.status < _REFUSED:
            # A proxy's page, say: to take it for an empty list would be to find the cluster empty.
            message = (
                f"its answer is no JSON: {redact_addresses(_text(raw)[:_MOST_SHOWN], self._configuration)}"
            )
            raise UnansweredError(message)
        told = {"message": redact_addresses(_text(raw), self._configuration)} if read is None else read
        return Response(answer.status, told, tuple(_warnings(said.getlist("Warning"))), _after(said))

    def _credentials(self) -> dict[str, str]:
        """Return the token, made anew by its plugin where it is about to expire."""
        with self._reading_token:
            # The library reads all its settings anew each time, which takes longer than to send a request.
            if time.monotonic() - self._token_read > _TOKEN_SECONDS:
                with bound_plugins(self._deadline):
                    bearer = self._configuration.auth_settings().get("BearerToken")
                token = None if bearer is None else bearer["value"]
                if token and not (str(token).isascii() and str(token).isprintable()):
                    message = "the token in the kubeconfig has a line break, or a character that no token has"
                    raise UnansweredError(message, is_final=True)
                self._token = {"Authorization": str(token)} if token else {}
                self._token_read = time.monotonic()
            return self._token


def _chunks(answer: BaseHTTPResponse, until: float) -> Iterator[bytes]:
    """Yield the body as it comes; one that never ends is given up in time, and before it fills the memory."""
    size = 0
    while chunk := answer.read1(_CHUNK):
        yield chunk
        size += len(chunk)
        if size > _MOST_BYTES:
            answer.close()
            message = f"its answer has more than {_MOST_BYTES >> 20} MiB"
            raise UnansweredError(message, is_final=True)
        if time.monotonic() > until:
            answer.close()
            message = "its answer takes too long"
            raise TimeoutError(message)


def _json(raw: bytes) -> Mapping[str, Plain] | None:
    try:
        read = json.loads(raw)
    except (ValueError, RecursionError):
        read = None
    return read if isinstance(read, dict) else None


def _text(raw: bytes) -> str:
    return raw.decode(errors="replace").strip()


def _warnings(headers: Iterable[str]) -> Iterator[str]:
    for each in headers:
        for said in _QUOTED.findall(each) or [each]:
            yield re.sub(r"\\(.)", r"\1", said)


def _after(headers: Mapping[str, str]) -> float | None:
    """Read Retry-After in seconds; the API server writes no dates there."""
    said = headers.get("Retry-After", "")
    return float(said) if said.isdigit() else None


def _in_words(problem: BaseException) -> str:
    """Return what failed without the library's own names around it."""
    inner: BaseException | None = problem
    at_proxy = ""
    while inner is not None:
        at_proxy = at_proxy or "at the proxy: " * isinstance(inner, ProxyError)
        problem, inner = inner, _within(inner)
    if isinstance(problem, LocationValueError):
        return at_proxy + "the address is not valid"  # it would be quoted with all that is in it
    if isinstance(problem, OSError) and problem.strerror:
        return at_proxy + problem.strerror
    said = re.sub(r"^\S*(?:Connection|Pool)\([^)]*\): ", "", str(problem))
    return at_proxy + (said or type(problem).__name__)


def _is_final(problem: BaseException) -> bool:
    """Return whether the next try would fail just as well: a wrong certificate, a name that nobody has."""
    inner: BaseException | None = problem
    while inner is not None:
        problem, inner = inner, _within(inner) or inner.__cause__
    no_such_name = isinstance(problem, socket.gaierror) and problem.errno == socket.EAI_NONAME
    # The last is about an address that is none, or a header that can't be sent.
    return no_such_name or isinstance(
        problem, ssl.SSLCertVerificationError | LocationValueError | UnicodeError
    )


def _within(problem: BaseException) -> BaseException | None:
    inner = [getattr(problem, "reason", None), *reversed(problem.args)]
    return next((each for each in inner if isinstance(each, BaseException)), None)
