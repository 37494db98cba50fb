"""The single file, built by the command that the guide shows."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.install.packages import copy_sources, offline

COMMAND = "python .ci/single_file dist/gpupool.pyz"


class Built(NamedTuple):
    """The file, and what the command printed."""

    path: Path
    printed: str


def build(clone: Path) -> Built:
    """Run the command in a copy of the checkout."""
    copy_sources(clone)
    programs = Path(sys.executable).parent
    ended = subprocess.run(
        ["/bin/sh", "-c", COMMAND],
        cwd=clone,
        env={**offline(), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return Built(clone / "dist" / "gpupool.pyz", ended.stdout)
