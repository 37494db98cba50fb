"""Where the shipped folders are: in the wheel, or beside the package in a checkout."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal


def shipped(folder: Literal["templates", "profiles"]) -> Traversable:
    """Give the shipped `folder`: `gpupool/_data/` in a wheel, the repository's root otherwise.

    An editable install copies `_data` once and never again, so the checkout's own folder has to win there.
    """
    packaged = files("gpupool").joinpath("_data", folder)
    return packaged if packaged.is_dir() else Path(__file__).parents[1] / folder
