"""What is built from the checkout's sources, once for each run of the tests."""

import sys
from pathlib import Path

import pytest

from tests.install.built_file import Built, build
from tests.install.packages import ROOT, environment_with, run


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with wheel and sdist, built as a release is."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", folder, folder=ROOT)
    return folder


@pytest.fixture(scope="session")
def wheel(dist: Path) -> Path:
    (path,) = dist.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def sdist(dist: Path) -> Path:
    (path,) = dist.glob("*.tar.gz")
    return path


@pytest.fixture(scope="session")
def from_wheel(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an empty environment into which the wheel was installed."""
    return environment_with(wheel, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def single_file(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The single file, built in a copy of the checkout."""
    return build(tmp_path_factory.mktemp("clone"))


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache folder in which the single file is unpacked once."""
    return tmp_path_factory.mktemp("unpacked")
