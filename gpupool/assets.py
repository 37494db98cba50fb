"""Folders that are shipped with gpupool: in the wheel, or beside the package in a checkout."""

from pathlib import Path
from typing import Literal

PACKAGE = Path(__file__).parent


def find_shipped_folder(folder: Literal["templates", "profiles"]) -> Path:
    """Return the path of a shipped folder: in `_data` in a wheel, in the repository's root otherwise.

    An editable install would copy `_data` once and not update it, so the checkout's own folder is used there.
    """
    packaged = PACKAGE / "_data" / folder
    return packaged if packaged.is_dir() else PACKAGE.parent / folder
