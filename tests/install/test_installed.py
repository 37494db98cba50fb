"""The wheel and the single file do, outside the checkout, what the checkout does."""

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.cli.blueprints import SMALL
from tests.cli.run import SECONDS, Outcome, process
from tests.install.packages import ROOT, clean_environment, offline, run

if TYPE_CHECKING:
    from tests.install.built_file import Built

MODULES = sorted((ROOT / "gpupool").rglob("*.py"))
COMMANDS: Sequence[Sequence[str]] = (
    ["--version"], ["profiles", "training"], ["schema"], ["init", "starter.yaml"], ["validate"],
    ["validate", "typo.yaml"], ["render", "-d", "rendered"], ["render", "-d", "rendered", "--check"],
    ["explain"], ["explain", "train"],
)  # fmt: skip
"""Commands that between them read each folder and file that the package ships."""


class Installed(NamedTuple):
    """One way in which gpupool was installed."""

    command: Sequence[str | Path]
    packages: Path
    """Where its packages are."""
    environment: dict[str, str]

    def __call__(self, *arguments: str | Path, folder: Path) -> Outcome:
        ended = subprocess.run(
            [*self.command, *arguments], cwd=folder, env=clean_environment() | self.environment,
            capture_output=True, text=True, check=False, timeout=SECONDS,
        )  # fmt: skip
        return Outcome(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture(scope="module", params=["wheel", "single file"])
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    if request.param == "single file":
        built: Built = request.getfixturevalue("single_file")
        moved = folder / "gpupool.pyz"
        os.link(built.path, moved)
        # The file's first line looks for a `python3`.
        (folder / "python3").symlink_to(sys.executable)
        path = f"{folder}{os.pathsep}{os.environ['PATH']}"
        cache: Path = request.getfixturevalue("unpacked")
        return Installed([moved], cache, {"XDG_CACHE_HOME": str(cache), "PATH": path})
    programs: Path = request.getfixturevalue("from_wheel")
    return Installed([programs / "gpupool"], programs.parent, {"XDG_CACHE_HOME": str(folder / "cache")})


class Run(NamedTuple):
    """How the commands ended, and the files that they left."""

    outcomes: list[Outcome]
    files: dict[str, bytes]


def write_files(folder: Path) -> None:
    (folder / "gpupool.yaml").write_text(SMALL, "utf-8")
    (folder / "typo.yaml").write_text(SMALL.replace("h100", "h1000"), "utf-8")


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """What the checkout's own gpupool answers."""
    folder = tmp_path_factory.mktemp("checkout")
    write_files(folder)
    environment = {"XDG_CACHE_HOME": str(folder / ".cache")}
    outcomes = [process(*command, folder=folder, environment=environment) for command in COMMANDS]
    return Run(outcomes, files_in(folder))


def test_each_command_answers_as_in_the_checkout(installed: Installed, checkout: Run, tmp_path: Path) -> None:
    write_files(tmp_path)

    outcomes = [installed(*command, folder=tmp_path) for command in COMMANDS]

    assert outcomes == checkout.outcomes
    assert files_in(tmp_path) == checkout.files
    # The validators of a blueprint are cached beside the bytecode of the modules that ran: the installed ones.
    cached = list(installed.packages.rglob("gpupool/blueprint/__pycache__/model.*.Blueprint"))
    assert len(cached) == 1


def test_the_checkout_s_answers_are_those_of_a_good_and_a_bad_blueprint(checkout: Run) -> None:
    answers = {
        " ".join(command): outcome for command, outcome in zip(COMMANDS, checkout.outcomes, strict=True)
    }

    assert [command for command, outcome in answers.items() if outcome.code] == ["validate typo.yaml"]
    assert "typo.yaml:7:43: error GP0094 " in answers["validate typo.yaml"].out
    assert re.search(r"^train .* p5\.48xlarge ", answers["explain"].out, re.MULTILINE)
    assert b"kind: NodePool\n" in checkout.files["rendered/nodepools/train.yaml"]


def test_python_m_runs_the_installed_package(from_wheel: Path, tmp_path: Path) -> None:
    program = (from_wheel / "python", "-m", "gpupool", "--version")

    assert run(*program, folder=tmp_path, environment=clean_environment()).stdout.startswith("gpupool ")


def test_the_wheel_holds_the_package_and_its_two_folders_only(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())

    assert {re.sub(r"-[0-9.]+(?=\.dist-info)", "", name.split("/")[0]) for name in names} == {
        "gpupool",
        "gpupool.dist-info",
    }
    assert {name for name in names if name.startswith("gpupool/_data/")} == {
        f"gpupool/_data/{folder}/{path.name}"
        for folder in ("profiles", "templates")
        for path in (ROOT / folder).iterdir()
    }
    assert {path.relative_to(ROOT).as_posix() for path in MODULES} <= names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert {"gpupool/py.typed", "gpupool/catalogue/instance-types.json.gz"} <= names


def test_pip_makes_the_same_wheel_of_the_sdist(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path)

    run(*pip, sdist, folder=tmp_path, environment=offline())

    # What is shown of the installed wheel is true of the sdist too.
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()
