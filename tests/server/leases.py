"""Leases on the real server, as others would write them."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.rig.client import Client

NAMESPACE = "kube-system"
COLLECTION = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"
OTHER = "other@runner/77/0ther1d0/https://ci.example/runs/5"
"""Another run of gpupool."""


def at(seconds: float) -> str:
    """Return the moment so many seconds from now."""
    moment = datetime.now(UTC) + timedelta(seconds=seconds)
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def read(server: Client, name: str) -> dict[str, Any] | None:
    """Return a Lease; None where there is none."""
    answer = server.request("GET", f"{COLLECTION}/{name}")
    assert answer.status in {200, 404}, answer
    return answer.body if answer.status == 200 else None


def holder(server: Client, name: str) -> str:
    """Return who holds a Lease; empty where nobody does."""
    found = read(server, name)
    return found["spec"].get("holderIdentity", "") if found else ""


def held_by_another(
    server: Client, name: str, *, seconds: int = 60, renewed: float = 0.0, who: str = OTHER
) -> None:
    """Let somebody else hold a Lease, which was renewed so many seconds from now."""
    spec = {
        "holderIdentity": who,
        "leaseDurationSeconds": seconds,
        "acquireTime": at(renewed),
        "renewTime": at(renewed),
        "leaseTransitions": 0,
    }
    found = read(server, name)
    if found is None:
        body = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name},
            "spec": spec,
        }
        answer = server.request("POST", COLLECTION, json.dumps(body).encode())
    else:
        answer = server.request("PUT", f"{COLLECTION}/{name}", json.dumps(found | {"spec": spec}).encode())
    assert answer.status < 300, answer


def delete(server: Client, name: str) -> None:
    """Delete a Lease, if there is one."""
    assert server.request("DELETE", f"{COLLECTION}/{name}").status in {200, 404}
