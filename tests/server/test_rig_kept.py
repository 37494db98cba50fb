"""What the rig starts ends with the test run, however that ends."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.rig.errors import RigError
from tests.rig.kept import CHECKOUT, kept
from tests.rig.processes import ensure_alive

KILLED_IN_THE_MIDDLE = """
import os, signal, sys
from pathlib import Path
from tests.rig.kept import kept
log = Path(sys.argv[1])
with kept(["sh", "-c", "echo $$; exec sleep 1000"], log):
    while not log.read_text().strip():
        pass
    os.kill(os.getpid(), signal.SIGKILL)
"""
SAYS_ITS_ID = ["sh", "-c", "echo $$; exec sleep 1000"]


def is_gone(process_id: int) -> bool:
    deadline = time.monotonic() + 30
    while Path(f"/proc/{process_id}").exists():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def said(log: Path) -> int:
    deadline = time.monotonic() + 30
    while not log.read_text().strip():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return int(log.read_text())


def test_it_ends_with_the_block(tmp_path: Path) -> None:
    with kept(SAYS_ITS_ID, tmp_path / "log") as process:
        process_id = said(tmp_path / "log")
        os.kill(process_id, 0)

    assert is_gone(process_id)
    assert process.returncode is not None


def test_it_ends_where_its_keeper_is_killed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-c", KILLED_IN_THE_MIDDLE, str(log)]

    assert subprocess.run(command, cwd=CHECKOUT, check=False).returncode < 0

    assert is_gone(said(log))


def test_what_ends_by_itself_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    log = tmp_path / "program.log"
    with kept(["sh", "-c", "echo no such bucket >&2; exit 3"], log) as process:
        process.wait(30)

        with pytest.raises(RigError, match="program ended with 3:\nno such bucket"):
            ensure_alive(process, log)
