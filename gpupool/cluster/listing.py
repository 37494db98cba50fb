"""All objects of a kind, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.cluster.port import Request
from gpupool.cluster.refusals import refuse
from gpupool.yamlio.nodes import plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpupool.cluster.kinds import Kind
    from gpupool.cluster.port import Cluster
    from gpupool.yamlio.nodes import Plain

_PAGE: Final = "500"
_NOT_FOUND, _EXPIRED = 404, 410


def list_all(cluster: Cluster, kind: Kind, selector: str = "") -> list[Mapping[str, Plain]]:
    """Give every object of a kind, or those whose labels a selector fits.

    Raises:
        ClusterError: where the server refuses, or does not know the kind.
    """
    found = list_if_served(cluster, kind, selector)
    if found is None:
        request = Request("GET", kind.path)
        refuse(request, cluster.ask(request), f"list {kind.plural}.{kind.group}")
    return found


def list_if_served(cluster: Cluster, kind: Kind, selector: str = "") -> list[Mapping[str, Plain]] | None:
    """Give every object of a kind, or those whose labels fit; None where the server does not know the kind.

    Raises:
        ClusterError: where the server refuses.
    """
    found: list[Mapping[str, Plain]] = []
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
            refuse(request, answer, f"list {kind.plural}.{kind.group}")
        found += [plain_map(each) for each in plain_list(answer.body.get("items"))]
        following = plain_text(plain_map(answer.body.get("metadata")).get("continue"))
        if not following:
            return found
