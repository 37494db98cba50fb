"""What kubeconform says about rendered files, judged by schemas made from Karpenter's CRDs."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.rig import programs
from tests.rig.crds import LOCATION, schema_folder
from tests.rig.errors import RigError


@dataclass(frozen=True, slots=True)
class Conformance:
    """kubeconform's word on one object."""

    file: Path
    kind: str
    name: str
    valid: bool
    message: str


@dataclass(frozen=True, slots=True)
class Kubeconform:
    """Runs kubeconform strictly: unknown fields, doubled keys and kinds without a schema are all refused."""

    program: Path
    schemas: Path

    def __call__(self, files: Sequence[Path]) -> list[Conformance]:
        """Return a verdict for each object in the files, in the order of file, kind and name."""
        location = f"{self.schemas}/{LOCATION}"
        options = ["-strict", "-verbose", "-output", "json", "-schema-location", location]
        command = [str(self.program), *options, *map(str, files)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not done.stdout:
            message = f"kubeconform gave no verdict:\n{done.stderr}"
            raise RigError(message)
        found = [_conformance(each) for each in json.loads(done.stdout)["resources"]]
        return sorted(found, key=lambda each: (str(each.file), each.kind, each.name))


def built() -> Kubeconform:
    """Build kubeconform and write the schemas, unless both are there."""
    return Kubeconform(programs.build(programs.KUBECONFORM).path, schema_folder())


def _conformance(found: dict[str, str]) -> Conformance:
    valid = found["status"] == "statusValid"
    return Conformance(Path(found["filename"]), found["kind"], found["name"], valid, found.get("msg", ""))
