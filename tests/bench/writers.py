"""The YAML writer beside others, on the objects of a rendered fleet."""

import io
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import yaml
from ruamel.yaml import YAML

from gpupool.api import render_files
from gpupool.yamlio.located import Plain
from gpupool.yamlio.write import dump_all


def compare(file: Path, runs: int) -> Iterable[str]:
    """Yield one line for each writer."""
    objects = [manifest.data for manifest in render_files([str(file)]).manifests]
    writers: dict[str, Callable[[list[Plain]], object]] = {
        "gpupool.yamlio": dump_all,
        "PyYAML with libyaml": lambda data: yaml.dump_all(data, Dumper=yaml.CSafeDumper, sort_keys=False),
        "ruamel.yaml": _ruamel,
    }
    for name, write in writers.items():
        yield f"{name:<44}{min(_seconds(write, objects) for _ in range(1 if write is _ruamel else runs)):>8.3f}"


def _ruamel(data: list[Plain]) -> None:
    YAML(typ="safe", pure=True).dump_all(data, io.StringIO())


def _seconds(write: Callable[[list[Plain]], object], data: list[Plain]) -> float:
    start = time.perf_counter()
    write(data)
    return time.perf_counter() - start
