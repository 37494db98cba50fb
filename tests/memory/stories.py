"""What several managers do to a few objects, step by step, as a seed has it."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import yaml

from gpupool.cluster.client import APPLY, MERGE, Method
from gpupool.cluster.resources import EC2_NODE_CLASS, NODE_OVERLAY, NODE_POOL, config_map_path, lease_path
from tests.memory.values import copy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.memory.schemas import Body

NAMESPACE: Final = "kube-system"
APPLIERS: Final = ("gpupool", "argocd-controller", "flux")
WRITERS: Final = ("kubectl-edit", "karpenter", "gpupool")
CURRENT, STALE, WRONG = "current", "stale", "wrong"
"""Which uid or resourceVersion a request names: that of the object, an earlier one, or one that never was."""

_BY_RULE: Final = "role"
"""A field that a CEL rule wants, which the server in memory knows nothing of."""

BASES: Final[dict[str, Body]] = {
    each["kind"]: each
    for each in yaml.safe_load_all("""\
apiVersion: karpenter.sh/v1
kind: NodePool
spec:
  weight: 10
  limits: {nvidia.com/gpu: 16, cpu: 1k}
  disruption:
    consolidationPolicy: WhenEmpty
    consolidateAfter: 5m
    budgets: [{nodes: 10%}, {nodes: "0", reasons: [Drifted, Underutilized]}]
  template:
    metadata:
      labels: {team: ml, workload: train}
      annotations: {example.com/note: a}
    spec:
      expireAfter: 336h
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: memory-0}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
      - {key: karpenter.k8s.aws/instance-gpu-count, operator: Gt, values: ["3"]}
      taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260810}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: c}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: c}}, {id: sg-123}]
  tags: {team: ml, cost: "7"}
  kubelet: {maxPods: 40, kubeReserved: {cpu: 100m, memory: 1Gi}}
  userData: "#!/bin/sh"
  blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 100Gi, volumeType: gp3}}]
---
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
spec:
  requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [g6.xlarge]}]
  weight: 3
  capacity: {example.com/slots: 4, example.com/more: "8"}
---
apiVersion: v1
kind: ConfigMap
data: {current: "[]", serial: "1", pending: "{}"}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
spec:
  holderIdentity: a@b/7/1f8a77c2
  leaseDurationSeconds: 60
  acquireTime: "2026-11-21T08:00:00.000000Z"
  renewTime: "2026-11-21T08:00:00.000000Z"
  leaseTransitions: 0
