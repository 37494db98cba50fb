"""Checks before a command writes to a cluster or prompts."""

import sys

from gpupool.errors import GuardError


def ensure_cluster_chosen(context: str, *, is_pinned: bool) -> None:
    """Raise if a command without a terminal would write to the current context.

    Raises:
        GuardError: if neither the command line nor the blueprint names the cluster.
    """
    if not is_pinned and not sys.stdin.isatty():
        message = (
            f"refusing to write to the current context `{context}` without a terminal: pass --context, or set"
            " `cluster.context` or `cluster.uid` in the blueprint"
        )
        raise GuardError(message)


def ensure_terminal(alternative: str) -> None:
    """Raise if a command without a terminal would prompt.

    Raises:
        GuardError: with the alternative to a prompt.
    """
    if not sys.stdin.isatty():
        message = f"cannot prompt: stdin is not a terminal; pass {alternative}"
        raise GuardError(message)
