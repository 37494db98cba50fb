"""What the API server itself says was asked of it: the witness that no request goes unseen."""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

POLICY: Final[dict[str, Any]] = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived", "ResponseStarted"],
    "rules": [
        # Thousands of reads of other tests would make the log long, and say nothing.
        {"level": "None", "verbs": ["get", "list", "watch"]},
        {
            "level": "Metadata",
            "resources": [
                {"group": "karpenter.sh"},
                {"group": "karpenter.k8s.aws"},
                {"group": "coordination.k8s.io", "resources": ["leases"]},
                {"group": "", "resources": ["configmaps", "namespaces"]},
            ],
        },
        {"level": "None"},
    ],
}
"""What is written to the objects that gpupool has to do with, one line each when it is done."""


@dataclass(frozen=True, slots=True)
class Event:
    """One request that wanted to change something."""

    user: str
    verb: str
    resource: str
    name: str
    code: int
    dry_run: bool
    uri: str
    at: datetime

    @property
    def is_done(self) -> bool:
        """Say whether something was stored or deleted."""
        return not self.dry_run and self.code < 300


class Audit:
    """The log of one server; a mark says how much of it was there."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def mark(self) -> int:
        """Give how long the log is."""
        return self._log.stat().st_size

    def since(self, mark: int) -> list[Event]:
        """Give what came after a mark, in the order in which it ended."""
        with self._log.open("rb") as file:
            file.seek(mark)
            return [_event(json.loads(line)) for line in file]


def _event(said: dict[str, Any]) -> Event:
    about, uri = said.get("objectRef") or {}, said["requestURI"]
    impersonated = said.get("impersonatedUser") or said["user"]
    return Event(
        user=impersonated["username"],
        verb=said["verb"],
        resource=about.get("resource", ""),
        name=about.get("name", ""),
        code=said["responseStatus"]["code"],
        dry_run="All" in parse_qs(urlsplit(uri).query).get("dryRun", ()),
        uri=uri,
        at=datetime.fromisoformat(said["stageTimestamp"]),
    )
