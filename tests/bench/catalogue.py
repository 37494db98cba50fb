"""What it takes to load the shipped catalogue, in a process that has started as every command does."""

import statistics
import subprocess
import sys

_CODE = """
import time
import gpupool.cli.app
from gpupool.catalogue import model
start = time.perf_counter()
import json, zlib
from gpupool.catalogue.load import load_shipped
load_shipped()
print(time.perf_counter() - start)
"""


def loading(runs: int) -> str:
    """Return one line: reading, and importing all that it takes but the model's classes."""
    command = [sys.executable, "-c", _CODE]
    took = [float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(runs)]
    return f"{'loading the catalogue, json and zlib included':<44}{min(took):>8.4f}{statistics.median(took):>9.4f}"
