"""Who has the roles for plan can plan and can't write, whatever else it may do; who has those for apply can."""

import json
import time
from collections.abc import Callable, Iterator

import pytest
import yaml

from gpupool.cluster.client import APPLY, MERGE
from gpupool.cluster.crds import CRDS
from gpupool.cluster.resources import (
    EC2_NODE_CLASS,
    KINDS,
    KUBE_SYSTEM,
    NODE_CLAIM,
    NODE_OVERLAY,
    NODE_POOL,
    ResourceKind,
    config_map_path,
    crd_path,
    lease_path,
)
from gpupool.rendering.roles import RoleScope, Subject
from tests.rig.client import Answer
from tests.rig.server import ApiServer
from tests.server import objects
from tests.server.identities import Impersonated, granted

SUBJECTS = [
    Subject("User", "planner"),
    Subject("Group", "planners"),
    Subject("ServiceAccount", "planner", "ci"),
]
TEXTS = {
    NODE_POOL: objects.NODE_POOL,
    EC2_NODE_CLASS: objects.EC2_NODE_CLASS,
    NODE_OVERLAY: b"""\
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: rig}
spec:
  requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge]}]
  price: "1"
""",
}
SECONDS, PAUSE = 30.0, 0.1
"""A policy counts from the moment when the server has compiled it, which is some hundred milliseconds later."""

FORBIDDEN = 403
RBAC = "rbac.authorization.k8s.io"
TOO_MUCH = "rig-too-much"


def body(kind: ResourceKind, name: str) -> bytes:
    """A small valid object of a kind."""
    found = yaml.safe_load(TEXTS[kind])
    found["metadata"]["name"] = name
    return json.dumps(found).encode()


def applied(client: Impersonated | ApiServer, kind: ResourceKind, name: str, query: str = "") -> Answer:
    """Apply an object, server side, as gpupool does."""
    path = f"{kind.path_of(name)}?fieldManager=gpupool&fieldValidation=Strict{query}"
    return client.request("PATCH", path, body(kind, name), APPLY)


def touched(client: Impersonated | ApiServer, kind: ResourceKind, name: str, query: str = "") -> Answer:
    """Patch an object with something that changes it."""
    path = f"{kind.path_of(name)}?fieldManager=gpupool{query}"
    return client.request("PATCH", path, b'{"metadata": {"annotations": {"rig": "touched"}}}', MERGE)


def until(wanted: Callable[[], bool]) -> None:
    """Wait for what takes the server a moment.

    Raises:
        AssertionError: where it never comes.
    """
    end = time.monotonic() + SECONDS
    while not wanted():
        assert time.monotonic() < end, "the server never comes to it"
        time.sleep(PAUSE)


def is_denied(answer: Answer, policy: str) -> bool:
    """Whether the policy itself refused it, not a missing right."""
    return answer.status == FORBIDDEN and f"ValidatingAdmissionPolicy '{policy}'" in answer.body["message"]


def until_in_force(server: ApiServer, client: Impersonated, policy: str) -> None:
    """Try to write until the policy refuses it."""

    def refused() -> bool:
        answer = applied(client, NODE_POOL, "rig-early")
        server.request("DELETE", NODE_POOL.path_of("rig-early"))
        return is_denied(answer, policy)

    until(refused)


