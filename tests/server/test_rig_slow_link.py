"""The way to a server that is far away: each answer is late, and none because of another one."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from tests.rig.client import Client
from tests.rig.slow_link import slow_link

if TYPE_CHECKING:
    from tests.rig.access import Access
    from tests.rig.server import ApiServer

DELAY: Final = 0.5
CLIENTS: Final = 8
PATH: Final = "/api/v1/namespaces/kube-system"


def asked(access: Access) -> float:
    """Ask on a connection that is open already, and return the seconds that it takes."""
    with Client(access) as client:
        assert client.request("GET", PATH).status == 200
        began = time.monotonic()
        assert client.request("GET", PATH).body["metadata"]["name"] == "kube-system"
        return time.monotonic() - began


def test_each_answer_is_late_and_none_waits_for_another(api_server: ApiServer) -> None:
    with slow_link(api_server.access, DELAY) as link, ThreadPoolExecutor(CLIENTS) as pool:
        began = time.monotonic()
        took = list(pool.map(lambda _: asked(link.access), range(CLIENTS)))
        in_all = time.monotonic() - began

    assert min(took) >= DELAY
    assert in_all < CLIENTS * DELAY


def test_large_answers_arrive_whole_and_in_order(api_server: ApiServer) -> None:
    with slow_link(api_server.access, 0.01) as link, Client(link.access) as far:
        assert far.request("GET", "/openapi/v2").body == api_server.request("GET", "/openapi/v2").body
