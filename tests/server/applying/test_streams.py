"""An apply whose messages nobody reads any more: what was begun is done, and written down."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.run import SECONDS
from tests.server.applying.ends import ensure_converged, is_true
from tests.server.applying.scenes import ONE_BY_ONE, SECOND, SECOND_WRITES

if TYPE_CHECKING:
    from tests.server.applying.scenes import Clean, Scene

SHUT: Final = {
    "a full disk for messages": "2> /dev/full",
    "no standard error": "2>&-",
    "no place for either": "> /dev/null 2> /dev/full",
}


def shell(scene: Scene, redirect: str, unbuffered: str = "") -> int:
    """Apply in a shell, its streams led elsewhere; give the exit code."""
    words = scene.words("apply", SECOND, *ONE_BY_ONE)
    line = f'PYTHONUNBUFFERED="{unbuffered}" exec "{sys.executable}" -m gpupool "$@" {redirect}'
    ended = subprocess.run(
        ["sh", "-c", line, "sh", *words],  # noqa: S607 - the shell of the system
        cwd=scene.folder, capture_output=True, check=False, timeout=SECONDS,
    )  # fmt: skip
    return ended.returncode


@pytest.mark.parametrize("redirect", SHUT.values(), ids=SHUT)
def test_messages_that_find_no_place_end_nothing(first: Scene, clean: Clean, redirect: str) -> None:
    specs = clean(SECOND)

    assert shell(first, redirect) == 0

    assert first.written() == list(SECOND_WRITES)
    ensure_converged(first, SECOND, specs)


def test_a_reader_that_goes_away_midway_ends_nothing(first: Scene, clean: Clean) -> None:
    specs = clean(SECOND)
    child = first.start("apply", SECOND, *ONE_BY_ONE)

    def leave(nth: int, *_: object) -> None:
        if nth == 3:
            for each in filter(None, (child.stdout, child.stderr)):
                each.close()

    first.faulty.committed = leave

    assert child.wait(SECONDS) == 0
    assert first.written() == list(SECOND_WRITES)
    ensure_converged(first, SECOND, specs)


@pytest.mark.parametrize("redirect", [">&-", "> /dev/full"], ids=["closed", "full"])
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_a_plan_that_can_not_be_shown_is_not_carried_out(
    first: Scene, redirect: str, unbuffered: str
) -> None:
    before = first.versions()

    assert shell(first, redirect, unbuffered) == 1

    assert first.written() == []
    assert first.versions() == before
    assert is_true(first)
