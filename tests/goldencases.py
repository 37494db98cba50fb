"""The golden cases: folders under tests/golden that hold a blueprint and what it has to render to."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parent / "golden"
FOLDER, FINDINGS = "expected", "expected.txt"
_NAME = re.compile(r"(?P<rows>R[0-9]{2,3}(-R[0-9]{2,3})*)-[a-z0-9-]+")
_PROFILE = re.compile(r"profile-(?P<profile>[a-z0-9-]+)")
_LAYER = re.compile(r"blueprint\.yaml|[0-9]+-[a-z0-9-]+\.yaml")


@dataclass(frozen=True)
class Case:
    """One folder: `blueprint.yaml`, or layers `1-base.yaml`, `2-prod.yaml` in name order, and other files."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def rows(self) -> tuple[int, ...]:
        """Give the acceptance rows in the folder's name; none where the name is not made as it should be."""
        found = _NAME.fullmatch(self.name)
        return tuple(int(row[1:]) for row in found["rows"].split("-")) if found else ()

    @property
    def profile(self) -> str:
        """Give the shipped profile that the folder's name says it shows; empty for a case of rows."""
        found = _PROFILE.fullmatch(self.name)
        return found["profile"] if found else ""

    @property
    def label(self) -> str:
        """Give how the first line of the first file has to begin; empty for a name that is not made as it should be."""
        return f"profile {self.profile}" if self.profile else ", ".join(f"R{row}" for row in self.rows)

    @cached_property
    def blueprints(self) -> tuple[str, ...]:
        """Give the file names of the blueprint's layers, in the order in which they are laid."""
        return tuple(sorted(path.name for path in self.folder.iterdir() if _LAYER.fullmatch(path.name)))

    @property
    def expected_files(self) -> dict[str, str] | None:
        """Give the rendered files' texts by path; None where rendering has to fail."""
        folder = self.folder / FOLDER
        return files_in(folder) if folder.is_dir() else None

    @property
    def expected_findings(self) -> str:
        """Give what has to be said on standard error."""
        path = self.folder / FINDINGS
        return path.read_bytes().decode() if path.is_file() else ""


def cases() -> list[Case]:
    """Give every case, by name."""
    return [Case(folder) for folder in sorted(ROOT.iterdir()) if folder.is_dir()]


def files_in(folder: Path) -> dict[str, str]:
    """Give every file under a folder by its path in it, line ends as they are."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in paths}