@pytest.fixture
def there(api_server: ApiServer) -> Iterator[str]:
    """The name of objects of all three kinds that somebody else made."""
    name = "rig-there"
    for kind in KINDS.values():
        assert applied(api_server, kind, name).status in {200, 201}
    yield name
    for kind in KINDS.values():
        api_server.request("DELETE", kind.path_of(name))


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda each: each.kind)
def test_the_plan_identity_dry_runs_and_does_not_write(
    subject: Subject, api_server: ApiServer, there: str
) -> None:
    place = RoleScope(f"rig-{subject.kind.lower()}", "default")
    policy = f"{place.inventory}-plan"
    with granted(api_server, "plan", place, subject) as planner:
        until_in_force(api_server, planner, policy)
        for kind in KINDS.values():
            assert applied(planner, kind, "rig-new", "&dryRun=All").status == 201
            assert applied(planner, kind, there, "&dryRun=All").status == 200
            assert touched(planner, kind, there, "&dryRun=All").status == 200
            assert planner.request("GET", kind.path).status == 200

            before = api_server.request("GET", kind.path_of(there)).body["metadata"]
            refused = [
                applied(planner, kind, "rig-new"),
                applied(planner, kind, there),
                touched(planner, kind, there),
                planner.request("PATCH", kind.path_of(there), b"{}", MERGE),
                planner.request("POST", kind.path, body(kind, "rig-new")),
            ]
            assert [is_denied(each, policy) for each in refused] == [True] * len(refused)
            assert "dry runs are allowed, writes are not" in refused[0].body["message"]
            assert planner.request("DELETE", kind.path_of(there)).status == FORBIDDEN
            assert api_server.request("GET", kind.path_of("rig-new")).status == 404
            assert api_server.request("GET", kind.path_of(there)).body["metadata"] == before


def test_the_policy_holds_whatever_other_roles_allow(api_server: ApiServer, there: str) -> None:
    """A role that somebody adds later gives neither deletions nor scaling."""
    subject, place = Subject("User", "planner-and-more"), RoleScope("rig-more", "default")
    policy = f"{place.inventory}-plan"
    head = {"apiVersion": f"{RBAC}/v1", "metadata": {"name": TOO_MUCH}}
    rule = {"apiGroups": ["karpenter.sh", "karpenter.k8s.aws"], "resources": ["*"], "verbs": ["*"]}
    more: dict[str, dict[str, object]] = {
        "clusterroles": {**head, "kind": "ClusterRole", "rules": [rule]},
        "clusterrolebindings": {
            **head,
            "kind": "ClusterRoleBinding",
            "roleRef": {"kind": "ClusterRole", "name": TOO_MUCH, "apiGroup": RBAC},
            "subjects": [{"kind": "User", "name": subject.name, "apiGroup": RBAC}],
        },
    }
    with granted(api_server, "plan", place, subject) as planner:
        until_in_force(api_server, planner, policy)
        try:
            for each in more.values():
                assert api_server.apply(json.dumps(each).encode()).accepted
            until(lambda: not is_missing(planner.request("DELETE", f"{NODE_POOL.path_of(there)}?dryRun=All")))
            for kind in KINDS.values():
                assert is_denied(planner.request("DELETE", kind.path_of(there)), policy)
                assert is_denied(planner.request("DELETE", kind.path), policy)
                status = planner.request("PATCH", f"{kind.path_of(there)}/status", b'{"status": {}}', MERGE)
                assert is_denied(status, policy)
                assert planner.request("DELETE", f"{kind.path_of(there)}?dryRun=All").status == 200
                assert api_server.request("GET", kind.path_of(there)).status == 200
        finally:
            for plural in more:
                api_server.request("DELETE", f"/apis/{RBAC}/v1/{plural}/{TOO_MUCH}")


def is_missing(answer: Answer) -> bool:
    """Whether RBAC refused it."""
    return answer.status == FORBIDDEN and "cannot delete resource" in answer.body["message"]


def test_without_the_binding_it_could_write(api_server: ApiServer) -> None:
    """So it is the policy, and nothing else, that refuses."""
    subject, place = Subject("User", "unbound"), RoleScope("rig-unbound", "default")
    policy = f"{place.inventory}-plan"
    binding = f"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/{policy}"
    with granted(api_server, "plan", place, subject) as planner:
        until_in_force(api_server, planner, policy)
        assert api_server.request("DELETE", binding).status == 200
        until(lambda: applied(planner, NODE_POOL, "rig-unbound").status == 201)
    assert api_server.request("DELETE", NODE_POOL.path_of("rig-unbound")).status == 200


