"""A blueprint and the real server: applied, looked at, and cleared away, all in the test's own process."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpupool.cluster.resources import KINDS, config_map_path
from gpupool.planning.plan import Consent
from gpupool.rollout.applying.apply import ApplyOptions
from gpupool.rollout.applying.results import ensure_complete
from gpupool.rollout.connection import ClusterOptions
from gpupool.rollout.session import carry_out, ensure_applicable, gpupool_version, is_settled, prepare_session

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from gpupool.rollout.applying.results import Outcome, Result
    from gpupool.rollout.session import Session
    from tests.rig.server import ApiServer

SECONDS = 60.0
INVENTORIES = "gpupool.dev/blueprint"
"""The label that inventories have."""


@dataclass
class World:
    """What a blueprint's run leaves on a server, and what it said meanwhile."""

    server: ApiServer
    kubeconfig: Path
    said: list[str] = field(default_factory=list)
    done: list[Outcome] = field(default_factory=list)

    @property
    def way(self) -> ClusterOptions:
        """Return the way of a command line that names the kubeconfig and nothing else."""
        # A handshake for each of more connections costs more than they gain.
        return ClusterOptions(kubeconfig=str(self.kubeconfig), timeout=SECONDS, concurrency=2)

    def look(self, files: Sequence[str], consent: Consent | None = None) -> Session:
        """Plan, as `gpupool diff` does."""
        return prepare_session(files, self.way, consent or Consent())

    def apply(self, files: Sequence[str], consent: Consent | None = None) -> Result | None:
        """Plan and apply, as `gpupool apply --yes --wait none` does; None where there was nothing to do."""
        session = self.look(files, consent)
        ensure_applicable(session.plan)
        if is_settled(session):
            return None
        result = self.carry_out(session)
        ensure_complete(result)
        return result

    def carry_out(self, session: Session) -> Result:
        """Do what was planned."""
        how = ApplyOptions(
            wait="none",
            lock_timeout=SECONDS,
            tooling=f"gpupool/{gpupool_version()}",
            who={"by": "a test", "commit": ""},
            is_overlay_gate_on=False,
            files=(),
            say=self.said.append,
            done=self.done.append,
            waits=lambda _: None,
        )
        return carry_out(session, how)

    def objects(self) -> dict[str, dict[str, Any]]:
        """Return every object of the kinds that gpupool writes, by `KIND/NAME`."""
        return {
            f"{kind.name}/{body['metadata']['name']}": body
            for kind in KINDS.values()
            for body in self.server.request("GET", kind.path).body["items"]
        }

    def inventories(self, namespace: str = "kube-system") -> dict[str, dict[str, Any]]:
        """Return every inventory of a namespace, by name."""
        path = f"{config_map_path(namespace)}?labelSelector={INVENTORIES}"
        return {each["metadata"]["name"]: each for each in self.server.request("GET", path).body["items"]}

    def versions(self) -> dict[str, str]:
        """Return the resourceVersion of each object and inventory."""
        found = {**self.objects(), **self.inventories()}
        return {name: body["metadata"]["resourceVersion"] for name, body in found.items()}

    def uids(self) -> dict[str, str]:
        """Return the uid of each object."""
        return {address: body["metadata"]["uid"] for address, body in self.objects().items()}

    def put(self, address: str, body: Mapping[str, Any], manager: str = "kubectl-create") -> dict[str, Any]:
        """Create an object as somebody else."""
        kind = KINDS[address.partition("/")[0]]
        answer = self.server.request("POST", f"{kind.path}?fieldManager={manager}", json.dumps(body).encode())
        assert answer.status == 201, answer.body
        return answer.body

    def change(
        self,
        address: str,
        patch: object,
        manager: str = "kubectl-edit",
        content_type: str = "merge",
    ) -> dict[str, Any]:
        """Patch an object as somebody else; `content_type` is `merge` or `json`."""
        kind, _, name = address.partition("/")
        return self.change_at(f"{KINDS[kind].path_of(name)}?fieldManager={manager}", patch, content_type)

    def change_at(self, path: str, patch: object, content_type: str = "merge") -> dict[str, Any]:
        """Patch whatever is at a path."""
        text, form = json.dumps(patch).encode(), f"application/{content_type}-patch+json"
        answer = self.server.request("PATCH", path, text, form)
        assert answer.status == 200, answer.body
        return answer.body


@contextmanager
def world(server: ApiServer, kubeconfig: Path | None = None) -> Iterator[World]:
    """Yield a server on which there is nothing of anybody's, and leave it so."""
    found = World(server, kubeconfig or server.kubeconfig)
    clear(server)
    try:
        yield found
    finally:
        clear(server)


@contextmanager
def policy(server: ApiServer, plural: str, **validation: str) -> Iterator[None]:
    """Let an admission policy judge what becomes of objects, once the server has come to know it."""
    name, version = f"laws-{plural}", "admissionregistration.k8s.io/v1"
    rule = {
        "apiGroups": ["*"],
        "apiVersions": ["*"],
        "operations": ["CREATE", "UPDATE"],
        "resources": [plural],
    }
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [validation],
    }
    bodies: dict[str, Any] = {
        "ValidatingAdmissionPolicy": spec,
        "ValidatingAdmissionPolicyBinding": {"policyName": name, "validationActions": ["Deny"]},
    }
    paths = {kind: server.resource(kind).path("") for kind in bodies}
    try:
        for kind, body in bodies.items():
            whole = {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": body}
            assert server.request("POST", paths[kind], json.dumps(whole).encode()).status == 201
        yield
    finally:
        for path in paths.values():
            server.request("DELETE", f"{path}/{name}")


def clear(server: ApiServer, namespaces: Sequence[str] = ("kube-system", "default")) -> None:
    """Delete every object of the kinds that gpupool writes, and every inventory."""
    collections = [kind.path for kind in KINDS.values()]
    collections += [f"{config_map_path(each)}?labelSelector={INVENTORIES}" for each in namespaces]
    for path in collections:
        assert server.request("DELETE", path).status == 200
