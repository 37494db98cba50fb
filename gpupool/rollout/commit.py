"""Which commit a blueprint is of, as git says."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def commit(files: Mapping[str, str]) -> str:
    """Give the commit that the first file is of, `-dirty` behind it where a file was changed; or nothing."""
    first = next(iter(files), None)
    if first is None:
        return ""
    folder = str(Path(first).absolute().parent)
    head = _git(folder, "rev-parse", "HEAD")
    if not head:
        return ""
    dirty = _git(folder, "status", "--porcelain", "--", *(str(Path(each).absolute()) for each in files))
    return f"{head}-dirty" if dirty else head


def _git(folder: str, *words: str) -> str:
    command = ["git", "-C", folder, *words]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ""
    return found.stdout.strip() if found.returncode == 0 else ""