def test_the_plan_identity_reads_what_it_needs_and_nothing_else(api_server: ApiServer) -> None:
    subject, place = Subject("User", "reader"), RoleScope("rig-reader", "default")
    inventory = config_map_path("default", place.inventory)
    with granted(api_server, "plan", place, subject) as planner:
        until(lambda: planner.request("GET", KUBE_SYSTEM).status == 200)
        allowed = {
            path: planner.request("GET", path).status for path in (*map(crd_path, CRDS), NODE_CLAIM.path)
        }
        assert allowed == dict.fromkeys(allowed, 200)
        assert planner.request("GET", inventory).status == 404
        others = [
            "/api/v1/namespaces",
            "/api/v1/namespaces/default",
            crd_path("others.example.com"),
            crd_path(""),
            config_map_path("default"),
            config_map_path("default", "other"),
            config_map_path("kube-system", place.inventory),
            lease_path("default", place.inventory),
            NODE_CLAIM.path_of("other"),
            "/api/v1/namespaces/default/secrets",
            "/api/v1/nodes",
        ]
        refused = {path: planner.request("GET", path).status for path in others}
        assert refused == dict.fromkeys(others, FORBIDDEN)
        assert planner.request("PATCH", f"{inventory}?dryRun=All", b"{}", MERGE).status == FORBIDDEN


def test_the_apply_identity_writes_beside_the_policy(api_server: ApiServer) -> None:
    plans, applies = Subject("Group", "rig-plans"), Subject("Group", "rig-applies")
    place = RoleScope("rig-both", "default")
    policy = f"{place.inventory}-plan"
    with (
        granted(api_server, "plan", place, plans) as planner,
        granted(api_server, "apply", place, applies) as applier,
    ):
        until_in_force(api_server, planner, policy)
        for kind in KINDS.values():
            assert applied(applier, kind, "rig-both").status == 201
            assert touched(applier, kind, "rig-both").status == 200
            assert is_denied(applied(planner, kind, "rig-both"), policy)
            watched = applier.request("GET", f"{kind.path}?watch=true&timeoutSeconds=1")
            assert watched.status == 200
            assert applier.request("DELETE", kind.path_of("rig-both")).status == 200


def test_the_apply_identity_keeps_inventory_and_lock_and_no_others(api_server: ApiServer) -> None:
    place = RoleScope("rig-keeper", "default")
    with granted(api_server, "apply", place, Subject("User", "keeper")) as applier:
        until(lambda: applier.request("GET", config_map_path(*own(place))).status == 404)
        for collection, api_version, kind in (
            (config_map_path, "v1", "ConfigMap"),
            (lease_path, "coordination.k8s.io/v1", "Lease"),
        ):
            made = {"apiVersion": api_version, "kind": kind, "metadata": {"name": place.inventory}}
            text = json.dumps(made).encode()
            created = applier.request("POST", collection("default"), text)
            assert created.status == 201
            assert applier.request("GET", collection(*own(place))).status == 200
            assert applier.request("GET", collection("default", "other")).status == FORBIDDEN
            assert applier.request("GET", collection("default")).status == FORBIDDEN
        lease = lease_path(*own(place))
        now = api_server.request("GET", lease).body
        assert applier.request("PUT", lease, json.dumps(now).encode()).status == 200
        assert applier.request("DELETE", lease).status == 200
        config_map = config_map_path(*own(place))
        assert applier.request("PATCH", config_map, b'{"data": {"serial": "1"}}', MERGE).status == 200
        assert applier.request("DELETE", config_map).status == FORBIDDEN
        assert applier.request("DELETE", lease_path("default", "other")).status == FORBIDDEN
    assert api_server.request("DELETE", config_map).status == 200


def own(place: RoleScope) -> tuple[str, str]:
    """The namespace and name of what a blueprint has."""
    return place.namespace, place.inventory
