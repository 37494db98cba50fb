"""Karpenter's CRDs as a server stores them, and what becomes of those that it does not give."""

from collections.abc import Callable
from typing import cast

import pytest

from gpupool.cluster.client import Cluster, Request, Response
from gpupool.cluster.crds import CRDS, read_stored_crds
from gpupool.errors import ClusterError
from tests.memory.server import MemoryServer

FIRST, *OTHERS = CRDS


def answering(status: int) -> Callable[[Request], Response | None]:
    """Answer a request for the first CRD with a status, and one for another with a body."""
    return lambda request: Response(status if FIRST in request.path else 200, {"message": "no"})


@pytest.mark.parametrize(("status", "unread"), [(404, ()), (403, (FIRST,))])
def test_one_that_is_not_there_or_not_to_be_read_is_left_out(status: int, unread: tuple[str, ...]) -> None:
    server = MemoryServer()
    server.hooks.append(answering(status))

    found = read_stored_crds(cast("Cluster", server))

    assert (sorted(found.bodies), found.unread) == (sorted(OTHERS), unread)


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
def test_any_other_refusal_is_said(status: int) -> None:
    server = MemoryServer()
    server.hooks.append(answering(status))

    with pytest.raises(ClusterError, match=f"read the CRD {FIRST}"):
        read_stored_crds(cast("Cluster", server))
