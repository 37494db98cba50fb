"""The steps of the GitHub action, run as GitHub runs them."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from tests.cli.run import SECONDS
from tests.install.packages import ROOT

ACTION = yaml.safe_load((ROOT / ".github" / "actions" / "gpupool" / "action.yml").read_text("utf-8"))
SCRIPTS = {step["name"]: step["run"] for step in ACTION["runs"]["steps"] if "run" in step}


class Ran(NamedTuple):
    """How a step of the action ended."""

    code: int
    text: str
    outputs: dict[str, str]


class Runner:
    """A GitHub runner, as far as a step sees it."""

    def __init__(self, folder: Path, programs: Sequence[Path], **environment: str) -> None:
        self.folder = folder
        self.temporary = folder / "temp" / "gpupool"
        self._outputs, self._path = folder / "outputs", folder / "path"
        self._path.write_text("")
        self._programs = [*map(str, programs), os.environ["PATH"]]
        self._environment = environment | {
            "HOME": str(folder),
            "RUNNER_TEMP": str(folder / "temp"),
            "GITHUB_ACTIONS": "true",
            "GITHUB_OUTPUT": str(self._outputs),
            "GITHUB_PATH": str(self._path),
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        }

    def step(self, name: str, **inputs: str) -> Ran:
        """Run the script of a step."""
        self._outputs.write_text("")
        added = self._path.read_text().splitlines()
        ended = subprocess.run(
            ["/bin/bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", SCRIPTS[name]],
            cwd=self.folder,
            env={"PATH": os.pathsep.join([*reversed(added), *self._programs]), **self._environment, **inputs},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=5 * SECONDS,
        )
        outputs = dict(line.split("=", 1) for line in self._outputs.read_text().splitlines())
        return Ran(ended.returncode, ended.stdout, outputs)
