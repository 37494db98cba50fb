"""A scene for each test: a new folder, and a cluster that gpupool never saw."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.cli.run import gpupool
from tests.rig.server import ApiServer
from tests.server.commands.scene import CHAT, Scene


@pytest.fixture
def scene(
    api_server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Scene]:
    """A blueprint of one pool, which nobody has applied yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(api_server.kubeconfig))
    found = Scene(api_server, partial(gpupool, capsys))
    found.clear()
    found.says(CHAT)
    yield found
    found.clear()
