"""`gpupool completion`: a script that teaches the shell gpupool's words."""

import sys
from typing import Annotated, Literal

import typer


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(metavar="SHELL", help="The shell.")],
) -> None:
    """Print a completion script.

    \b
    gpupool completion bash > ~/.local/share/bash-completion/completions/gpupool
    gpupool completion zsh > "${fpath[1]}/_gpupool"
    gpupool completion fish > ~/.config/fish/completions/gpupool.fish
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    from typer._completion_shared import get_completion_script

    script = get_completion_script(prog_name="gpupool", complete_var="_GPUPOOL_COMPLETE", shell=shell)
    sys.stdout.write(script + "\n")
