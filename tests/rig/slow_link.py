"""A way to the API server on which every answer takes longer, as if the server were far away.

Bytes are passed on as they are, encryption included, so that a client may use HTTP/2 and the link costs next to
no processor time; no connection waits for another one.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from tests.rig.access import Access

_BACKLOG: Final = 128


class SlowLink:
    """Takes connections on loopback and passes them on to one server."""

    def __init__(self, access: Access, seconds: float) -> None:
        self.seconds = seconds
        """How much later everything arrives that the server sends."""

        address = urlsplit(access.url)
        self._access = access
        self._server = address.hostname or "", address.port or 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="slow link")
        self._port = 0

    @property
    def access(self) -> Access:
        """Return the way in of the user who may do everything."""
        return replace(self._access, url=f"https://127.0.0.1:{self._port}")

    def kubeconfig(self, folder: Path) -> Path:
        """Write a kubeconfig whose server is this."""
        return self.access.write_kubeconfig(folder / "kubeconfig-slow")

    def start(self) -> None:
        """Take connections in a thread."""
        self._thread.start()
        self._port = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()

    def end(self) -> None:
        """End all connections."""
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self) -> int:
        listening = await self._loop.create_server(
            lambda: _FromClient(self), "127.0.0.1", 0, backlog=_BACKLOG
        )
        self._listening = listening
        self._ends: set[asyncio.Transport] = set()
        port: int = listening.sockets[0].getsockname()[1]
        return port

    async def _close(self) -> None:
        self._listening.close()
        for each in [*self._ends]:
            each.abort()
        await asyncio.sleep(0)

    def keep(self, end: asyncio.Transport) -> None:
        """Note a connection that has to be ended with the link."""
        self._ends.add(end)

    def drop(self, end: asyncio.Transport) -> None:
        """Forget a connection that has ended."""
        self._ends.discard(end)

    async def connect(self, client: "_FromClient") -> "_FromServer":
        """Open the connection to the server that belongs to a client's."""
        _, found = await self._loop.create_connection(lambda: _FromServer(self, client), *self._server)
        return found


class _End(asyncio.Protocol):
    """One end of a connection through the link."""

    transport: asyncio.Transport

    def __init__(self, link: SlowLink) -> None:
        self._link = link

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._link.keep(transport)

    def connection_lost(self, _problem: Exception | None) -> None:
        self._link.drop(self.transport)


class _FromClient(_End):
    """Passes on at once what a client sends."""

    def __init__(self, link: SlowLink) -> None:
        super().__init__(link)
        self._early: list[bytes] = []
        """What came before the server was reached."""

        self._server: _FromServer | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._reaching = asyncio.ensure_future(self._reach())

    async def _reach(self) -> None:
        try:
            self._server = await self._link.connect(self)
        except OSError:
            self.transport.abort()
            return
        self._server.transport.writelines(self._early)
        if self.transport.is_closing():
            self._server.transport.close()

    def data_received(self, data: bytes) -> None:
        if self._server is None:
            self._early.append(data)
        else:
            self._server.transport.write(data)

    def connection_lost(self, problem: Exception | None) -> None:
        super().connection_lost(problem)
        if self._server is not None:
            self._server.transport.close()


class _FromServer(_End):
    """Passes on what the server sends, in its order, each piece so much later."""

    def __init__(self, link: SlowLink, client: _FromClient) -> None:
        super().__init__(link)
        self._client = client
        self._due: deque[tuple[float, bytes]] = deque()
        """What has not been passed on, and when it is to be; an empty piece is the end."""

    def data_received(self, data: bytes) -> None:
        loop = asyncio.get_running_loop()
        self._due.append((loop.time() + self._link.seconds, data))
        if len(self._due) == 1:
            loop.call_at(self._due[0][0], self._pass_on)

    def _pass_on(self) -> None:
        loop = asyncio.get_running_loop()
        while self._due and self._due[0][0] <= loop.time():
            if piece := self._due.popleft()[1]:
                self._client.transport.write(piece)
            else:
                self._client.transport.close()
        if self._due:
            loop.call_at(self._due[0][0], self._pass_on)

    def connection_lost(self, problem: Exception | None) -> None:
        super().connection_lost(problem)
        self.data_received(b"")


@contextmanager
def slow_link(access: Access, seconds: float) -> Iterator[SlowLink]:
    """Run a link to a server while the block runs; every answer arrives so many seconds later."""
    found = SlowLink(access, seconds)
    found.start()
    try:
        yield found
    finally:
        found.end()
