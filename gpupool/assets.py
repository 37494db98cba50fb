"""Where the shipped folders are: in the wheel, or beside the package in a checkout."""

from pathlib import Path
from typing import Literal

PACKAGE = Path(__file__).parent


def find_shipped_folder(folder: Literal["templates", "profiles"]) -> Path:
    """Return the shipped `folder`: `gpupool/_data/` in a wheel, the repository's root otherwise.

    An editable install copies `_data` once and never again, so the checkout's own folder has to win there.
    """
    packaged = PACKAGE / "_data" / folder
    return packaged if packaged.is_dir() else PACKAGE.parent / folder