""")
}
COLLECTIONS: Final = {
    "NodePool": NODE_POOL.path,
    "EC2NodeClass": EC2_NODE_CLASS.path,
    "NodeOverlay": NODE_OVERLAY.path,
    "ConfigMap": config_map_path(NAMESPACE),
    "Lease": lease_path(NAMESPACE),
}
CUSTOM: Final = ("NodePool", "EC2NodeClass", "NodeOverlay")
OBJECTS: Final = (
    ("NodePool", "memory-0"), ("NodePool", "memory-1"), ("EC2NodeClass", "memory-0"), ("NodeOverlay", "memory-0"),
    ("ConfigMap", "memory-0"), ("Lease", "memory-0"),
)  # fmt: skip


class Known(NamedTuple):
    """Which uid and resourceVersion a request names; empty for none."""

    uid: str = ""
    version: str = ""


class Step(NamedTuple):
    """One request, as far as it is the same for every server."""

    name: str
    kind: str
    object: str
    method: Method
    query: dict[str, str]
    content_type: str = "application/json"
    subresource: str = ""
    body: Body | None = None
    edits: int | None = None
    """A seed by which the live object is edited and sent; None where `body` is sent."""

    known: Known = Known()

    @property
    def path(self) -> str:
        """Return the path without the query."""
        name = f"/{self.object}" if self.object and self.method != "POST" else ""
        return f"{COLLECTIONS[self.kind]}{name}{self.subresource and '/'}{self.subresource}"


def steps(seed: int, count: int) -> Iterator[Step]:
    """Draw what happens; the first steps make sure that there is something it can happen to."""
    random = Random(seed)  # noqa: S311 - no secret
    for kind, name in OBJECTS:
        if random.random() < 0.9:
            yield random.choice((_apply, _create))(random, kind, name)
    for _ in range(count):
        kind, name = random.choice(OBJECTS)
        ways = [step for step in STEPS if kind in CUSTOM or step not in _OF_CUSTOM]
        yield random.choice(ways)(random, kind, name)


def _query(random: Random, manager: str, **more: str) -> dict[str, str]:
    query = {"fieldManager": manager, "fieldValidation": "Strict", **more}
    return query | ({"dryRun": "All"} if random.random() < 0.15 else {})


def _body(random: Random, kind: str, name: str, *, is_whole: bool) -> Body:
    """Draw a body: the usual one, with some of it changed or left out."""
    body: Body = copy(BASES[kind])
    body["metadata"] = {"name": name, "labels": {"example.com/set": "a", "example.com/more": "b"}}
    if random.random() < 0.6:
        edit(random, body)
    if not is_whole and random.random() < 0.5:
        part = "data" if kind == "ConfigMap" else "spec"
        body[part] = {
            key: value
            for key, value in body.get(part, {}).items()
            if random.random() < 0.5 or key == _BY_RULE
        }
    return body


def _known(random: Random) -> Known:
    """Draw which uid and version a request names; most name none, or those that are there."""
    current = Known(CURRENT, CURRENT)
    wrong = (
        Known(CURRENT, STALE),
        Known(WRONG, CURRENT),
        Known(uid=STALE),
        Known(version=STALE),
        Known(WRONG, STALE),
    )
    return random.choice((*[Known()] * 7, current, current, *wrong))


def _apply(random: Random, kind: str, name: str) -> Step:
    manager, force = random.choice(APPLIERS), str(random.random() < 0.4).lower()
    query = _query(random, manager, force=force)
    body = _body(random, kind, name, is_whole=manager == "gpupool")
    return Step("apply", kind, name, "PATCH", query, APPLY, body=body, known=_known(random))


def _apply_usual(random: Random, kind: str, name: str) -> Step:
    """Apply the same as ever, which most often changes nothing, or takes back what others did."""
    body = copy(BASES[kind])
    body["metadata"] = {"name": name, "labels": {"example.com/set": "a"}}
    query = _query(random, random.choice(APPLIERS[:2]), force=random.choice(("true", "false")))
    return Step("apply the usual", kind, name, "PATCH", query, APPLY, body=body)


def _apply_wrong(random: Random, kind: str, name: str) -> Step:
    body = _body(random, kind, name, is_whole=True)
    spoil(random, body)
    query = _query(random, random.choice(APPLIERS), force="true")
    return Step("apply what is wrong", kind, name, "PATCH", query, APPLY, body=body)


def _apply_status(random: Random, kind: str, name: str) -> Step:
    body = {key: BASES[kind][key] for key in ("apiVersion", "kind")}
    body |= {"metadata": {"name": name}, "status": {"conditions": _conditions(random)}}
    query = _query(random, random.choice(APPLIERS[:2]), force=random.choice(("true", "false")))
    return Step("apply a status", kind, name, "PATCH", query, APPLY, "status", body=body)


def _patch_status(random: Random, kind: str, name: str) -> Step:
    body = {"status": {"conditions": _conditions(random)}, "metadata": {"labels": {"example.com/set": "z"}}}
    return Step(
        "patch the status", kind, name, "PATCH", _query(random, "karpenter"), MERGE, "status", body=body
    )


def _conditions(random: Random) -> list[Body]:
    common = {"message": "", "lastTransitionTime": f"2026-11-21T08:00:0{random.randrange(9)}Z"}
    types = random.sample(("Ready", "SubnetsReady", "AMIsReady"), random.randrange(1, 4))
    return [
        {"type": each, "status": random.choice(("True", "False")), "reason": each, **common} for each in types
    ]


def _create(random: Random, kind: str, name: str) -> Step:
    body = _body(random, kind, name, is_whole=True)
    return Step("create", kind, name, "POST", _query(random, "kubectl-create"), body=body)


def _create_wrong(random: Random, kind: str, name: str) -> Step:
    body = _body(random, kind, name, is_whole=True)
    spoil(random, body)
    return Step("create what is wrong", kind, name, "POST", _query(random, "kubectl-create"), body=body)


def _edit(random: Random, kind: str, name: str) -> Step:
    query = _query(random, random.choice(WRITERS))
    known = random.choice((Known(version=CURRENT), Known(CURRENT, CURRENT), _known(random)))
    return Step("replace", kind, name, "PUT", query, edits=random.randrange(1 << 30), known=known)


def _replace_blindly(random: Random, kind: str, name: str) -> Step:
    """Replace an object by what somebody has at hand."""
    body = _body(random, kind, name, is_whole=True)
    return Step(
        "replace blindly",
        kind,
        name,
        "PUT",
        _query(random, "kubectl-edit"),
        body=body,
        known=_known(random),
    )


def _patch(random: Random, kind: str, name: str) -> Step:
    """Change a field or two, or take some out."""
    patch: Body = {}
    for _ in range(random.choice((1, 1, 2))):
        path, value = random.choice([*_PATCHES.get(kind, ()), *_METADATA_PATCHES])
        at = patch
        for key in path[:-1]:
            inner = at.get(key) or {}
            at[key], at = inner, inner
        at[path[-1]] = copy(value)
    query = _query(random, random.choice(WRITERS))
    return Step("patch", kind, name, "PATCH", query, MERGE, body=patch, known=_known(random))


_METADATA_PATCHES: Final[tuple[tuple[tuple[str, ...], Any], ...]] = (
    (("metadata", "labels"), {"example.com/set": "b"}),
    (("metadata", "labels", "example.com/set"), None),
    (("metadata", "labels"), None),
    (("metadata", "annotations"), {"karpenter.sh/nodepool-hash": "1"}),
    (("metadata", "annotations"), {"karpenter.sh/nodepool-hash": "2", "example.com/note": "b"}),
    (("metadata", "finalizers"), ["example.com/hold"]),
    (("metadata", "finalizers"), ["example.com/hold", "example.com/more"]),
    (("metadata", "finalizers"), None),
    (("metadata", "finalizers"), None),
)
_PATCHES: Final[dict[str, tuple[tuple[tuple[str, ...], Any], ...]]] = {
    "NodePool": (
        (("spec", "weight"), 20), (("spec", "weight"), None), (("spec", "limits"), None),
        (("spec", "limits", "cpu"), "2k"), (("spec", "limits", "cpu"), None), (("spec", "limits", "memory"), "1Ti"),
        (("spec", "disruption"), None), (("spec", "disruption", "budgets"), [{}]),
        (("spec", "template", "metadata", "labels"), {"team": "web"}),
        (("spec", "template", "metadata", "annotations"), {"example.com/note": None, "example.com/other": "c"}),
        (("spec", "template", "metadata"), None), (("spec", "template", "spec", "taints"), []),
        (("spec", "template", "spec", "expireAfter"), None), (("status", "nodes"), 3),
    ),
    "EC2NodeClass": (
        (("spec", "tags"), {"team": "web"}), (("spec", "tags", "team"), None), (("spec", "tags"), None),
        (("spec", "kubelet", "maxPods"), 60), (("spec", "kubelet"), None), (("spec", "userData"), None),
        (("spec", "metadataOptions", "httpTokens"), "optional"), (("spec", "metadataOptions"), None),
        (("spec", "kubelet", "kubeReserved", "cpu"), None), (("spec", "subnetSelectorTerms"), [{"id": "subnet-1"}]),
    ),
    "NodeOverlay": (
        (("spec", "weight"), None), (("spec", "capacity"), {"example.com/slots": 5}), (("spec", "price"), "1.5"),
        (("spec", "price"), None),
    ),
    "ConfigMap": (
        (("data", "serial"), "2"), (("data", "pending"), None), (("data",), {"history": "[]"}), (("data",), None),
    ),
    "Lease": ((("spec", "renewTime"), "2026-11-21T08:00:15.000000Z"), (("spec", "leaseTransitions"), 1)),
}  # fmt: skip


def _forget_owners(random: Random, kind: str, name: str) -> Step:
    body: Body = {"metadata": {"managedFields": random.choice(([{}], []))}}
    return Step("forget the owners", kind, name, "PATCH", _query(random, "kubectl-edit"), MERGE, body=body)


def _delete(random: Random, kind: str, name: str) -> Step:
    return Step("delete", kind, name, "DELETE", {}, known=_known(random))


def _get(_: Random, kind: str, name: str) -> Step:
    return Step("get", kind, name, "GET", {})


STEPS: Final[tuple[Callable[[Random, str, str], Step], ...]] = (
    _apply, _apply, _apply, _apply_usual, _apply_usual, _apply_wrong, _apply_status, _apply_status,
    _patch_status, _create, _create_wrong, _edit, _edit, _edit, _replace_blindly, _patch, _patch, _patch, _patch,
    _forget_owners, _delete, _get,
)  # fmt: skip
_OF_CUSTOM: Final = {_apply_wrong, _apply_status, _patch_status, _create_wrong}


def edit(random: Random, body: Body) -> None:
    """Change one to three places of an object, or leave them out; its schema accepts what comes out."""
    for _ in range(random.choice((1, 1, 2, 3))):
        path, values = random.choice([*_edits()[body["kind"]], *_edits()["metadata"]])
        at: Any = body
        for key in path[:-1]:
            at = at.setdefault(key, {})
        value = random.choice(values)
        if value is None:
            at.pop(path[-1], None)
        else:
            at[path[-1]] = copy(value)


@cache
def _edits() -> dict[str, list[tuple[tuple[str, ...], tuple[Any, ...]]]]:
    requirement = {"key": "example.com/rack", "operator": "In"}
    pool, template = ("spec",), ("spec", "template", "spec")
    return {
        "metadata": [
            (("metadata", "labels"), ({"example.com/set": "b"}, {"example.com/other": "c"}, None)),
            (
                ("metadata", "annotations"),
                ({"example.com/note": "x"}, {"example.com/note": "y", "a": "b"}, None),
            ),
            (
                ("metadata", "finalizers"),
                (["example.com/hold"], ["example.com/other", "example.com/hold"], None),
            ),
        ],
        "NodePool": [
            ((*pool, "weight"), (1, 20, 100, None)),
            (
                (*pool, "limits"),
                ({"nvidia.com/gpu": 17}, {"nvidia.com/gpu": "16", "memory": "1Ti"}, {}, None),
            ),
            ((*pool, "disruption", "consolidateAfter"), ("30s", "300s", "Never")),
            (
                (*pool, "disruption", "budgets"),
                ([{"nodes": "1"}], [{"nodes": "10%"}, {"nodes": "0"}], [{}], None),
            ),
            ((*pool, "template", "metadata", "labels"), ({"team": "web"}, {"workload": "train"}, {}, None)),
            (
                (*pool, "template", "metadata", "annotations"),
                ({"example.com/note": "b"}, {"example.com/x": "c"}, {}, None),
            ),
            ((*template, "expireAfter"), ("720h", "Never", None)),
            ((*template, "taints"), ([{"key": "dedicated", "value": "ml", "effect": "NoExecute"}], [], None)),
            (
                (*template, "requirements"),
                ([{**requirement, "values": ["7", "8"]}], [{**requirement, "values": ["8", "7"]}]),
            ),
            ((*template, "nodeClassRef", "name"), ("memory-0", "other")),
            ((*template, "terminationGracePeriod"), ("1h", "60m", None)),
        ],
        "EC2NodeClass": [
            ((*pool, "tags"), ({"team": "web"}, {"cost": "7"}, {}, None)),
            ((*pool, "kubelet", "maxPods"), (20, 60, None)),
            (
                (*pool, "kubelet", "kubeReserved"),
                ({"cpu": "200m"}, {"memory": "2Gi", "cpu": "100m"}, {}, None),
            ),
            (
                (*pool, "metadataOptions"),
                ({"httpPutResponseHopLimit": 2}, {"httpTokens": "optional"}, {}, None),
            ),
            ((*pool, "userData"), ("#!/bin/bash", None)),
            ((*pool, "blockDeviceMappings"), ([], None)),
            (
                (*pool, "subnetSelectorTerms"),
                ([{"id": "subnet-1"}, {"id": "subnet-2"}], [{"tags": {"a": "b"}}]),
            ),
        ],
        "NodeOverlay": [
            ((*pool, "weight"), (1, 9, None)),
            ((*pool, "capacity"), ({"example.com/slots": 5}, {"example.com/slots": "4"}, {}, None)),
            ((*pool, "price"), ("1.5", "0.5", None)),
        ],
        "ConfigMap": [(("data",), ({"serial": "3"}, {"serial": "2", "history": "[]"}, {}, None))],
        "Lease": [
            ((*pool, "holderIdentity"), ("c@d/8/00000000", "e@f/9/11111111", None)),
            ((*pool, "renewTime"), ("2026-11-21T08:01:00.000000Z", "2026-11-21T08:02:00.000000Z")),
            ((*pool, "leaseTransitions"), (1, 2, None)),
        ],
    }


def spoil(random: Random, body: Body) -> None:
    """Make something of an object wrong by its schema."""
    path, value = random.choice(_WRONG[body["kind"]])
    at: Any = body
    for key in path[:-1]:
        at = at.setdefault(key, {})
    if value is None:
        at.pop(path[-1], None)
    else:
        at[path[-1]] = value


_WRONG: Final[dict[str, tuple[tuple[tuple[str, ...], Any], ...]]] = {
    "NodePool": (
        (("spec", "weight"), 101), (("spec", "weight"), "ten"), (("spec", "limit"), {"cpu": "1"}), (("spec", "weight"), 0),
        (("spec", "disruption", "consolidationPolicy"), "Sometimes"), (("spec", "template"), "none"),
        (("spec", "template", "spec", "nodeClassRef"), None), (("spec", "template", "spec", "expireAfter"), "soon"),
        (("spec", "template", "spec", "requirements"), {"key": "a"}), (("spec", "template", "spec", "taint"), []),
    ),
    "EC2NodeClass": (
        (("spec", "kubelet", "maxPods"), "many"), (("spec", "subnetSelectorTerms"), None), (("spec", "tag"), {}),
        (("spec", "metadataOptions", "httpTokens"), "sometimes"), (("spec", "tags"), ["a"]),
    ),
    "NodeOverlay": (
        (("spec", "weight"), "x"), (("spec", "requirements"), None), (("spec", "prices"), "1"), (("spec", "weight"), 100_000),
    ),
}  # fmt: skip
