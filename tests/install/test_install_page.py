"""The guide to installing shows what is printed, and names what there is."""

import os
import re
import sys
import tomllib
from pathlib import Path

import pytest

from tests.install.built_file import COMMAND, Built
from tests.install.packages import ROOT
from tests.test_readme import as_pattern, run, steps

PAGE = (ROOT / "docs" / "how-to" / "install.md").read_text("utf-8")
DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_it_shows_what_is_printed(
    from_wheel: Path, single_file: Built, unpacked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The single file finds a `python3` that knows no gpupool, all else is of the environment with the wheel.
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(Path(sys.executable).resolve())
    path = os.pathsep.join([str(tmp_path / "bin"), str(from_wheel)])
    (tmp_path / "dist").symlink_to(single_file.path.parent)
    monkeypatch.setenv("XDG_CACHE_HOME", str(unpacked))
    tour = [step for session in blocks("console") for step in steps(session)]
    assert len(tour) >= 5

    for command, shown in tour:
        if command == COMMAND:
            printed = single_file.printed
        else:
            printed = run(f"PATH={path}{os.pathsep}$PATH; {command}", tmp_path)
        pattern = as_pattern(DIGEST.sub("digest", shown))
        assert re.fullmatch(pattern, DIGEST.sub("digest", printed).rstrip("\n"), re.DOTALL), (
            f"$ {command}\n{printed}"
        )


def test_each_release_it_names_is_this_one() -> None:
    named = re.findall(r"gpupool@(\S+?)'?$", PAGE, re.MULTILINE)

    assert len(named) >= 4
    assert set(named) == {f"v{VERSION}"}
