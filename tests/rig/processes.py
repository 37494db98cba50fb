"""Child processes that are ended by their own id, and free ports for them."""

import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.rig.errors import RigError

LAST_LINES = 20
SECONDS_TO_END = 10
SECONDS_TO_GO = 30


@contextmanager
def running(command: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program in a session of its own while the block runs, its output in `log`."""
    with log.open("wb") as out:
        # A session of its own: Ctrl-C in the terminal reaches us only, and we end what we started.
        process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
    try:
        yield process
    finally:
        # Its state is thrown away with its folder, so there is nothing to shut down in good order.
        process.kill()
        process.wait(SECONDS_TO_END)


def ensure_alive(process: subprocess.Popen[bytes], log: Path) -> None:
    """Raise what the program said last if it has ended."""
    if process.poll() is not None:
        said = "\n".join(log.read_text(errors="replace").splitlines()[-LAST_LINES:])
        message = f"{log.stem} ended with {process.returncode}:\n{said}"
        raise RigError(message)


def free_ports(count: int) -> list[int]:
    """Return ports of 127.0.0.1 on which nothing listens at this moment."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def let_end(process: subprocess.Popen[Any]) -> None:
    """End a program that ends when its standard input does.

    Raises:
        subprocess.TimeoutExpired: It did not, and was killed.
    """
    if process.stdin:
        process.stdin.close()
    try:
        process.wait(SECONDS_TO_GO)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
