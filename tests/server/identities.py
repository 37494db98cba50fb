"""Users and groups that are granted what gpupool prints, and that ask the API server as themselves."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import yaml

from gpupool.rendering.roles import EVENTS_NAMESPACE, Purpose, RoleScope, Subject, render_roles
from tests.rig.access import Access
from tests.rig.client import Client
from tests.rig.server import ApiServer

RBAC = "/apis/rbac.authorization.k8s.io/v1"
SECONDS = 30.0
Rule = dict[str, Any]
Lacking = tuple[str, str]
"""A resource, and a verb on it."""


class Impersonated(Client):
    """Asks as somebody else; the admin whose access it is may do that."""

    def __init__(self, access: Access, subject: Subject) -> None:
        super().__init__(access)
        names = {
            "User": (subject.name, ""),
            "Group": (f"somebody in {subject.name}", subject.name),
            "ServiceAccount": (f"system:serviceaccount:{subject.namespace}:{subject.name}", ""),
        }
        user, group = names[subject.kind]
        self._headers = {**self._headers, "Impersonate-User": user}
        if group:
            self._headers["Impersonate-Group"] = group


@contextmanager
def granted(
    server: ApiServer, purpose: Purpose, place: RoleScope, subject: Subject, *, with_policy: bool = True
) -> Iterator[Impersonated]:
    """Grant what is printed to a subject while the block runs, and let it ask."""
    printed = yaml.safe_load_all(render_roles(purpose, place, subject))
    objects = [each for each in printed if with_policy or "AdmissionPolicy" not in each["kind"]]
    try:
        for each in objects:
            verdict = server.apply(yaml.safe_dump(each).encode())
            assert verdict.accepted, verdict.message
        with Impersonated(server.access, subject) as client:
            yield client
    finally:
        for each in reversed(objects):
            server.request("DELETE", path_of(server, each))


def path_of(server: ApiServer, found: dict[str, Any]) -> str:
    """Return where the server keeps an object."""
    metadata = found["metadata"]
    place = server.resource(found["kind"], found["apiVersion"])
    return place.path(metadata.get("namespace", ""), metadata["name"])


@contextmanager
def granted_but(
    server: ApiServer, purpose: Purpose, place: RoleScope, without: Lacking | None
) -> Iterator[str]:
    """Grant what is printed to a user, but for one verb on one resource; give the user's name."""
    subject = Subject("User", f"{purpose}-{'-'.join(without or ('with', 'all'))}")
    with granted(server, purpose, place, subject, with_policy=False):
        name = f"{place.inventory}-{purpose}"
        for namespace in ("", place.namespace, EVENTS_NAMESPACE):
            roles = f"namespaces/{namespace}/roles" if namespace else "clusterroles"
            _take_away(server, f"{RBAC}/{roles}/{name}", without)
        _wait_for(server, subject.name, place, without)
        yield subject.name


def _take_away(server: ApiServer, role: str, without: Lacking | None) -> None:
    rules = [part for rule in server.request("GET", role).body["rules"] for part in _parts(rule, without)]
    kept = json.dumps({"rules": [each for each in rules if each["verbs"] and each["resources"]]}).encode()
    assert server.request("PATCH", role, kept, "application/merge-patch+json").status == 200


def _parts(rule: Rule, without: Lacking | None) -> list[Rule]:
    if without is None or without[0] not in rule["resources"]:
        return [rule]
    resource, verb = without
    others = [each for each in rule["resources"] if each != resource]
    verbs = [each for each in rule["verbs"] if each != verb]
    return [rule | {"resources": others}, rule | {"resources": [resource], "verbs": verbs}]


def _wait_for(server: ApiServer, user: str, place: RoleScope, without: Lacking | None) -> None:
    """Wait until the server knows the rights, those everywhere and those in the namespace."""
    namespaced = {
        "namespace": place.namespace,
        "verb": "get",
        "resource": "configmaps",
        "name": place.inventory,
    }
    everywhere = {"verb": "list", "resource": "nodeclaims", "group": "karpenter.sh"}
    events = {"namespace": EVENTS_NAMESPACE, "verb": "list", "resource": "events"}
    for asked in (namespaced, everywhere, events):
        wanted = (asked["resource"], asked["verb"]) != without
        _until(server, {"user": user, "resourceAttributes": asked}, wanted=wanted)


def _until(server: ApiServer, spec: dict[str, Any], *, wanted: bool) -> None:
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    until, body = time.monotonic() + SECONDS, json.dumps(review).encode()
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    while server.request("POST", path, body).body["status"]["allowed"] is not wanted:
        assert time.monotonic() < until
        time.sleep(0.05)
