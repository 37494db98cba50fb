"""Fixtures of the scenes."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from tests.pauses import skip_pauses
from tests.server.applying.scenes import FIRST, Scene

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.rig.fault_proxy import FaultProxy
    from tests.rig.server import ApiServer
    from tests.server.applying.scenes import Clean, Pools

_NUMBERS = count(1)
_CLEAN: dict[str, dict[str, Any]] = {}


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the pauses between tries take no time, however many they are."""
    skip_pauses(monkeypatch)


@pytest.fixture
def another(
    api_server: ApiServer, faulty: FaultProxy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[[], Scene]]:
    """Yield a way to make scenes, each with a name of its own, so that inventories and locks may stay."""
    made: list[Scene] = []

    def make() -> Scene:
        made.append(Scene(api_server, faulty, tmp_path, f"scene{next(_NUMBERS)}", capsys))
        return made[-1]

    yield make

    for each in made:
        each.end()


@pytest.fixture
def scene(another: Callable[[], Scene]) -> Scene:
    """Return a scene with nothing in it."""
    return another()


@pytest.fixture
def first(scene: Scene, faulty: FaultProxy) -> Scene:
    """Return a scene in which the first blueprint was applied."""
    said = scene.run("apply", FIRST)
    assert said.code == 0, said.err
    faulty.forget()
    return scene


@pytest.fixture
def clean(another: Callable[[], Scene]) -> Clean:
    """Return what pools come to where nothing goes wrong."""

    def specs(pools: Pools) -> dict[str, Any]:
        if (words := str(pools)) not in _CLEAN:
            other = another()
            assert other.run("apply", pools).code == 0
            _CLEAN[words] = other.specs()
            other.faulty.forget()
        return _CLEAN[words]

    return specs
