"""The server in memory behind the client of the real one, for steps that both are told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qsl, urlsplit

from gpupool.cluster.client import Request
from tests.memory.server import MemoryServer
from tests.rig.client import Answer

if TYPE_CHECKING:
    from gpupool.cluster.client import Method


class MemoryClient:
    """Questions to one server in memory, as `tests.rig.client.Client` asks them."""

    def __init__(self) -> None:
        self.server = MemoryServer(missing_crds=True)

    def request(
        self, method: str, path: str, body: bytes = b"", content_type: str = "application/json"
    ) -> Answer:
        """Ask anything."""
        address = urlsplit(path)
        query, read = dict(parse_qsl(address.query)), json.loads(body) if body else None
        answer = self.server.ask(Request(cast("Method", method), address.path, query, read, content_type))
        return Answer(answer.status, dict(answer.body), answer.warnings)
