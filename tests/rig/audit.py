"""What the API server itself says was asked of it: the witness that no request goes unseen."""

import json
from dataclasses import dataclass
from datetime import datetime
from os import SEEK_END
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from tests.rig.errors import RigError

POLICY: Final[dict[str, Any]] = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived", "ResponseStarted"],
    "rules": [
        # Thousands of reads of other tests would make the log long, and say nothing.
        {"level": "None", "verbs": ["get", "list", "watch"]},
        # What the server writes for itself, its own lease above all.
        {"level": "None", "users": ["system:apiserver"]},
        {"level": "Metadata"},
    ],
}
"""Whatever anybody wants to change, one line each when it is done."""


@dataclass(frozen=True, slots=True)
class Event:
    """One request that wanted to change something."""

    user: str
    verb: str
    resource: str
    namespace: str
    """Empty for what has none."""

    name: str
    """Empty for what is created by POST, and for all of a collection."""

    code: int
    dry_run: bool
    uri: str
    at: datetime

    @property
    def is_done(self) -> bool:
        """Return whether something was stored or deleted."""
        return not self.dry_run and self.code < 300


class Audit:
    """The log of one server; a mark says how much of it was there."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def mark(self) -> int:
        """Return how long the log is."""
        return self._log.stat().st_size

    def since(self, mark: int) -> list[Event]:
        """Return what came after a mark, in the order in which it ended.

        Raises:
            RigError: The log is shorter than it was: it is no witness any more.
        """
        with self._log.open("rb") as file:
            if file.seek(0, SEEK_END) < mark:
                message = f"{self._log} was cut off or begun anew"
                raise RigError(message)
            file.seek(mark)
            # Of what is asked at this moment, half a line may be there.
            return [_event(json.loads(line)) for line in file if line.endswith(b"\n")]


def _event(said: dict[str, Any]) -> Event:
    about, uri = said.get("objectRef") or {}, said["requestURI"]
    impersonated = said.get("impersonatedUser") or said["user"]
    return Event(
        user=impersonated["username"],
        verb=said["verb"],
        resource=about.get("resource", ""),
        namespace=about.get("namespace", ""),
        name=about.get("name", ""),
        code=said["responseStatus"]["code"],
        dry_run="All" in parse_qs(urlsplit(uri).query).get("dryRun", ()),
        uri=uri,
        at=datetime.fromisoformat(said["stageTimestamp"]),
    )
