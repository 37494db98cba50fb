"""Whole processes from start to end: wall time, processor time and peak memory."""

import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import gpupool


@dataclass(frozen=True, slots=True)
class Figures:
    """What several runs of one command took."""

    name: str
    walls: tuple[float, ...]
    processor: float
    """Seconds of processor time of the cheapest run: it says more than wall time where others work too."""

    megabytes: float
    """The highest peak."""

    def __str__(self) -> str:
        """Return one line of the table."""
        best, median = min(self.walls), statistics.median(self.walls)
        return f"{self.name:<44}{best:>8.3f}{median:>9.3f}{self.processor:>8.3f}{self.megabytes:>9.1f}"


HEADER = f"{'':<44}{'best s':>8}{'median s':>9}{'CPU s':>8}{'peak MB':>9}"


def measured(name: str, command: Sequence[str], runs: int) -> Figures:
    """Run a command several times, after once to warm the caches."""
    runs_of_it = [once(command) for _ in range(runs + 1)][1:]
    walls, processor, memory = zip(*runs_of_it, strict=True)
    return Figures(name, walls, min(processor), max(memory))


def of_gpupool(*arguments: str | Path) -> list[str]:
    """Return the command line of gpupool in this environment."""
    return [sys.executable, "-m", gpupool.__name__, *map(str, arguments)]


_LAUNCHER = """
import os, sys, time
nowhere = os.open(os.devnull, os.O_WRONLY)
start = time.perf_counter()
child = os.fork()
if not child:
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.execv(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
wall = time.perf_counter() - start
print(os.waitstatus_to_exitcode(status), wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
"""
"""Linux counts what the starting process held as the child's own memory, so a small one does it."""


def once(command: Sequence[str]) -> tuple[float, float, float]:
    """Run a command, which has to succeed; give wall time, processor time and peak megabytes."""
    launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER, *command]
    said = subprocess.run(launcher, stdout=subprocess.PIPE, text=True, check=True).stdout
    code, wall, processor, megabytes = map(float, said.split())
    if code:
        message = f"{' '.join(command)} ended with {code:.0f}"
        raise RuntimeError(message)
    return wall, processor, megabytes
