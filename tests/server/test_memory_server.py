"""The API server in memory answers as the real one does, step by step, whatever several managers do."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from gpupool.cluster.client import APPLY, MERGE, Request
from gpupool.cluster.crds import NEEDED, digest_crd
from gpupool.yamlio.located import plain_map
from tests.memory.server import MemoryServer
from tests.memory.stories import BASES, COLLECTIONS, CURRENT, OBJECTS, WRONG, Known, Step, steps
from tests.memory.values import copy
from tests.server.twins import ask, compare
from tests.tiers import volume

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpupool.cluster.client import Method, Response
    from tests.memory.schemas import Body
    from tests.rig.server import ApiServer

SEED = 20261122
LENGTH = 50
STEPS = volume(20_000, at_least=2_000)
FEWEST = 3
EXPECTED = (
    "contested", "precondition or name", "for good", "in a dry run", "being deleted", "nothing changes",
    "a change that is not stored", "a field is removed by an apply", "a field is taken by force",
    "apply 200", "apply 201", "apply 409", "apply the usual 200", "apply what is wrong 422", "apply what is wrong 500",
    "apply a status 200", "apply a status 404", "apply a status 409", "patch the status 200", "create 201", "create 409",
    "create what is wrong 422", "create what is wrong 400", "replace 200", "replace 404", "replace 409", "replace 422",
    "replace blindly 200", "replace blindly 201", "replace blindly 404", "replace blindly 409", "replace blindly 422",
    "patch 200", "patch 404", "patch 409", "forget the owners 200", "delete 200", "delete 404", "delete 409", "get 200",
)  # fmt: skip
"""What has to come up, so that it is compared at all."""


@pytest.fixture
def real(api_server: ApiServer) -> Iterator[Callable[[Request], Response]]:
    """Return the way to the real server, which has none of the objects before and after."""
    clear(api_server)
    yield partial(ask, api_server)
    clear(api_server)


def clear(server: ApiServer) -> None:
    for kind, name in OBJECTS:
        path = f"{COLLECTIONS[kind]}/{name}"
        server.request("PATCH", path, b'{"metadata": {"finalizers": null}}', "application/merge-patch+json")
        server.request("DELETE", path)


def apply(kind: str, manager: str = "gpupool", part: Body | None = None, **options: Any) -> Step:  # noqa: ANN401 - whatever a step has
    """Return the step that applies a body, its `spec` or `data` replaced where `part` says."""
    body = copy(BASES[kind])
    body["metadata"] = {"name": "memory-0"}
    body |= {"data" if kind == "ConfigMap" else "spec": part} if part is not None else {}
    query = {"fieldManager": manager, "fieldValidation": "Strict", "force": "true"}
    return Step("apply", kind, "memory-0", "PATCH", query, APPLY, **{"body": body, **options})


def send(
    kind: str,
    method: Method,
    body: Body,
    content_type: str = "application/json",
    **options: Any,  # noqa: ANN401 - whatever a step has
) -> Step:
    """Return the step that sends a body as somebody who edits."""
    query = {"fieldManager": "kubectl-edit", "fieldValidation": "Strict"}
    return Step("send", kind, "memory-0", method, query, content_type, body=body, **options)


def conditions(manager: str, *types: str) -> Step:
    """Return the step that applies a status with these conditions."""
    common = {"status": "True", "reason": "x", "message": "", "lastTransitionTime": "2026-11-21T08:00:00Z"}
    body = copy(BASES["NodePool"])
    del body["spec"]
    body["metadata"] = {"name": "memory-0"}
    body["status"] = {"conditions": [{"type": each, **common} for each in types]}
    return apply("NodePool", manager, body=body, subresource="status")


def changed(kind: str, **spec: Any) -> Body:  # noqa: ANN401 - whatever a spec has
    """Return the usual spec of a kind with some of it changed."""
    return {**BASES[kind]["spec"], **spec}


OTHERS: Body = {"metadata": {"managedFields": []}}
DELETE = Step("delete", "NodePool", "memory-0", "DELETE", {})
SHRUNK = {
    "owners that are emptied are forgotten of a built-in kind": [
        apply("ConfigMap"), send("ConfigMap", "PATCH", OTHERS, MERGE), apply("ConfigMap", "flux"),
    ],
    "and kept of a custom kind": [
        apply("NodeOverlay"), send("NodeOverlay", "PATCH", OTHERS, MERGE), apply("NodeOverlay", "flux"),
    ],
    "whoever applies first where nobody owns anything": [
        apply("NodePool"),
        send("NodePool", "PATCH", {"metadata": {"managedFields": [{}]}}, MERGE),
        apply("NodePool", part=changed("NodePool", weight=11)),
    ],
    "a part of what has one owner is owned": [
        apply("NodePool"),
        send(
            "NodePool",
            "PATCH",
            {"metadata": {"managedFields": [{
                "manager": "gpupool", "operation": "Apply", "apiVersion": "karpenter.sh/v1", "fieldsType": "FieldsV1",
                "time": "2026-11-21T08:00:00Z",
                "fieldsV1": {"f:spec": {"f:template": {"f:metadata": {"f:labels": {"f:team": {}}}}, "f:weight": {}}},
            }]}},
            MERGE,
        ),
        apply("NodePool", part=changed("NodePool", weight=11)),
    ],
    "a body that is wrong, of a name that is taken": [
        apply("NodePool"),
        send("NodePool", "POST", {**BASES["NodePool"], "metadata": {"name": "memory-0"}, "spec": changed("NodePool", weight=101)}),
    ],
    "a list that is a map": [
        send("NodeOverlay", "POST", {**BASES["NodeOverlay"], "metadata": {"name": "memory-0"}, "spec": {"requirements": {"key": "a"}}}),
    ],
    "a replacement without a namespace": [
        apply("ConfigMap"), send("ConfigMap", "PUT", {**BASES["ConfigMap"], "metadata": {"name": "memory-0"}}),
    ],
    "a map that had keys is applied empty": [apply("NodePool"), apply("NodePool", part=changed("NodePool", limits={}))],
    "a map that others fill is applied empty": [
        apply("NodePool"),
        send("NodePool", "PATCH", {"spec": {"limits": {"memory": "1Ti"}}}, MERGE),
        apply("NodePool", part=changed("NodePool", limits={})),
    ],
    "a struct that is empty": [apply("Lease", part={}), apply("Lease"), apply("Lease", part={})],
    "a Lease that a PUT creates": [send("Lease", "PUT", {**BASES["Lease"], "metadata": {"name": "memory-0"}})],
    "a Lease that a PUT with a uid does not create": [
        send("Lease", "PUT", {**BASES["Lease"], "metadata": {"name": "memory-0"}}, known=Known(WRONG, WRONG)),
    ],
    "an apply to what is gone": [
        apply("NodePool"), DELETE, apply("NodePool", known=Known(uid=CURRENT)), apply("NodePool", known=Known(version=CURRENT)),
    ],
    "the status of what does not exist": [conditions("gpupool", "Ready")],
    "conditions of two managers": [
        apply("NodePool"), conditions("flux", "Ready", "SubnetsReady", "AMIsReady"),
        conditions("gpupool", "SubnetsReady", "Ready"), conditions("gpupool", "AMIsReady", "Other", "Ready"),
        conditions("flux"), conditions("gpupool", "New"),
    ],
    "a condition of which one manager keeps a part": [
        apply("NodePool"),
        send("NodePool", "PATCH", {"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "x", "message": "",
                                                               "lastTransitionTime": "2026-11-21T08:00:01Z"}]}}, MERGE, subresource="status"),
        conditions("flux", "Ready"), conditions("flux"),
    ],
    "what is held is deleted, and let go": [
        apply("NodePool"), send("NodePool", "PATCH", {"metadata": {"finalizers": ["example.com/a"]}}, MERGE), DELETE, DELETE,
        apply("NodePool", part=changed("NodePool", weight=11)),
        send("NodePool", "PATCH", {"metadata": {"finalizers": ["example.com/a", "example.com/b"]}}, MERGE),
        send("NodePool", "PATCH", {"metadata": {"finalizers": None}}, MERGE), DELETE,
    ],
}  # fmt: skip
"""Stories in which the two once differed, and those that their rules are easiest to read in."""


@pytest.mark.parametrize("story", SHRUNK.values(), ids=SHRUNK)
def test_stories_that_once_differed(real: Callable[[Request], Response], story: list[Step]) -> None:
    compare(real, story)


def test_pages(real: Callable[[Request], Response]) -> None:
    """A list that is read page by page is as it was when it was begun."""
    memory = MemoryServer().ask
    views = []
    for ask_one in (real, memory):
        for name in ("memory-0", "memory-1"):
            body = {**BASES["NodePool"], "metadata": {"name": name}}
            assert (
                ask_one(Request("POST", COLLECTIONS["NodePool"], {"fieldManager": "x"}, body)).status == 201
            )
        first = ask_one(Request("GET", COLLECTIONS["NodePool"], {"limit": "1"}))
        token = plain_map(first.body["metadata"])["continue"]
        assert ask_one(Request("DELETE", f"{COLLECTIONS['NodePool']}/memory-1")).ok
        second = ask_one(Request("GET", COLLECTIONS["NodePool"], {"limit": "1", "continue": str(token)}))
        views.append([page_view(first), page_view(second)])
    assert views[0] == views[1] == [(200, ["memory-0"], True), (200, ["memory-1"], False)]


def test_lists_by_label(real: Callable[[Request], Response]) -> None:
    memory = MemoryServer().ask
    views = []
    for ask_one in (real, memory):
        for name, labels in (("memory-0", {"a.b/c": "x"}), ("memory-1", {"a.b/c": "y"}), ("memory-2", {})):
            body = {**BASES["NodePool"], "metadata": {"name": name, "labels": labels}}
            ask_one(Request("POST", COLLECTIONS["NodePool"], {"fieldManager": "x"}, body))
        selectors = ("a.b/c=x", "a.b/c=z", "d=x", "a.b/c in (x)", "a.b/c in (v,y,x)", "a.b/c in (v,w)")
        found = [
            ask_one(Request("GET", COLLECTIONS["NodePool"], {"labelSelector": each})) for each in selectors
        ]
        views.append([page_view(each) for each in found])
    found_names = [["memory-0"], [], [], ["memory-0"], ["memory-0", "memory-1"], []]
    assert views[0] == views[1] == [(200, names, False) for names in found_names]


def page_view(answer: Response) -> tuple[int, list[str], bool]:
    body: Any = answer.body
    return (
        answer.status,
        [each["metadata"]["name"] for each in body["items"]],
        bool(body["metadata"].get("continue")),
    )


def test_what_is_not_there(real: Callable[[Request], Response]) -> None:
    """Kinds that are not served, namespaces that do not exist, and the CRDs."""
    memory = MemoryServer(missing=["NodeClaim"]).ask
    known = [
        Request("GET", "/apis/karpenter.sh/v9/nodepools"),
        Request("GET", "/apis/karpenter.sh/v1/nodepool"),
        Request("GET", "/api/v1/namespaces/nowhere"),
        Request("GET", "/api/v1/namespaces/nowhere/configmaps/x"),
        Request(
            "POST",
            "/api/v1/namespaces/nowhere/configmaps",
            {"fieldManager": "x"},
            {**BASES["ConfigMap"], "metadata": {"name": "x"}},
        ),
        Request("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodepools.karpenter.example"),
    ]
    for request in known:
        expected, found = real(request), memory(request)
        assert (found.status, found.body.get("reason")) == (expected.status, expected.body.get("reason")), (
            request
        )
        assert found.body["message"] == str(expected.body["message"]).strip()
    assert memory(Request("GET", "/apis/karpenter.sh/v1/nodeclaims")).status == 404
    for name in NEEDED:
        request = Request("GET", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}")
        found = MemoryServer().ask(request)
        assert digest_crd(found.body) == digest_crd(real(request).body), name


def test_generated_stories(api_server: ApiServer, real: Callable[[Request], Response]) -> None:
    outcomes: Counter[str] = Counter()
    length = 0
    for seed in range(SEED, SEED + -(-STEPS // LENGTH)):
        story = [*steps(seed, LENGTH)]
        length += len(story)
        outcomes += compare(real, story)
        clear(api_server)
    assert length >= STEPS
    seldom = {name: outcomes[name] for name in EXPECTED if outcomes[name] < FEWEST}
    assert seldom == {}, outcomes
    assert {step.name for seed in range(SEED, SEED + 9) for step in steps(seed, LENGTH)} <= {
        name.rpartition(" ")[0] for name in outcomes
    }
