"""Report of an unexpected exception, for the issue tracker."""

import os
import platform
import textwrap
import traceback
from importlib.metadata import version
from pathlib import Path

_WIDTH = 100


def render_bug_report(problem: Exception) -> str:
    """Return one paragraph about an unexpected exception; the traceback with GPUPOOL_DEBUG=1.

    The paragraph omits the exception's message, which may hold a value of the user's file.
    """
    if os.environ.get("GPUPOOL_DEBUG"):
        return "".join(traceback.format_exception(problem))
    frame = traceback.extract_tb(problem.__traceback__)[-1]
    prose = (
        f"error: this is a bug in gpupool ({type(problem).__name__} in {Path(frame.filename).name}, line"
        f" {frame.lineno}), whatever the input is. Please report it with the command that you ran and, if"
        f" you can, the files it read. GPUPOOL_DEBUG=1 shows more; look through it for values that you"
        f" don't want to share. gpupool {version('gpupool')}, Python {platform.python_version()},"
        f" pydantic {version('pydantic')}, {platform.system()} {platform.machine()}."
    )
    return textwrap.fill(prose, _WIDTH) + "\n"
