"""HTTPS between a client and an API server: each request is an exchange that somebody decides how to end."""

import json
import select
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException, HTTPResponse, responses
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from tests.rig.access import Access

IDLE_SECONDS: Final = 30.0
"""After so long the server may be about to end a connection; a new one is opened."""

_POLL_SECONDS: Final = 0.05
_CHUNK: Final = 1 << 16
_OF_ONE_HOP: Final = frozenset({"connection", "host", "keep-alive", "transfer-encoding", "content-length"})
_WITHOUT_BODY: Final = frozenset({204, 304})
_RESET: Final = struct.pack("ii", 1, 0)


class Asked(NamedTuple):
    """What a client wants."""

    method: str
    target: str
    """Path and query as they were sent."""

    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def token(self) -> str:
        """Return the bearer token; empty where there is none."""
        return self.headers.get("Authorization", "").removeprefix("Bearer ")

    @property
    def is_write(self) -> bool:
        """Return whether the server would store something for it."""
        return self.method not in {"GET", "HEAD", "OPTIONS"} and self.query.get("dryRun") != "All"


class Answered(NamedTuple):
    """A whole answer."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def json(self) -> dict[str, Any]:
        """Read the body; what is no JSON object stands under `message`."""
        with suppress(ValueError):
            found = json.loads(self.body)
            if isinstance(found, dict):
                return found
        return {"message": self.body.decode(errors="replace")}


class Gone(Exception):  # noqa: N818 - no mistake of anybody's
    """The client or the server has ended its connection, or the forwarding ends."""


class Exchange:
    """One request: what was asked, the server that knows the answer, and the client that waits for it."""

    def __init__(self, handler: "_Handler", asked: Asked) -> None:
        self.asked = asked
        self.arrived: Callable[[Answered], None] = lambda _answered: None
        """Called with the server's answer, before the client hears of it."""

        self.telling: Callable[[int], None] = lambda _status: None
        """Called with the status that the client is about to hear."""

        self._handler = handler

    def forward(self) -> Answered:
        """Ask the server and give its whole answer."""
        with _gone_where_broken(), self._handler.ask(self.asked) as response:
            answered = Answered(response.status, tuple(_of_both_hops(response.getheaders())), response.read())
        self.arrived(answered)
        return answered

    def stream(self) -> None:
        """Ask the server and pass on each piece of its answer as it comes, as a watch needs it."""
        with _gone_where_broken(), self._handler.ask(self.asked) as response:
            chunked = ("Transfer-Encoding", "chunked")
            self.send_head(
                Answered(response.status, tuple(_of_both_hops(response.getheaders())), b""), chunked
            )
            while piece := response.read1(_CHUNK):
                self._write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self._write(b"0\r\n\r\n")

    def send(self, answered: Answered) -> None:
        """Answer the client."""
        length = () if answered.status in _WITHOUT_BODY else (("Content-Length", str(len(answered.body))),)
        self._write(self._head(answered, *length) + answered.body)

    def send_head(self, answered: Answered, *more: tuple[str, str]) -> None:
        """Send status and headers only; `more` says how long the body will be."""
        self._write(self._head(answered, *more))

    def send_raw(self, piece: bytes) -> None:
        """Send a piece of the body, framed by who calls."""
        self._write(piece)

    def hang_up(self) -> None:
        """End the client's connection in good order."""
        self._handler.close_connection = True

    def reset(self) -> None:
        """End the client's connection as a crash does: what is under way is lost."""
        self._handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._handler.close_connection = True

    def pause(self, seconds: float) -> None:
        """Wait; raises where nobody waits for the answer any more.

        Raises:
            Gone: The client has hung up, or the forwarding ends.
        """
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            # A client that waits for its answer says nothing, so what can be read is the end.
            readable, _, _ = select.select([self._handler.connection], [], [], min(left, _POLL_SECONDS))
            if readable or self._handler.server.is_closing.is_set():
                self.hang_up()
                raise Gone

    def _head(self, answered: Answered, *more: tuple[str, str]) -> bytes:
        self.telling(answered.status)
        lines = [f"HTTP/1.1 {answered.status} {responses.get(answered.status, 'Unknown')}"]
        lines += [f"{name}: {value}" for name, value in (*answered.headers, *more)]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")

    def _write(self, piece: bytes) -> None:
        with _gone_where_broken():
            self._handler.wfile.write(piece)


