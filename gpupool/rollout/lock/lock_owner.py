"""Owner of a lock: user, host, process and CI run, as one line in a Lease."""

from __future__ import annotations

import getpass
import os
import secrets
import socket
from typing import NamedTuple


class Holder(NamedTuple):
    """The process that holds a lock, or waits for it."""

    who: str
    """USER@HOST."""

    process: str
    id: str
    """A random id, by which a run recognizes its own lock and `unlock` names a lock."""

    run: str = ""
    """The URL of the CI run; empty outside CI."""

    @property
    def text(self) -> str:
        """Return the holder identity in the Lease."""
        return "/".join(part for part in self if part)


def current_owner() -> Holder:
    """Return the holder for this process."""
    who = f"{_user()}@{socket.gethostname()}".replace("/", "_")
    return Holder(who, str(os.getpid()), secrets.token_hex(4), _run())


def read_holder(text: str) -> Holder:
    """Parse a holder identity; one that gpupool did not write is its own id."""
    who, process, holder_id, run = (*text.split("/", 3), "", "", "")[:4]
    if process.isdigit() and holder_id:
        return Holder(who, process, holder_id, run)
    return Holder(text, "", text)


def describe_owner(holder: Holder) -> str:
    """Return the text of a holder for messages."""
    process = f", process {holder.process}" if holder.process else ""
    run = f", {holder.run}" if holder.run else ""
    return f"{holder.who}{process}{run}"


def _user() -> str:
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        # A container may run as a user without a name.
        return str(os.getuid())


def _run() -> str:
    variable = os.environ.get
    server, repository, run = (
        variable("GITHUB_SERVER_URL"),
        variable("GITHUB_REPOSITORY"),
        variable("GITHUB_RUN_ID"),
    )
    if server and repository and run:
        return f"{server}/{repository}/actions/runs/{run}"
    return variable("CI_JOB_URL", "")
