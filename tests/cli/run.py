"""Run gpupool as a user does, and give what it said."""

import ctypes
import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpupool.cli.app import main

_DROP_FROM_BOUNDING_SET = 24
_POWERS_OVER_FILES = (1, 2)
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: root reads and writes any file with them."""

SECONDS = 60
"""More than any command takes, even on a machine that does other things."""


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def codes(self) -> list[str]:
        """The codes of the findings, in the order in which they were said."""
        return [
            line.partition(f" {severity} ")[2].split(" ", 1)[0]
            for line in self.err.splitlines()
            for severity in ("error", "warning", "info")
            if f": {severity} GP" in line
        ]


def gpupool(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Outcome:
    """Run a command in this process."""
    capsys.readouterr()
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return Outcome(code, said.out, said.err)


def process(
    *arguments: str | Path,
    folder: Path,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    megabytes: int = 2048,
    powerless: bool = False,
) -> Outcome:
    """Run a command in a process of its own, with bounds on its time and memory.

    With `powerless`, permissions of files hold even for a root user.
    """
    libc = ctypes.CDLL(None)

    def bounded() -> None:
        for power in _POWERS_OVER_FILES if powerless and os.geteuid() == 0 else ():
            libc.prctl(_DROP_FROM_BOUNDING_SET, power)
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    ended = subprocess.run(
        [sys.executable, "-m", "gpupool", *map(str, arguments)],
        cwd=folder,
        input=stdin,
        capture_output=True,
        check=False,
        timeout=SECONDS,
        env={**os.environ, **(environment or {})},
        preexec_fn=bounded,
    )
    return Outcome(ended.returncode, ended.stdout.decode(), ended.stderr.decode())