class Forwarding(ThreadingHTTPServer):
    """Takes connections on loopback, as the API server itself would: with its own certificate."""

    request_queue_size = 128
    daemon_threads = False

    def __init__(self, access: Access, serve: Callable[[Exchange], None]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.access = access
        self.serve = serve
        self.problems: list[BaseException] = []
        """What went wrong in a test's own code, which runs in a thread here."""

        self.is_closing = threading.Event()
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(access.authority, access.authority.with_suffix(".key"))
        self._context.sslsocket_class = _Secured
        self._sockets: set[socket.socket] = set()
        self._thread = threading.Thread(target=self.serve_forever, args=(_POLL_SECONDS,))

    @property
    def url(self) -> str:
        """Return the address for clients."""
        return f"https://127.0.0.1:{self.server_address[1]}"

    def start(self) -> None:
        """Take connections in a thread."""
        self._thread.start()

    def end(self) -> None:
        """End all connections and all threads."""
        self.is_closing.set()
        self.shutdown()
        self._thread.join()
        for each in list(self._sockets):
            _shut(each)
        self._refuse_politely()
        self.server_close()

    def _refuse_politely(self) -> None:
        """End the connections that nobody has taken yet: closing the listener would reset them.

        A command that gave up leaves threads behind that may connect just now, and Python forgets to close a
        connection that was reset before it could be secured.
        """
        with suppress(OSError):
            self.socket.setblocking(False)
            while True:
                self.socket.accept()[0].close()

    def keep(self, connection: socket.socket) -> None:
        """Note a connection that has to be ended with the others."""
        self._sockets.add(connection)
        if self.is_closing.is_set():
            _shut(connection)

    def drop(self, connection: socket.socket) -> None:
        """Forget a connection that has ended."""
        self._sockets.discard(connection)

    def finish_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the parent has it
        # In the connection's own thread: a client that is slow to shake hands keeps nobody else waiting.
        connection = self._context.wrap_socket(request, server_side=True, do_handshake_on_connect=False)
        try:
            self.keep(connection)
            connection.do_handshake()
            _Handler(connection, client_address, self)
        finally:
            self.drop(connection)
            connection.close()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401, ARG002 - as above
        # Called while the exception is handled. That a peer hangs up is what this program is for.
        problem = sys.exception()
        if problem is not None and not isinstance(problem, (OSError, Gone)):
            self.problems.append(problem)


class _Secured(ssl.SSLSocket):
    """A connection that ends where its peer was gone before it was made: Python would leave it open then."""

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        try:
            return super().recv(buflen, flags)
        except ConnectionResetError:
            self.close()
            raise


class _Handler(BaseHTTPRequestHandler):
    """Reads the requests of one connection, one after the other."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Forwarding

    def setup(self) -> None:
        super().setup()
        self._upstream = self.server.access.connection()
        self._asked_at = time.monotonic()

    def finish(self) -> None:
        self._close_upstream()
        super().finish()

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def ask(self, asked: Asked) -> HTTPResponse:
        """Send a request to the server; its body is still to be read."""
        if time.monotonic() - self._asked_at > IDLE_SECONDS:
            self._close_upstream()
        if self._upstream.sock is None:
            self._open_upstream()
        self._upstream.request(asked.method, asked.target, asked.body or None, asked.headers)
        self._asked_at = time.monotonic()
        return self._upstream.getresponse()

    def _open_upstream(self) -> None:
        self._upstream.connect()
        self.server.keep(self._upstream.sock)

    def _close_upstream(self) -> None:
        if self._upstream.sock is not None:
            self.server.drop(self._upstream.sock)
        self._upstream.close()

    def _serve(self) -> None:
        split = urlsplit(self.path)
        asked = Asked(
            self.command,
            self.path,
            split.path,
            dict(parse_qsl(split.query, keep_blank_values=True)),
            dict(_of_both_hops(self.headers.items())),
            self.rfile.read(int(self.headers.get("Content-Length", "0"))),
        )
        if _has_hung_up(self.connection):
            # What a client sent before it was killed dies with it: so it is known where a crash happened.
            raise Gone
        self.server.serve(Exchange(self, asked))

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - as the parent wants them


def _of_both_hops(headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return (each for each in headers if each[0].lower() not in _OF_ONE_HOP)


def _has_hung_up(connection: socket.socket) -> bool:
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    return bool(poll.poll(0))


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):
        # Not the method of SSLSocket, which takes its state away from the thread that reads from it.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


@contextmanager
def _gone_where_broken() -> Iterator[None]:
    try:
        yield
    except (OSError, HTTPException) as problem:
        raise Gone from problem
