"""Lists that come in pages, and pages that grow too old while they are read."""

from typing import TYPE_CHECKING, cast

import pytest

from gpupool.cluster import listing
from gpupool.cluster.client import Cluster, Request, Response
from gpupool.cluster.resources import NODE_CLAIM
from gpupool.errors import ClusterError
from gpupool.yamlio.located import plain_map
from tests.memory.server import MemoryServer
from tests.rollout.decisions.test_races import At

if TYPE_CHECKING:
    from tests.memory.schemas import Body

COUNT = 7


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> MemoryServer:
    """A server with some objects, which are read three at a time."""
    monkeypatch.setattr(listing, "_PAGE", "3")
    made = MemoryServer()
    for number in range(COUNT):
        body: Body = {
            "apiVersion": NODE_CLAIM.api_version, "kind": NODE_CLAIM.name, "metadata": {"name": f"claim-{number}"}, "spec": {},
        }  # fmt: skip
        assert made.ask(Request("POST", NODE_CLAIM.path, {"fieldManager": "karpenter"}, body)).ok
    made.requests.clear()
    return made


def names(server: MemoryServer) -> list[str]:
    # Nothing is listed with a deadline of its own, which is all that the server in memory lacks of a cluster.
    found = listing.list_all(cast("Cluster", server), NODE_CLAIM)
    return [str(plain_map(each["metadata"])["name"]) for each in found]


def test_all_pages_are_read(server: MemoryServer) -> None:
    assert names(server) == [f"claim-{number}" for number in range(COUNT)]
    assert len(server.requests) == 3


@pytest.mark.parametrize("nth", [2, 3])
def test_a_page_that_has_expired_begins_the_list_anew(server: MemoryServer, nth: int) -> None:
    server.hooks.append(At(nth, server.expire_pages))

    assert names(server) == [f"claim-{number}" for number in range(COUNT)]
    assert len(server.requests) == nth + 3
    assert "continue" not in server.requests[nth].query


def test_a_list_that_is_refused_at_once_is_not_asked_for_again(server: MemoryServer) -> None:
    server.hooks.append(lambda _: Response(410, {"message": "gone"}))

    with pytest.raises(ClusterError, match="list nodeclaims"):
        names(server)
