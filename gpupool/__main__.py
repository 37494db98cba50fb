"""The program: `gpupool`, and `python -m gpupool`."""

import gc
import os
from typing import NoReturn


def run() -> NoReturn:
    """Be the program: one command, and then the process ends."""
    # A run makes a hundred thousand small values and frees none of them before it ends.
    gc.disable()
    # Pydantic would read the metadata of every installed package to look for plugins.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Both count from the first import on, which most of a short run is.
    from gpupool.cli.app import main

    code = main()
    # Taking a hundred thousand values apart one by one would be a tenth of a short run.
    os._exit(code)


if __name__ == "__main__":
    run()
