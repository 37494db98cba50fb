"""The real device plugin chart, rendered by the real Helm with the values a test hands over."""

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tests.rig import programs
from tests.rig.errors import RigError
from tests.rig.sources import chart_folder

DEVICE_PLUGIN: Final = "nvidia-device-plugin"
RELEASE, NAMESPACE = "rig", "kube-system"


@dataclass(frozen=True, slots=True)
class HelmTemplate:
    """Runs `helm template`; it talks to no cluster and no registry."""

    program: Path

    def __call__(self, chart: str | Path, values_text: str) -> list[dict[str, Any]]:
        """Render a chart (a folder, or the name `nvidia-device-plugin`) and give its objects in Helm's order.

        Raises:
            RigError: Helm refused the values or the chart.
        """
        folder = chart_folder() if chart == DEVICE_PLUGIN else Path(chart)
        command = [
            str(self.program),
            "template",
            RELEASE,
            str(folder),
            "--namespace",
            NAMESPACE,
            "--values",
            "-",
        ]
        with tempfile.TemporaryDirectory(prefix="gpupool-helm-") as home:
            done = subprocess.run(
                command,
                input=values_text,
                env={"PATH": os.defpath, "HOME": home},
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode:
            message = f"helm template failed for {folder.name}:\n{done.stderr}"
            raise RigError(message)
        return [each for each in yaml.load_all(done.stdout, Loader=yaml.CSafeLoader) if each]


def built() -> HelmTemplate:
    """Build Helm unless it is there."""
    return HelmTemplate(programs.build(programs.HELM).path)
