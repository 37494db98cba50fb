"""`gpupool completion`: a script that teaches the shell gpupool's words."""

import sys
from typing import Annotated, Literal

import typer


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="The shell.")],
) -> None:
    """Print a completion script.

    For bash: `gpupool completion bash > ~/.local/share/bash-completion/completions/gpupool`
    """
    from typer._completion_shared import get_completion_script

    script = get_completion_script(prog_name="gpupool", complete_var="_GPUPOOL_COMPLETE", shell=shell)
    sys.stdout.write(script + "\n")
