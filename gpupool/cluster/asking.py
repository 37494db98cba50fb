"""Several questions at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpupool.cluster.port import Answer, Cluster, Request


def ask_all(cluster: Cluster, requests: Sequence[Request], at_once: int = 8) -> list[Answer]:
    """Ask all of them, at most so many at once; give the answers in the order of the requests.

    Raises:
        ClusterError: where one is not answered in time.
        StoppedError: where the user wants it to end; what was not asked yet is not asked any more.
    """
    threads = ThreadPoolExecutor(at_once)
    try:
        return list(threads.map(cluster.ask, requests))
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
