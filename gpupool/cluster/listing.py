"""Lists of the objects of a kind, read page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from gpupool.cluster.client import Request
from gpupool.cluster.rejections import raise_rejection
from gpupool.yamlio.located import plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpupool.cluster.client import Cluster
    from gpupool.cluster.resources import ResourceKind
    from gpupool.yamlio.located import Plain

Returned = TypeVar("Returned")

_PAGE: Final = "500"
_NOT_FOUND, _EXPIRED = 404, 410


def list_all(cluster: Cluster, kind: ResourceKind) -> list[Mapping[str, Plain]]:
    """Return every object of a kind.

    Raises:
        ClusterError: where the server rejects the request, or does not serve the kind.
    """
    return read_all(cluster, kind, _unchanged)


def list_if_served(cluster: Cluster, kind: ResourceKind) -> list[Mapping[str, Plain]] | None:
    """Return every object of a kind; None where the server does not serve the kind.

    Raises:
        ClusterError: where the server rejects the request.
    """
    return _pages(cluster, kind, _unchanged, "")


def read_all(
    cluster: Cluster, kind: ResourceKind, read: Callable[[Mapping[str, Plain]], Returned], selector: str = ""
) -> list[Returned]:
    """Return the result of `read` for every object of a kind, or for those whose labels match a selector.

    At most one page of complete objects is kept in memory.

    Raises:
        ClusterError: where the server rejects the request, or does not serve the kind.
    """
    results = _pages(cluster, kind, read, selector)
    if results is None:
        request = Request("GET", kind.path)
        raise_rejection(request, cluster.ask(request), f"list {kind.plural}.{kind.group}")
    return results


def _unchanged(body: Mapping[str, Plain]) -> Mapping[str, Plain]:
    return body


def _pages(
    cluster: Cluster, kind: ResourceKind, read: Callable[[Mapping[str, Plain]], Returned], selector: str
) -> list[Returned] | None:
    results: list[Returned] = []
    token = ""
    while True:
        query = {"limit": _PAGE, "labelSelector": selector, "continue": token}
        query = {key: value for key, value in query.items() if value}
        request = Request("GET", kind.path, query)
        answer = cluster.ask(request)
        if answer.status == _NOT_FOUND:
            return None
        if answer.status == _EXPIRED and token:
            # The remaining pages have expired on the server: the list is read again from the start.
            results, token = [], ""
            continue
        if not answer.ok:
            raise_rejection(request, answer, f"list {kind.plural}.{kind.group}")
        results += [read(plain_map(item)) for item in plain_list(answer.body.get("items"))]
        token = plain_text(plain_map(answer.body.get("metadata")).get("continue"))
        if not token:
            return results
