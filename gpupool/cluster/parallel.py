"""Parallel calls in a pool of threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Item = TypeVar("Item")
Returned = TypeVar("Returned")


@contextmanager
def threads(workers: int) -> Iterator[ThreadPoolExecutor]:
    """Yield a pool of threads, which is left at the end without waiting for results that are not needed."""
    pool = ThreadPoolExecutor(workers)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def map_parallel(workers: int, function: Callable[[Item], Returned], items: Iterable[Item]) -> list[Returned]:
    """Return the results of a function for each item in order, calculated by several threads.

    The first exception ends it; calls that have not started by then are cancelled.
    """
    with threads(workers) as pool:
        return list(pool.map(function, items))
