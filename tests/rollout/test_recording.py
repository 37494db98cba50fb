"""Which apply of the inventory's history is one to go back to."""

from typing import Any

import pytest

from gpupool.rollout.applying.recording import last_good_commit

A, B, C = "a" * 40, "b" * 40, "c" * 40


def record(commit: object, **result: object) -> dict[str, Any]:
    return {"by": "me", "commit": commit, "plan": "p", "result": result}


@pytest.mark.parametrize(
    ("history", "found"),
    [
        ([], ""),
        ([record(A, create=2)], A),
        ([record(A, create=2), record(B, update=1, keep=1)], B),
        ([record(A, create=2), record(B, update=1) | {"result": {"not ready": 1}}], A),
        ([record(A, create=2), record(B) | {"result": {"not tried": 1}}, record(B) | {"result": {"failed": 1}}], A),
        ([record(A, create=2), record(f"{B}-dirty", keep=2)], A),
        ([record(A, create=2), record("", keep=2)], A),
        ([record(A, create=2), record(C, keep=2)], ""),
        ([record("$(touch run)", create=2)], ""),
        ([record(7, create=2), "nonsense", None], ""),
    ],
)  # fmt: skip
def test_the_last_that_left_nothing_undone(history: list[Any], found: str) -> None:
    assert last_good_commit(history, C) == found


def test_what_was_changed_since_can_be_put_back() -> None:
    assert last_good_commit([record(A, create=2)], f"{A}-dirty") == A
