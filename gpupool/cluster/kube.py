"""HTTP connection to an API server through the kubernetes client library.

The library reads addresses, certificates, proxies and tokens, and runs the plugins that make tokens; requests
are sent through its connection pool, as its own calls would parse and check each response twice.
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
"""A limit that only a page of 500 objects of etcd's largest size would exceed."""

_FIRST_ERROR, _MOST_SHOWN = 300, 100
_TOKEN_SECONDS: Final = 5.0
"""How long a token is used without asking the library, which renews it much earlier than it expires."""

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


class _PluginErrors(logging.Handler):
    """Errors of exec plugins, which the library logs before it goes on without credentials."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        # A thread of an earlier command may still be waiting for its own token.
        if record.thread == self._thread:
            self.messages.append(record.getMessage())


def connect(access: ClusterAccess, deadline: Deadline) -> KubeConnection:
    """Read the kubeconfig, run its exec plugin, and return a pool of connections.

    The plugin ends with the deadline, also where it is run again later.

    Raises:
        ClusterError: where the kubeconfig can't be read, has no such context or an address that is not valid,
            or its plugin fails.
    """
    configuration = Configuration()
    configuration.connection_pool_maxsize = access.connections + 1
    errors, context = _PluginErrors(), IN_CLUSTER
    logging.getLogger().addHandler(errors)
    try:
        with explain_errors(access, configuration), bound_plugins(deadline):
            if is_in_cluster(access):
                config.load_incluster_config(client_configuration=configuration)
            else:
                file = find_kubeconfig(access)
                context = access.context or current_context(file)
                config.load_kube_config(
                    config_file=file, context=context, client_configuration=configuration,
                    persist_config=False,
                )  # fmt: skip
    finally:
        logging.getLogger().removeHandler(errors)
    if "://" not in configuration.host:
        server = without_credentials(configuration.host)
        message = f"the server of the context `{context}` is `{server}`: write it with https://"
        raise ClusterError(message)
    if errors.messages:
        message = (
            f"no credentials for the cluster: {redact_addresses('; '.join(errors.messages), configuration)}"
        )
        raise ClusterError(message)
    return _connection(configuration, context, access.user, deadline)


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
    """A pool of connections to one API server with one set of credentials; safe for several threads."""

    def __init__(
        self, configuration: Configuration, context: str, user: str | None, deadline: Deadline
    ) -> None:
        """Keep the configuration that the library read."""
        self._deadline = deadline
        self.server = without_credentials(configuration.host)
        self._address = configuration.host
        self.context = context
        self.is_insecure = not configuration.verify_ssl
        """Whether certificates are not verified, so that others on the network can pass for the server."""

        if self.is_insecure:
            # The library would warn at each request.
            disable_warnings(InsecureRequestWarning)
        self._configuration = configuration
        self._pool = RESTClientObject(configuration).pool_manager
        self._headers = {"Accept": "application/json", "User-Agent": "gpupool"}
        if user is not None:
            self._headers["Impersonate-User"] = user
        self._reading_token = threading.Lock()
        self._token: dict[str, str] = {}
        self._token_read_at = -math.inf

    def ask(self, request: Request, seconds: float) -> Response:
        """Send a request once.

        Raises:
            UnansweredError: where no complete response arrives within so many seconds.
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
            why = redact_addresses(_describe(problem), self._configuration)
            raise UnansweredError(why, is_final=_is_final(problem)) from problem
        read = _json(raw)
        if read is None and answer.status < _FIRST_ERROR:
            # For example a proxy's page: as an empty list it would make the cluster look empty.
            message = (
                f"its answer is not JSON: {redact_addresses(_text(raw)[:_MOST_SHOWN], self._configuration)}"
            )
            raise UnansweredError(message)
        content = {"message": redact_addresses(_text(raw), self._configuration)} if read is None else read
        warnings = tuple(_warnings(answer.headers.getlist("Warning")))
        return Response(answer.status, content, warnings, _retry_after(answer.headers))

    def _credentials(self) -> dict[str, str]:
        """Return the header with the token, renewed by its plugin where it is about to expire."""
        with self._reading_token:
            # The library reads all its settings again each time, which takes longer than a request.
            if time.monotonic() - self._token_read_at > _TOKEN_SECONDS:
                with bound_plugins(self._deadline):
                    bearer = self._configuration.auth_settings().get("BearerToken")
                token = None if bearer is None else bearer["value"]
                if token and not (str(token).isascii() and str(token).isprintable()):
                    message = "the token in the kubeconfig has a line break, or a character that no token has"
                    raise UnansweredError(message, is_final=True)
                self._token = {"Authorization": str(token)} if token else {}
                self._token_read_at = time.monotonic()
            return self._token


def _chunks(answer: BaseHTTPResponse, until: float) -> Iterator[bytes]:
    """Yield the chunks of a body, with limits on its time and size."""
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
    for header in headers:
        for text in _QUOTED.findall(header) or [header]:
            yield re.sub(r"\\(.)", r"\1", text)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Read Retry-After in seconds; the API server writes no dates there."""
    seconds = headers.get("Retry-After", "")
    return float(seconds) if seconds.isdigit() else None


def _describe(problem: BaseException) -> str:
    """Return the innermost error as text, without the library's names around it."""
    inner: BaseException | None = problem
    at_proxy = ""
    while inner is not None:
        at_proxy = at_proxy or "at the proxy: " * isinstance(inner, ProxyError)
        problem, inner = inner, _within(inner)
    if isinstance(problem, LocationValueError):
        return at_proxy + "the address is not valid"  # the library quotes it with its credentials
    if isinstance(problem, OSError) and problem.strerror:
        return at_proxy + problem.strerror
    text = re.sub(r"^\S*(?:Connection|Pool)\([^)]*\): ", "", str(problem))
    return at_proxy + (text or type(problem).__name__)


def _is_final(problem: BaseException) -> bool:
    """Return whether a retry would fail too, as with an invalid certificate or an unknown host."""
    inner: BaseException | None = problem
    while inner is not None:
        problem, inner = inner, _within(inner) or inner.__cause__
    no_such_name = isinstance(problem, socket.gaierror) and problem.errno == socket.EAI_NONAME
    # A UnicodeError is about an invalid address, or about a header that can't be sent.
    return no_such_name or isinstance(
        problem, ssl.SSLCertVerificationError | LocationValueError | UnicodeError
    )


def _within(problem: BaseException) -> BaseException | None:
    inner = [getattr(problem, "reason", None), *reversed(problem.args)]
    return next((error for error in inner if isinstance(error, BaseException)), None)
