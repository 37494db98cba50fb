"""What has to hold before a command writes: the cluster is named, and someone can answer its question."""

import sys

from gpupool.errors import GuardError


def ensure_cluster_chosen(context: str, *, pinned: bool) -> None:
    """Refuse to write to the current context where nobody looks on.

    Raises:
        GuardError: where neither the command line nor the blueprint names the cluster, off a terminal.
    """
    if not pinned and not sys.stdin.isatty():
        message = (
            f"refusing to write to the current context `{context}` without a terminal: pass --context, or set"
            " `cluster.context` or `cluster.uid` in the blueprint"
        )
        raise GuardError(message)


def ensure_terminal(way_out: str) -> None:
    """Refuse to ask where nobody can answer; `way_out` is what to write instead.

    Raises:
        GuardError: off a terminal.
    """
    if not sys.stdin.isatty():
        message = f"cannot prompt: stdin is not a terminal; pass {way_out}"
        raise GuardError(message)
