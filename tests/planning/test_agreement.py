"""What a plan file states follows from the rest of it: each way in which it does not is named at its place."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gpupool.errors import InputError
from gpupool.findings import Finding
from gpupool.planning import agreement, file
from gpupool.planning.addresses import is_address, is_label
from gpupool.planning.change_agreement import find_missing_values
from gpupool.planning.plan import Consent, InventoryState, Plan
from gpupool.shapes.error_messages import format_path
from tests.planning.plans import EXAMPLES, HIDDEN, change, guarded, plan, pool
from tests.planning.test_file import sealed

Document = dict[str, Any]
Forge = Callable[[Document], object]


def findings(example: str, forge: Forge) -> list[str]:
    """Return where a forged plan contradicts itself, with what is said about it; it is refused for the first."""
    document = json.loads(file.render_plan(EXAMPLES[example]))
    forge(document)
    finding = refused(sealed(document))
    messages = [
        f"`{format_path(path)}`: {message}"
        for path, message in agreement.find_mistakes(file.validate_document(document))
    ]
    assert finding.message == f"invalid plan file ({messages[0]})"
    return messages


def refused(text: str) -> Finding:
    """Return the one finding for which a file is refused."""
    with pytest.raises(InputError) as caught:
        file.parse_plan(text.encode(), "plan.json")
    (finding,) = caught.value.findings
    assert finding.code == "GP0100"
    assert finding.fix == "make a new one with `gpupool plan -o json=FILE`"
    return finding


def at(document: Document, *path: str | int) -> Any:  # noqa: ANN401 - whatever JSON holds
    here: Any = document
    for key in path:
        here = here[key]
    return here


def put(*path: str | int, to: Any) -> Forge:  # noqa: ANN401 - whatever JSON holds
    """Return what writes a value at a path."""
    return lambda document: at(document, *path[:-1]).__setitem__(path[-1], to)


def drop(*path: str | int) -> Forge:
    """Return what deletes a value."""
    return lambda document: at(document, *path[:-1]).__delitem__(path[-1])


def both(*forges: Forge) -> Forge:
    return lambda document: [each(document) for each in forges]


CHAT = ("changes", 1)  # of the example `update`
OLD = ("changes", 1)  # the pool that the example `delete` deletes
BODY = (*CHAT, "body")
FORGED: dict[str, tuple[str, Forge, list[str]]] = {
    "a path in an address": (
        "update", put(*CHAT, "address", to="NodePool/../../secrets/x"),
        ["`changes[1].address`: `NodePool/../../secrets/x` is not the address of a NodePool, EC2NodeClass or NodeOverlay"],
    ),
    "a kind of another sort": (
        "delete", put(*OLD, "address", to="Secret/a100-old"),
        ["`changes[1].address`: `Secret/a100-old` is not the address", "`guards`: "],
    ),
    "an orphan with a path": ("update", put("orphans", 0, to="NodePool/a/b"), ["`orphans[0]`: `NodePool/a/b` is not"]),
    "an object twice": (
        "unchanged", lambda document: document["changes"].append(document["changes"][2]),
        ["`changes[3].address`: duplicate change of `NodePool/train`", "`summary`: "],
    ),
    "out of order": (
        "unchanged", lambda document: document["changes"].reverse(), ["`changes`: the changes are not in the order"],
    ),
    "a deletion before a write": (
        "delete", lambda document: document["changes"].insert(0, document["changes"].pop()),
        ["`changes`: the changes are not in the order"],
    ),
    "another kind in the body": (
        "update", put(*BODY, "kind", to="Secret"),
        ["`changes[1].body.kind`: expected `NodePool` in the body of `NodePool/chat`",
         "`changes[1].body.kind`: this would be sent, and `after` does not show it"],
    ),
    "another name in the body": (
        "update", both(put(*BODY, "metadata", "name", to="other"), put(*CHAT, "after", "metadata", "name", to="other")),
        ["`changes[1].body.metadata.name`: ", "`changes[1].fields`: ", "`changes[1].pre.paths`: "],
    ),
    "another version in the body": (
        "update", both(put(*BODY, "apiVersion", to="v1"), put(*CHAT, "before", "apiVersion", to="v1"), put(*CHAT, "after", "apiVersion", to="v1")),
        ["`changes[1].body.apiVersion`: expected `karpenter.sh/v1` in the body of `NodePool/chat`"],
    ),
    "labels of another set": (
        "create", both(put("changes", 1, "body", "metadata", "labels", to={}), put("changes", 1, "after", "metadata", "labels", to={})),
        ["`changes[1].body.metadata.labels[applyset.kubernetes.io/part-of]`: ", "`changes[1].body.metadata.labels[gpupool.dev/blueprint]`: "],
    ),
    "a value that is sent and not shown": (
        "update", put(*BODY, "spec", "limits", "nvidia.com/gpu", to="3200"),
        ["`changes[1].body.spec.limits[nvidia.com/gpu]`: this would be sent, and `after` does not show it"],
    ),
    "a field that is sent and not shown": (
        "create", put("changes", 1, "body", "spec", "replicas", to=500),
        ["`changes[1].body.spec.replicas`: this would be sent, and `after` does not show it"],
    ),
    "one more item in a list": (
        "create", lambda document: at(document, "changes", 1, "body", "spec", "template", "spec", "requirements").append({}),
        ["`changes[1].body.spec.template.spec.requirements`: this would be sent"],
    ),
    "finalizers, which no plan shows": (
        "create", put("changes", 1, "body", "metadata", "finalizers", to=["example.com/hold"]),
        ["`changes[1].body.metadata.finalizers`: this would be sent, and no plan shows it", "`changes[1].body.metadata.finalizers`: "],
    ),
    "a status, which no plan shows": (
        "create", put("changes", 1, "body", "status", to={"nodes": 1}), ["`changes[1].body.status`: ", "`changes[1].body.status`: "],
    ),
    "Karpenter's own annotation": (
        "create", put("changes", 1, "body", "metadata", "annotations", to={"karpenter.sh/nodepool-hash": "1"}),
        ["`changes[1].body.metadata.annotations`: annotations of kubectl", "`changes[1].body.metadata.annotations`: this would"],
    ),
    "a secret's digest of another value": (
        "create", put("changes", 0, "body", "spec", "userData", "$sensitive", to="sha256:" + "0" * 64),
        ["`changes[0].body.spec.userData`: this would be sent, and `after` does not show it"],
    ),
    "a text that looks like a hidden value": (
        "create", put("changes", 0, "body", "spec", "userData", to=HIDDEN),
        ["`changes[0].body.spec.userData`: a sensitive value is not a digest here"],
    ),
    "user data in plain text": (
        "create", both(put("changes", 0, "body", "spec", "userData", to="x"), put("changes", 0, "after", "spec", "userData", to="x")),
        ["`changes[0].body.spec.userData`: a sensitive value is not a digest here"],
    ),
    "a change that no field shows": (
        "update", drop(*CHAT, "fields", 0), ["`changes[1].fields`: these are not the differences between `before` and `after`"],
    ),
    "a field with another value": ("update", put(*CHAT, "fields", 0, "after", to="16"), ["`changes[1].fields`: "]),
    "a field that is said to mean nothing": ("update", put(*CHAT, "fields", 2, "semantic", to=False), ["`changes[1].fields`: "]),
    "a summary of another field": (
        "update", put(*CHAT, "summaries", 0, "paths", to=["spec.weight"]),
        ["`changes[1].summaries[0].paths`: these are not changed fields with this cause"],
    ),
    "a summary with another effect": (
        "update", put(*CHAT, "summaries", 0, "effect", to="nvidia.com/gpu 16 → 17"),
        ["`changes[1].summaries[0].effect`: this is not the effect of the changed fields"],
    ),
    "a summary with a cause that no field has": (
        "update", put(*CHAT, "summaries", 0, "cause", "field", to="weight"), ["`changes[1].summaries[0].paths`: "],
    ),
    "fewer paths than change": (
        "update", put(*CHAT, "pre", "paths", to=[["spec", "weight"]]), ["`changes[1].pre.fingerprint`: ", "`changes[1].pre.paths`: "],
    ),
    "another fingerprint": (
        "delete", put(*OLD, "pre", "fingerprint", to="0" * 64), ["`changes[1].pre.fingerprint`: this is not the digest of what `before` shows"],
    ),
    "another object before": (
        "delete", put(*OLD, "before", "metadata", "name", to="small"), ["`changes[1].before`: this is not `NodePool/a100-old`"],
    ),
    "residue that is not there": (
        "update", put(*CHAT, "residue", 0, "path", to="spec.replicas"), ["`changes[1].residue[0]`: "],
    ),
    "residue that is sent": (
        "update", put(*CHAT, "residue", 0, to={"path": "spec.weight", "value": 80, "owner": "x"}), ["`changes[1].residue[0]`: "],
    ),
    "a deletion with a body": ("delete", put(*OLD, "body", to=pool("a100-old")), ["`changes[1].body`: a deletion sends no object"]),
    "a deletion that shows nothing": ("delete", put(*OLD, "before", to=None), ["`changes[1].before`: a deletion shows the object"]),
    "a deletion of whatever has that name": ("delete", put(*OLD, "pre", "uid", to=""), ["`changes[1].pre`: "]),
    "a deletion that counts no nodes": (
        "delete", put(*OLD, "nodeClaims", to=None), ["`changes[1].nodeClaims`: ", "`guards`: "],
    ),
    "a deletion of fewer nodes than guarded": ("delete", put(*OLD, "nodeClaims", to=0), ["`guards`: the guards are not those"]),
    "an update without a body": ("update", put(*CHAT, "body", to=None), ["`changes[1].body`: every change but a deletion"]),
    "an update that shows nothing": (
        "create", put("changes", 1, "after", to=None), ["`changes[1].after`: a change shows what it makes"],
    ),
    "a creation of what exists": (
        "create", put("changes", 1, "pre", "uid", to="x"), ["`changes[1].pre`: an object that is created has no uid"],
    ),
    "an update called nothing": (
        "update", put(*CHAT, "actions", to=["no-op"]),
        ["`changes[1].conflicts`: ", "`changes[1].fields`: a field changes, and no action says so", "`summary`: "],
    ),
    "two actions that exclude each other": (
        "update", put(*CHAT, "actions", to=["create", "delete"]), ["`changes[1].actions`: ", "`summary`: "],
    ),
    "no action": ("update", put(*CHAT, "actions", to=[]), ["`changes[1].actions`: unknown combination of actions: none", "`summary`: "]),
    "taking over what was not agreed to": (
        "update", put("consent", "adopt", to=[]), ["`changes[2].actions`: the consent does not name this object under `adopt`"],
    ),
    "agreed to what the plan does not write": (
        "update", put("consent", "adopt", to=["NodePool/web", "NodePool/other"]), ["`consent.adopt[1]`: the plan does not write"],
    ),
    "consent to an address with a path": (
        "update", put("consent", "allowDelete", to=["NodePool/../x"]), ["`consent.allowDelete[0]`: "],
    ),
    "consent to delete, which the guards do not show": (
        "kept", put("consent", "prune", to=True), ["`guards`: the guards are not those that these changes and this consent have"],
    ),
    "consent to more deletions": ("delete", put("consent", "maxDeletes", to=9), ["`guards`: "]),
    "fewer deletions than none": ("update", put("consent", "maxDeletes", to=-1), ["`consent.maxDeletes`: "]),
    "consent in other words": ("update", put("consent", "onConflict", to="force"), ["`consent.onConflict`: "]),
    "a guard that is said to pass": ("delete", put("guards", 1, "passed", to=True), ["`guards`: "]),
    "a guard that says something else": ("delete", put("guards", 2, "message", to="all is well"), ["`guards`: "]),
    "a guard that is missing": ("delete", drop("guards", 1), ["`guards`: "]),
    "a failed guard about the cluster that passes": ("delete", put("guards", 0, "passed", to=True), ["`guards`: "]),
    "a summary of less": ("delete", put("summary", "delete", to=0), ["`summary`: the summary does not count these changes"]),
    "a rejection with a result": (
        "rejected", put("changes", 0, "after", to=pool("chat", weight=500)), ["`changes[0].pre.fingerprint`: ", "`changes[0].fields`: ", "`changes[0].pre.paths`: ", "`changes[0].rejections`: "],
    ),
    "a blocked object that is written": (
        "rejected", put("changes", 1, "actions", to=["update"]), ["`changes[1].after`: ", "`changes[1].blocked`: ", "`summary`: "],
    ),
    "no time": ("update", put("expiresAt", to="tomorrow"), ["`expiresAt`: this is not a time"]),
    "a day that no month has": ("update", put("createdAt", to="2026-02-30T08:00:00Z"), ["`createdAt`: this is not a time"]),
    "a time in another zone": ("update", put("expiresAt", to="2026-11-22T08:00:00+01:00"), ["`expiresAt`: this is not a time"]),
    "a year in other digits": ("update", put("expiresAt", to="٢٠٢٦-11-22T08:00:00Z"), ["`expiresAt`: this is not a time"]),
    "good for longer than a day": ("update", put("expiresAt", to="2026-11-22T08:00:01Z"), ["`expiresAt`: a plan expires within"]),
    "over before it began": ("update", put("expiresAt", to="2026-11-21T08:00:00Z"), ["`expiresAt`: a plan expires within"]),
    "an inventory with a path": (
        "update", put("inventory", "namespace", to="../../secrets"),
        ["`inventory.namespace`: `../../secrets` is not the name of a namespace", *["`changes["] * 3],
    ),
    "the inventory of another blueprint": (
        "update", put("inventory", "name", to="gpupool-other"), ["`inventory.name`: ", *["`changes["] * 3],
    ),
    "a blueprint with a path": (
        "unchanged", put("source", "blueprint", to="../x"), ["`source.blueprint`: ", "`inventory.name`: ", *["`changes["] * 3],
    ),
    "a serial without an inventory": ("update", put("inventory", "uid", to=""), ["`inventory.serial`: "]),
    "a signature that is none": ("update", put("signature", to="c2lnbmVk"), ["`signature`: this is not an Ed25519 signature"]),
}  # fmt: skip


@pytest.mark.parametrize(("example", "forge", "expected"), FORGED.values(), ids=FORGED)
def test_a_forged_plan_is_refused_at_its_place(example: str, forge: Forge, expected: list[str]) -> None:
    found = sorted(findings(example, forge))

    assert len(found) == len(expected), found
    assert [
        pair for pair in zip(found, sorted(expected), strict=True) if not pair[0].startswith(pair[1])
    ] == []


def test_a_mistake_has_its_path() -> None:
    document = json.loads(file.render_plan(EXAMPLES["update"]))
    document["changes"][1]["body"]["spec"]["limits"]["nvidia.com/gpu"] = "3200"

    assert refused(sealed(document)).path == "changes[1].body.spec.limits[nvidia.com/gpu]"


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_an_example_agrees(example: Plan) -> None:
    assert [*agreement.find_mistakes(example)] == []


def test_what_no_server_was_asked_about_shows_what_is_sent() -> None:
    shown = pool("chat")
    made = plan(change("NodePool/chat", "create", verified="read-only", after=shown))
    more = {**shown, "spec": {**shown["spec"], "replicas": 1}}
    forged = plan(change("NodePool/chat", "create", verified="read-only", after=more, body=shown))

    assert [*agreement.find_mistakes(made)] == []
    assert [path for path, _ in agreement.find_mistakes(forged)] == [("changes", 0, "after")]


def test_the_last_pool_of_which_only_the_class_is_left() -> None:
    """The inventory may list a pool that is gone: the guard of the last pool then stands without a deletion of one."""
    consent = Consent(prune=True)
    gone = change("EC2NodeClass/gpu", "delete", node_claims=0)
    for listed in (0, 1):
        found = replace(
            plan(gone, consent=consent),
            guards=tuple(agreement.build_expected_guards((gone,), consent, listed)),
        )
        assert [*agreement.find_mistakes(found)] == []
        assert len(found.guards) == listed


def test_a_first_plan_has_no_inventory() -> None:
    first = InventoryState("kube-system", "gpupool-ml-platform", "", 0)

    assert [*agreement.find_mistakes(replace(EXAMPLES["create"], inventory=first))] == []


def test_the_guards_of_the_examples_are_what_is_expected() -> None:
    made = EXAMPLES["delete"]

    assert [*made.guards] == [*guarded(made.changes, made.consent, was_complete=False)]


@pytest.mark.parametrize(
    ("address", "is_one"),
    [
        ("NodePool/chat", True), ("EC2NodeClass/a.b-c", True), ("NodeOverlay/1", True), (f"NodePool/{'a' * 253}", True),
        (f"NodePool/{'a' * 254}", False), ("NodePool", False), ("NodePool/", False), ("/chat", False), ("", False),
        ("NodeClaim/x", False), ("NodePool/a/b", False), ("NodePool/..", False), ("NodePool/A", False), ("NodePool/a ", False),
        ("NodePool/a\n", False), ("NodePool/é", False), ("nodepool/a", False), ("NodePool/-a", False), ("NodePool/%2e", False),
    ],
)  # fmt: skip
def test_what_an_address_is(address: str, is_one: bool) -> None:
    assert is_address(address) == is_one


def test_a_namespace_has_no_dots() -> None:
    assert is_label("kube-system")
    assert [name for name in ("", "a.b", "a/b", "a" * 64) if is_label(name)] == []


def test_a_time_is_read_as_it_is_written() -> None:
    moment = datetime(2026, 11, 22, 8, 0, 5, tzinfo=UTC)

    assert agreement.parse_time(agreement.format_time(moment)) == moment


@pytest.mark.parametrize(
    ("choice", "is_one"),
    [("fail", True), ("take", True), ("take=spec.weight", True), ("take=", False), ("fail=x", False), ("", False), ("x", False)],
)  # fmt: skip
def test_choices_about_conflicts(choice: str, is_one: bool) -> None:
    assert agreement.is_conflict_choice(choice) == is_one


@pytest.mark.parametrize(
    ("body", "after", "paths"),
    [
        ({"a": 1}, {"a": 1.0, "b": 2}, []), ({"a": True}, {"a": 1}, [("a",)]), ({"a": None}, {}, [("a",)]), ({"a": {}}, {"a": 1}, [("a",)]),
        ([{}], [{"nodes": "10%"}], []), ([1], [1, 2], [()]), ([1, 2], [2, 1], [(0,), (1,)]), ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, [("a", 0, "b")]),
    ],
)  # fmt: skip
def test_what_a_body_has_and_an_object_lacks(body: Any, after: Any, paths: list[Any]) -> None:  # noqa: ANN401
    assert [*find_missing_values(body, after)] == paths
