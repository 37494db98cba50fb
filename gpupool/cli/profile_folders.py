"""The option that allows profiles in more folders, given to every command that reads a blueprint."""

import inspect
import os
from functools import wraps
from typing import Annotated, Any

import typer

from gpupool.cli.bundle import Command
from gpupool.errors import UsageError

_NAME = "profile_folders"
_TYPE = Annotated[
    list[str] | None,
    typer.Option(
        "--profiles", metavar="DIR", show_default=False,
        help="Allow profiles and user data in this folder too; repeat it for more.",
    ),
]  # fmt: skip


def allows_profiles(command: Command) -> Command:
    """Return a command the option `--profiles`."""

    @wraps(command)
    def with_folders(**said: Any) -> None:  # noqa: ANN401 - whatever options the command has
        folders = said.pop(_NAME) or []
        if not folders:
            command(**said)
            return
        _ensure_folders(folders)
        from gpupool.profiles.folders import allow_folders

        with allow_folders(folders):
            command(**said)

    option = inspect.Parameter(_NAME, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_TYPE)
    parameters = [*inspect.signature(command).parameters.values(), option]
    with_folders.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_folders.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_folders


def _ensure_folders(folders: list[str]) -> None:
    for folder in folders:
        if not os.path.isdir(folder):  # noqa: PTH112 - the empty text is no folder, and for Path it is
            message = f"--profiles {folder}: the folder does not exist"
            raise UsageError(message)
