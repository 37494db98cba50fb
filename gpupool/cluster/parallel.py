"""Several requests at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Item = TypeVar("Item")
Found = TypeVar("Found")


@contextmanager
def threads(workers: int) -> Iterator[ThreadPoolExecutor]:
    """Yield so many threads; whoever is stopped by a signal does not wait for answers that nobody reads."""
    pool = ThreadPoolExecutor(workers)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def map_parallel(workers: int, function: Callable[[Item], Found], items: Iterable[Item]) -> list[Found]:
    """Call a function for each item, so many at once, and give the results in the items' order.

    The first exception ends it; what has not begun by then never does.
    """
    with threads(workers) as pool:
        return list(pool.map(function, items))
