"""Exec plugins, as real programs: they end in time with all that they started, and what they say is bounded."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any, Final

import pytest

from gpupool.cluster.deadline import Deadline
from gpupool.cluster.kube import connect
from gpupool.cluster.kubeconfig import ClusterAccess
from gpupool.errors import ClusterError

if TYPE_CHECKING:
    from pathlib import Path

    from gpupool.cluster.kube import KubeConnection

API: Final = "client.authentication.k8s.io/v1"
TOKEN: Final = {"apiVersion": API, "kind": "ExecCredential", "status": {"token": "t0ken"}}
LONG: Final = 60


def way(folder: Path, program: str, **more: Any) -> ClusterAccess:  # noqa: ANN401 - whatever a kubeconfig holds
    """Write a kubeconfig whose plugin is a Python program."""
    (folder / "plugin.py").write_text(program, "utf-8")
    plugin = {"apiVersion": API, "command": sys.executable, "args": [str(folder / "plugin.py")], **more}
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"exec": plugin}}],
    }  # fmt: skip
    file = folder / "kubeconfig"
    file.write_text(json.dumps(config), "utf-8")
    return ClusterAccess(str(file))


def token(connection: KubeConnection) -> str:
    return connection._credentials()["Authorization"]  # noqa: SLF001 - what it sends


def is_alive(pid: int) -> bool:
    """Return whether a process runs still; one that ended and that nobody asked for is a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:  # noqa: PTH123 - no file of the tests
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ensure_ended(pid: int) -> None:
    """Wait until a process that was killed is gone."""
    until = time.monotonic() + LONG
    while is_alive(pid) and time.monotonic() < until:
        time.sleep(0.01)
    assert not is_alive(pid)


def test_its_token_is_used(tmp_path: Path) -> None:
    found = connect(way(tmp_path, f"print({json.dumps(json.dumps(TOKEN))})"), Deadline(LONG))

    assert token(found) == "Bearer t0ken"


def test_it_is_told_what_the_library_tells(tmp_path: Path) -> None:
    program = "import os, sys; open(sys.argv[0] + '.asked', 'w').write(os.environ['KUBERNETES_EXEC_INFO'] + os.environ['A']); exit(1)"
    with pytest.raises(ClusterError):
        connect(
            way(tmp_path, program, env=[{"name": "A", "value": "b"}], provideClusterInfo=True), Deadline(LONG)
        )

    asked = (tmp_path / "plugin.py.asked").read_text("utf-8")
    said = json.loads(asked.removesuffix("b"))
    assert (said["apiVersion"], said["kind"], said["spec"]["interactive"]) == (API, "ExecCredential", False)
    assert said["spec"]["cluster"]["server"] == "https://127.0.0.1:1"


def test_one_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    program = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "open(sys.argv[0] + '.pid', 'w').write(str(child.pid))\n"
        "time.sleep(600)\n"
    )
    with pytest.raises(ClusterError, match=r"gave no credentials in time; --timeout is 2 s"):
        connect(way(tmp_path, program), Deadline(2))

    ensure_ended(int((tmp_path / "plugin.py.pid").read_text("ascii")))


def test_a_child_that_stays_behind_is_ended(tmp_path: Path) -> None:
    program = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "open(sys.argv[0] + '.pid', 'w').write(str(child.pid))\n"
        f"print({json.dumps(json.dumps(TOKEN))}, flush=True)\n"
    )
    found = connect(way(tmp_path, program), Deadline(LONG))

    assert token(found) == "Bearer t0ken"
    ensure_ended(int((tmp_path / "plugin.py.pid").read_text("ascii")))


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_one_that_says_without_end_is_ended(tmp_path: Path, stream: str) -> None:
    program = f"import sys\nwhile True: sys.{stream}.write('x' * 100_000)\n"

    with pytest.raises(ClusterError, match="says more than 1 MiB"):
        connect(way(tmp_path, program), Deadline(LONG))


def test_a_signal_ends_it(tmp_path: Path) -> None:
    deadline = Deadline(LONG)
    deadline.stop(15)

    with pytest.raises(ClusterError, match="was ended by a signal"):
        connect(way(tmp_path, "import time; time.sleep(600)"), deadline)

    assert not deadline.is_over


BROKEN: Final = {
    "it fails": ("import sys; sys.exit('log in\\n  again')", "ended with exit code 1: log in again"),
    "no JSON": ("print('hello')", "did not print JSON"),
    "deep JSON": ("print('[' * 100_000)", "did not print JSON"),
    "nothing": ("", "did not print JSON"),
    "another kind": ("print('{}')", f"gave no ExecCredential of {API}"),
    "a list": ("print('[]')", f"gave no ExecCredential of {API}"),
}


@pytest.mark.parametrize(("program", "words"), BROKEN.values(), ids=BROKEN)
def test_what_is_wrong_is_said(tmp_path: Path, program: str, words: str) -> None:
    with pytest.raises(ClusterError) as caught:
        connect(way(tmp_path, program), Deadline(LONG))

    assert str(caught.value) == f"no credentials for the cluster: the plugin {sys.executable} {words}"
