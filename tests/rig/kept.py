"""`python -m tests.rig.kept PROGRAM ...`: a program that lives until it ends, or until our standard input does.

The end of standard input is the one sign that also comes when the program that started this one is killed.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.rig.processes import let_end

CHECKOUT = Path(__file__).parents[2]


def main(command: Sequence[str]) -> int:
    """Run a program and give its exit code."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True) as process:
        # A daemon, as nothing ends a read where the program ends first.
        threading.Thread(target=_end_with_input, args=(process,), daemon=True).start()
        return process.wait()


def _end_with_input(process: subprocess.Popen[bytes]) -> None:
    # Not through `sys.stdin`: a lock that a daemon holds breaks the end of the interpreter.
    while os.read(0, 1):
        pass
    process.kill()


@contextmanager
def kept(command: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program while the block runs, its output in `log`; it ends also where we are killed."""
    keeper = [sys.executable, "-m", "tests.rig.kept", *command]
    with (
        log.open("wb") as out,
        subprocess.Popen(
            keeper, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=out, stderr=out, start_new_session=True
        ) as process,
    ):
        try:
            yield process
        finally:
            let_end(process)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
