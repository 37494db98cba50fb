"""Packages to install from, environments to install to, and copies of the checkout's sources."""

import json
import os
import platform
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Mapping
from pathlib import Path

from tests.cli.run import SECONDS
from tests.rig import cache

ROOT = Path(__file__).parents[2]
SOURCES = ("gpupool", "templates", "profiles", ".ci/single_file", ".github", "docs")
FILES = ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")


def wheelhouse() -> Path:
    """Return a folder with the wheels of all that gpupool needs at run time and to be built.

    It is kept outside the checkout for each list of dependencies, so that only the first run asks the registry.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    needed = sorted([*project["project"]["dependencies"], *project["build-system"]["requires"]])
    key = cache.digest(json.dumps(needed), sys.version, platform.platform())
    folder = cache.root() / "wheelhouse" / key

    def download(draft: Path) -> None:
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--wheel-dir", draft, *needed, folder=ROOT)

    cache.made_once(folder, download)
    return folder


def clean_environment() -> dict[str, str]:
    """Return this process's environment without what would put the checkout on a Python's path."""
    return {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PIP", "COV"))}


def offline() -> dict[str, str]:
    """Return the environment in which every pip installs from the wheelhouse and from nowhere else."""
    pip = {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheelhouse()),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        # The kubernetes package has thousands of modules, of which these tests import a few.
        "PIP_COMPILE": "0",
    }
    return clean_environment() | pip


def run(
    *command: str | Path, folder: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program that has to succeed."""
    ended = subprocess.run(
        list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True, check=False,
        timeout=5 * SECONDS,
    )  # fmt: skip
    assert ended.returncode == 0, f"{' '.join(map(str, command))}\n{ended.stdout}{ended.stderr}"
    return ended


def environment_with(wheel: Path, folder: Path) -> Path:
    """Install a wheel and its dependencies into an empty environment; return its folder of programs."""
    venv.create(folder, with_pip=False, symlinks=True)
    programs = folder / "bin"
    pip = (sys.executable, "-m", "pip", "--python", programs / "python", "install", "--quiet")
    run(*pip, wheel, folder=folder, environment=offline())
    return programs


def copy_sources(folder: Path) -> Path:
    """Copy what gpupool is built and run from, as a clone has it; return the copy's folder."""
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, folder / name)
    return folder
