"""Wheels of moto, whose package data are EC2's own answers as they were on the day of each release."""

import gzip
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple


class Wheel(NamedTuple):
    """One release of moto."""

    version: str
    sha256: str
    date: str
    """The day that its answers of EC2 are of: that of the first release that has them."""


CURRENT = Wheel("5.2.5", "eef62cdcf3bfe73e0863743511ba042dfaba04ba3d5ecdcb896a196c693ad528", "2026-10-11")
OLDER = (
    Wheel("5.2.3", "5ec31b3cdbb383a19d46030157bd82aaaa7a9cc5f564200f995663d347bd4728", "2026-08-22"),
    Wheel("5.2.0", "d728d5c9c431e0f1043d907bebd663b09a9105c62380991068598a3799373a85", "2026-05-02"),
    Wheel("5.1.22", "d9f20ae3cf29c44f93c1f8f06c8f48d5560e5dc027816ef1d0d2059741ffcfbe", "2026-03-08"),
    Wheel("5.0.28", "2dfbea1afe3b593e13192059a1a7fc4b3cf7fdf92e432070c22346efa45aa0f0", "2025-02-02"),
)
"""Releases that still have types which EC2 has retired since, newest first."""

_RESOURCES = "moto/ec2/resources"


def instance_types(wheel: Wheel) -> dict[str, dict[str, Any]]:
    """Return the items of DescribeInstanceTypes by type."""
    found: dict[str, dict[str, Any]] = _read(wheel, "instance_types.json.gz")
    return found


def offerings(wheel: Wheel, location: str, region: str) -> list[dict[str, str]]:
    """Return the items of DescribeInstanceTypeOfferings, by `availability-zone` or `availability-zone-id`."""
    found: list[dict[str, str]] = _read(wheel, f"instance_type_offerings/{location}/{region}.json.gz")
    return found


def regions(wheel: Wheel) -> list[str]:
    """Return the regions whose offerings are known."""
    folder = f"{_RESOURCES}/instance_type_offerings/availability-zone/"
    with zipfile.ZipFile(_path(wheel)) as file:
        names = [name.removeprefix(folder) for name in file.namelist() if name.startswith(folder)]
    return sorted(name.removesuffix(".json.gz") for name in names if name.endswith(".json.gz"))


@cache
def _read(wheel: Wheel, resource: str) -> Any:  # noqa: ANN401 - what JSON gives
    with zipfile.ZipFile(_path(wheel)) as file:
        return json.loads(gzip.decompress(file.read(f"{_RESOURCES}/{resource}")))


@cache
def _path(wheel: Wheel) -> Path:
    """Return the wheel's file, fetched unless it is there; its sum is compared each time."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpupool" / "wheels"
    path = folder / f"moto-{wheel.version}-py3-none-any.whl"
    if not path.exists():
        _fetch(wheel.version, path)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != wheel.sha256:
        message = f"{path} has the sum {found}, not {wheel.sha256}: remove it and try again"
        raise ValueError(message)
    return path


def _fetch(version: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as work:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "--dest", work, f"moto=={version}"], check=True)  # noqa: S603 - our own words
        (Path(work) / path.name).replace(path)
