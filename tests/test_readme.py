"""The README's tour is what gpupool really prints: each `$ command` is run, each line compared."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.run import SECONDS
from tests.tiers import is_thorough

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def steps(session: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def as_pattern(shown: str) -> str:
    """Return the pattern in which a line of three dots stands for any number of lines, or for none."""
    lines = [".*" if line == "..." else re.escape(line) for line in shown.splitlines()]
    if "".join(lines) == ".*":
        return ".*"
    pattern = re.sub(r"(?m)^\.\*\n", r"(?:.*\n)?", "\n".join(lines))
    return re.sub(r"\n\.\*\Z", r"(?:\n.*)?", pattern)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tour")
    for text in blocks("yaml"):
        (made / text.removeprefix("# ").partition("\n")[0]).write_text(text, "utf-8")
    return made


def run(command: str, folder: Path) -> str:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Copy the checkout, without what is not part of it."""
    ignored = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", "rendered", ".hypothesis")
    return Path(shutil.copytree(ROOT, tmp_path / "gpupool", ignore=ignored))


def test_the_first_command_leaves_gpupool_runnable_and_ends_with_what_the_readme_shows(
    checkout: Path,
) -> None:
    first, shown = blocks("sh")[0], blocks("text")[0]
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("PIP_", "VIRTUAL_ENV"))
    }
    if not is_thorough():
        # The libraries that the tests run with are taken as installed; the thorough tier asks the package index.
        (site,) = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
        environment |= {"PYTHONPATH": site, "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    ended = subprocess.run(
        ["/bin/sh", "-e", "-c", f"{first}\necho; command -v gpupool; gpupool --version"], cwd=checkout, env=environment,
        capture_output=True, text=True, check=False, timeout=10 * SECONDS,
    )  # fmt: skip

    assert ended.returncode == 0, ended.stderr
    printed, _, after = ended.stdout.partition("\n\n")
    assert printed == shown.rstrip("\n")
    assert after.splitlines()[0] == str(checkout / ".venv" / "bin" / "gpupool")
    assert re.fullmatch(r"gpupool \d+\.\d+\.\d+", after.splitlines()[1])


def test_the_tour_prints_what_the_readme_shows(folder: Path) -> None:
    tour = [step for session in blocks("console") for step in steps(session)]
    assert len(tour) >= 7

    for command, shown in tour:
        printed = run(command, folder).rstrip("\n")
        assert re.fullmatch(as_pattern(shown), printed, re.DOTALL), f"$ {command}\n{printed}"


def test_a_changed_word_would_be_noticed() -> None:
    assert re.fullmatch(as_pattern("a\n...\nb"), "a\nx\ny\nb", re.DOTALL)
    assert not re.fullmatch(as_pattern("a\n...\nb"), "a\nx\ny\nc", re.DOTALL)


def test_every_linked_file_is_there() -> None:
    linked = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]

    assert linked
    assert [link for link in linked if not (ROOT / link).exists()] == []
