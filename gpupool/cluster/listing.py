"""All objects of a kind, page by page."""

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

Found = TypeVar("Found")

_PAGE: Final = "500"
_NOT_FOUND, _EXPIRED = 404, 410


def list_all(cluster: Cluster, kind: ResourceKind) -> list[Mapping[str, Plain]]:
    """Return every object of a kind.

    Raises:
        ClusterError: where the server refuses, or does not know the kind.
    """
    return read_all(cluster, kind, _as_it_is)


def list_if_served(cluster: Cluster, kind: ResourceKind) -> list[Mapping[str, Plain]] | None:
    """Return every object of a kind; None where the server does not know the kind.

    Raises:
        ClusterError: where the server refuses.
    """
    return _pages(cluster, kind, _as_it_is, "")


def read_all(
    cluster: Cluster, kind: ResourceKind, read: Callable[[Mapping[str, Plain]], Found], selector: str = ""
) -> list[Found]:
    """Return what `read` makes of every object of a kind, or of those whose labels match a selector.

    No more than one page of whole objects is kept in memory.

    Raises:
        ClusterError: where the server refuses, or does not know the kind.
    """
    found = _pages(cluster, kind, read, selector)
    if found is None:
        request = Request("GET", kind.path)
        raise_rejection(request, cluster.ask(request), f"list {kind.plural}.{kind.group}")
    return found


def _as_it_is(body: Mapping[str, Plain]) -> Mapping[str, Plain]:
    return body


def _pages(
    cluster: Cluster, kind: ResourceKind, read: Callable[[Mapping[str, Plain]], Found], selector: str
) -> list[Found] | None:
    found: list[Found] = []
    following = ""
    while True:
        query = {"limit": _PAGE, "labelSelector": selector, "continue": following}
        query = {key: said for key, said in query.items() if said}
        request = Request("GET", kind.path, query)
        answer = cluster.ask(request)
        if answer.status == _NOT_FOUND:
            return None
        if answer.status == _EXPIRED and following:
            # The pages that are left have grown too old in the server: the whole list is read anew.
            found, following = [], ""
            continue
        if not answer.ok:
            raise_rejection(request, answer, f"list {kind.plural}.{kind.group}")
        found += [read(plain_map(each)) for each in plain_list(answer.body.get("items"))]
        following = plain_text(plain_map(answer.body.get("metadata")).get("continue"))
        if not following:
            return found
