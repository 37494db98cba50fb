"""Who holds a lock: user, machine, process, and the run of a pipeline, in one line that fits into a Lease."""

from __future__ import annotations

import getpass
import os
import secrets
import socket
from typing import NamedTuple


class Holder(NamedTuple):
    """Who holds, or wants, a lock."""

    who: str
    """USER@HOST."""

    process: str
    id: str
    """Chance, and so unlike that of every other try: by it a try knows what is its own, and `unlock` whom it
    means."""

    run: str = ""
    """The address of the pipeline's run; empty outside of one."""

    @property
    def text(self) -> str:
        """Return it as it stands in the Lease."""
        return "/".join(part for part in self if part)


def current_owner() -> Holder:
    """Return this process as a holder."""
    who = f"{_user()}@{socket.gethostname()}".replace("/", "_")
    return Holder(who, str(os.getpid()), secrets.token_hex(4), _run())


def read_holder(text: str) -> Holder:
    """Read what stands in a Lease; what is not ours is shown, and meant, as a whole."""
    who, process, holder_id, run = (*text.split("/", 3), "", "", "")[:4]
    if process.isdigit() and holder_id:
        return Holder(who, process, holder_id, run)
    return Holder(text, "", text)


def describe_owner(holder: Holder) -> str:
    """Say who it is, for people."""
    process = f", process {holder.process}" if holder.process else ""
    run = f", {holder.run}" if holder.run else ""
    return f"{holder.who}{process}{run}"


def _user() -> str:
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        # A container may run as a user that has no name.
        return str(os.getuid())


def _run() -> str:
    said = os.environ.get
    server, repository, run = said("GITHUB_SERVER_URL"), said("GITHUB_REPOSITORY"), said("GITHUB_RUN_ID")
    if server and repository and run:
        return f"{server}/{repository}/actions/runs/{run}"
    return said("CI_JOB_URL", "")
