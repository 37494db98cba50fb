"""Objects on the real server, and what Karpenter would write about them."""

import json
from collections.abc import Collection, Mapping
from typing import Any

import yaml

from tests.rig.client import Client
from tests.server.objects import EC2_NODE_CLASS, NODE_POOL, as_yaml

SERVED = {
    "EC2NodeClass": "/apis/karpenter.k8s.aws/v1/ec2nodeclasses",
    "NodeOverlay": "/apis/karpenter.sh/v1alpha1/nodeoverlays",
    "NodePool": "/apis/karpenter.sh/v1/nodepools",
    "NodeClaim": "/apis/karpenter.sh/v1/nodeclaims",
}
CHILDREN = {
    "EC2NodeClass": ("SubnetsReady", "ValidationSucceeded"),
    "NodePool": ("NodeClassReady", "ValidationSucceeded"),
}
EVENTS = "/api/v1/namespaces/default/events"
Said = tuple[str, str, str]
"""Status, reason and message of a condition."""

TRUE: Said = ("True", "Fine", "")
AWAITED: Said = ("Unknown", "AwaitingReconciliation", "object is awaiting reconciliation")


def create(server: Client, body: Mapping[str, Any]) -> None:
    """Apply an object."""
    verdict = server.apply(as_yaml(dict(body)))
    assert verdict.accepted, verdict.message


def pair(name: str) -> list[dict[str, Any]]:
    """Return a class and a pool that refers to it, of one name."""
    node_class, pool = yaml.safe_load(EC2_NODE_CLASS), yaml.safe_load(NODE_POOL)
    node_class["metadata"]["name"] = pool["metadata"]["name"] = name
    pool["spec"]["template"]["spec"]["nodeClassRef"]["name"] = name
    return [node_class, pool]


def create_pair(server: Client, *names: str) -> None:
    """Apply a class and a pool for each name; nobody has looked at them yet."""
    for name in names:
        for body in pair(name):
            create(server, body)


def get(server: Client, kind: str, name: str) -> dict[str, Any]:
    """Return an object."""
    answer = server.request("GET", f"{SERVED[kind]}/{name}")
    assert answer.status == 200, answer
    return answer.body


def patch(server: Client, kind: str, name: str, body: Mapping[str, Any], subresource: str = "") -> None:
    """Merge something into an object."""
    path = f"{SERVED[kind]}/{name}{subresource}"
    answer = server.request("PATCH", path, json.dumps(body).encode(), "application/merge-patch+json")
    assert answer.status == 200, answer


def say(server: Client, kind: str, name: str, conditions: Mapping[str, Said], **status: object) -> None:
    """Write conditions, as seen at the object's generation now, and the rest of a status."""
    generation = get(server, kind, name)["metadata"]["generation"]
    said = [
        {
            "type": each,
            "status": state,
            "reason": reason,
            "message": message,
            "observedGeneration": generation,
            "lastTransitionTime": "2026-11-21T10:00:00Z",
        }
        for each, (state, reason, message) in conditions.items()
    ]
    patch(server, kind, name, {"status": {"conditions": said, **status}}, "/status")


def make_ready(server: Client, *names: str, kinds: Collection[str] = tuple(CHILDREN)) -> None:
    """Let Karpenter find nothing wrong with the class and the pool of a name."""
    for name in names:
        for kind in kinds:
            say(server, kind, name, dict.fromkeys((*CHILDREN[kind], "Ready"), TRUE))


def fail(server: Client, kind: str, name: str, condition: str, reason: str, message: str) -> None:
    """Let Karpenter find one thing wrong with an object."""
    children = dict.fromkeys(CHILDREN[kind], TRUE)
    why = ("False", reason, message)
    root = ("False", "UnhealthyDependents", f"{condition}=False")
    say(server, kind, name, {**children, condition: why, "Ready": root})


def claim(
    server: Client,
    name: str,
    pool: str,
    *conditions: str,
    machine: tuple[str, str, str] = ("p5.48xlarge", "spot", "us-east-1a"),
    **metadata: object,
) -> None:
    """Make a NodeClaim of a pool, with conditions that are True, as in `Launched` or `Drifted:AMIDrift`."""
    keys = ("node.kubernetes.io/instance-type", "karpenter.sh/capacity-type", "topology.kubernetes.io/zone")
    labels = {"karpenter.sh/nodepool": pool, **dict(zip(keys, machine, strict=True))}
    create(
        server,
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodeClaim",
            "metadata": {"name": name, "labels": labels, **metadata},
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": pool},
                "requirements": [],
            },
        },
    )
    said = (f"{each}:{each}".split(":")[:2] for each in conditions)
    say(server, "NodeClaim", name, {each: ("True", reason, "") for each, reason in said})


def record(
    server: Client, address: str, reason: str, message: str, *, minute: int = 0, **more: object
) -> None:
    """Record an event of an object as Karpenter does, by the older API: a Warning, unless `more` sets another type."""
    moment = f"2026-11-21T10:{minute:02}:00Z"
    body = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": "event-"},
        "involvedObject": _reference(server, address),
        "reason": reason,
        "message": message,
        "type": "Warning",
        "count": 1,
        "firstTimestamp": "2026-11-21T10:00:00Z",
        "lastTimestamp": moment,
        "source": {"component": "karpenter"},
        **more,
    }
    answer = server.request("POST", EVENTS, json.dumps(body).encode())
    assert answer.status == 201, answer


def record_series(server: Client, address: str, reason: str, message: str, times: int, minute: int) -> None:
    """Record a series of events by the newer API."""
    body = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"generateName": "event-"},
        "regarding": _reference(server, address),
        "reason": reason,
        "note": message,
        "type": "Warning",
        "action": "Reconcile",
        "eventTime": "2026-11-21T10:00:00.000000Z",
        "series": {"count": times, "lastObservedTime": f"2026-11-21T10:{minute:02}:00.000000Z"},
        "reportingController": "karpenter.sh/karpenter",
        "reportingInstance": "karpenter-0",
    }
    path = "/apis/events.k8s.io/v1/namespaces/default/events"
    answer = server.request("POST", path, json.dumps(body).encode())
    assert answer.status == 201, answer


def _reference(server: Client, address: str) -> dict[str, str]:
    kind, _, name = address.partition("/")
    found = get(server, kind, name)
    return {"apiVersion": found["apiVersion"], "kind": kind, "name": name, "uid": found["metadata"]["uid"]}


def delete(server: Client, kind: str, name: str) -> None:
    """Delete an object."""
    assert server.request("DELETE", f"{SERVED[kind]}/{name}").status in {200, 404}


def delete_all(server: Client) -> None:
    """Delete every object of Karpenter's kinds, also those that something holds."""
    for kind, path in SERVED.items():
        for each in server.request("GET", path).body["items"]:
            name = each["metadata"]["name"]
            if each["metadata"].get("finalizers"):
                patch(server, kind, name, {"metadata": {"finalizers": None}})
            delete(server, kind, name)
