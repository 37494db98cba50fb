"""Entry point of `gpupool` and of `python -m gpupool`."""

import gc
import os
from typing import NoReturn


def run() -> NoReturn:
    """Run one command, and end the process."""
    # A run creates a hundred thousand small values and frees none of them before it ends.
    gc.disable()
    # Pydantic would read the metadata of every installed package to look for plugins.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Both settings must precede the imports, which take most of the time of a short run.
    from gpupool.cli.app import main

    code = main()
    # Freeing a hundred thousand values one by one would be a tenth of a short run.
    os._exit(code)


if __name__ == "__main__":
    run()
