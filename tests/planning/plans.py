"""Plans as examples: one of each sort, and generated ones."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from gpupool.objects import is_pool
from gpupool.planning.compare import find_differences
from gpupool.planning.file import seal
from gpupool.planning.fingerprint import calculate_fingerprint, collect_planned_paths
from gpupool.planning.foreign_fields import BLUEPRINT, PART_OF, calculate_applyset_id
from gpupool.planning.guards import GuardInputs, check_guards
from gpupool.planning.masking import MARK
from gpupool.planning.plan import (
    FORMAT_VERSION,
    Action,
    BlueprintCause,
    BlueprintPlace,
    CauseSummary,
    Change,
    Conflict,
    Consent,
    FieldChange,
    Guard,
    InventoryState,
    Plan,
    PlanSource,
    PlanTarget,
    Precondition,
    Rejection,
    Residue,
    Summary,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

UID = "0d5e3c1a-5b0e-4a55-9d0f-7f3a4b1c2d3e"
FILES = {"gpupool.yaml": "sha256:" + "1" * 64, "prod.yaml": "sha256:" + "2" * 64}
SECRET = f"sha256:{'1a2b3c4d' * 8}"
HIDDEN = "(sensitive, sha256:1a2b3c4d)"
LABELS = {BLUEPRINT: "ml-platform", PART_OF: calculate_applyset_id("kube-system", "gpupool-ml-platform")}
"""Of every object of the blueprint."""


USD = BlueprintCause(BlueprintPlace("gpupool.yaml", 14, 20), "pool", "limits.usdPerHour")
CAPACITY = BlueprintCause(BlueprintPlace("gpupool.yaml", 13, 14), "profile training (line 8)", "capacity")
WEIGHT = BlueprintCause(BlueprintPlace("gpupool.yaml", 15, 13), "pool", "weight")


def plan(*changes: Change, **other: Any) -> Plan:  # noqa: ANN401 - whatever a plan has
    """Return a sealed plan of these changes, its summary counted."""
    made = Plan(
        format_version=FORMAT_VERSION,
        gpupool="0.1.0",
        id="",
        created_at="2026-11-21T08:00:00Z",
        expires_at="2026-11-22T08:00:00Z",
        target=PlanTarget(
            UID, "https://10.0.0.1:6443", "prod-eu", {"nodepools.karpenter.sh": "sha256:" + "3" * 64}
        ),
        source=PlanSource(
            "ml-platform", FILES, "sha256:" + "4" * 64, "1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b"
        ),
        inventory=InventoryState(
            "kube-system", "gpupool-ml-platform", "7f3a4b1c-0000-4000-8000-2d3e0d5e3c1a", 7
        ),
        consent=Consent(),
        changes=changes,
        orphans=(),
        lost=(),
        warnings=(),
        guards=guarded(changes, other.get("consent", Consent())),
        charts=(),
        summary=counted(changes),
    )
    return seal(replace(made, **other))


def guarded(changes: tuple[Change, ...], consent: Consent, *, was_complete: bool = True) -> tuple[Guard, ...]:
    """Return the guards of such a plan, in a cluster that has every class."""
    deletions = [each for each in changes if each.actions == ("delete",)]
    listed = sum(is_pool(each.ref) for each in deletions)
    wanted = sum(is_pool(each.ref) for each in changes) - listed
    admitted = [each.address for each in changes if each.admissions]
    return check_guards(GuardInputs(consent, deletions, wanted, listed, {}, admitted, was_complete))


def counted(changes: tuple[Change, ...]) -> Summary:
    """Count the changes as a plan's summary does."""
    fates = Counter(_fate(change) for change in changes)
    return Summary(
        create=fates["create"],
        update=fates["update"],
        delete=fates["delete"],
        unchanged=fates["no-op"],
        textual=fates["textual"],
        conflicts=sum(bool(change.conflicts) for change in changes),
        blocked=sum(bool(change.blocked) for change in changes),
        rejected=sum(bool(change.rejections) for change in changes),
    )


def _fate(change: Change) -> str:
    if change.blocked:
        return "blocked"
    if not change.writes:
        return "textual" if change.fields else "no-op"
    return change.actions[-1]


def pool(name: str, **spec: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever JSON holds
    """Return a NodePool of that name."""
    template = {
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"},
        "requirements": [
            {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand", "spot"]},
            {"key": "karpenter.k8s.aws/instance-gpu-name", "operator": "In", "values": ["h100"]},
        ],
        "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}],
    }
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name, "labels": dict(LABELS)},
        "spec": {"limits": {"nvidia.com/gpu": "16"}, "template": {"spec": template}, "weight": 50} | spec,
    }


def node_class(name: str) -> dict[str, Any]:
    """Return an EC2NodeClass of that name, with user data."""
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": name, "labels": dict(LABELS)},
        "spec": {
            "amiSelectorTerms": [{"alias": "al2023@v20261101"}],
            "role": "gpu-nodes",
            "userData": HIDDEN,
        },
    }


def change(address: str, *actions: Action, **other: Any) -> Change:  # noqa: ANN401 - whatever a change has
    """Return a change; its bodies are those that its actions have."""
    kind, _, name = address.partition("/")
    shown = pool(name) if kind == "NodePool" else node_class(name)
    is_new, is_gone = "create" in actions, "delete" in actions
    said: dict[str, Any] = {
        "place": None if is_gone else BlueprintPlace("gpupool.yaml", 12, 3),
        "reason": "",
        "before": None if is_new else shown,
        "after": None if is_gone else deepcopy(shown),
        "fields": (),
        "verified": "server",
    } | other
    said.setdefault("body", None if is_gone else sent(said["after"] or shown))
    said.setdefault(
        "pre", Precondition("", 0, "") if is_new else _pre(said["before"], said["after"], is_gone=is_gone)
    )
    return Change(address, actions, **said)


def _pre(before: Any, after: Any, *, is_gone: bool) -> Precondition:  # noqa: ANN401 - bodies
    uid, generation = "5b0e4a55-1111-4000-8000-000000000001", 4
    if after is None and not is_gone:
        return Precondition(uid, generation, "")
    paths = () if is_gone else collect_planned_paths(each.keys for each in find_differences(before, after))
    return Precondition(uid, generation, calculate_fingerprint(before, paths), paths)


def sent(shown: Any) -> Any:  # noqa: ANN401 - bodies
    """Return what is sent for a body as people see it: the digest in place of what is hidden."""
    if isinstance(shown, dict):
        return {key: sent(item) for key, item in shown.items()}
    return {MARK: SECRET} if shown == HIDDEN else [*map(sent, shown)] if isinstance(shown, list) else shown


def field(path: str, before: Any, after: Any, **other: Any) -> FieldChange:  # noqa: ANN401 - whatever JSON holds
    """Return a leaf that somebody changed in the blueprint."""
    op = "add" if before is None else "remove" if after is None else "replace"
    said: dict[str, Any] = {"op": op, "semantic": True, "owner": "gpupool", "cause": "intent"}
    return FieldChange(path=path, before=before, after=after, **said | other)


def _unchanged() -> Plan:
    return plan(
        *(change(address, "no-op") for address in ("EC2NodeClass/gpu", "NodePool/chat", "NodePool/train"))
    )


def _create() -> Plan:
    return plan(
        change("EC2NodeClass/gpu", "create", reason="it is not in the cluster"),
        change(
            "NodePool/train",
            "create",
            place=BlueprintPlace("prod.yaml", 31, 3),
            reason="it is not in the cluster",
        ),
        change("NodePool/chat", "no-op"),
        inventory=InventoryState("kube-system", "gpupool-ml-platform", "", 0),
        charts=(
            "helm upgrade --install nvidia-device-plugin nvdp/nvidia-device-plugin --version 0.17.4 -f values/nvidia-device-plugin.yaml",
        ),
    )


def _update() -> Plan:
    """Drift, a conflict, residue, and what nobody expected in the inventory."""
    capacity = "spec.template.spec.requirements[key=karpenter.sh/capacity-type,operator=In].values"
    before = pool("chat", weight=80, disruption={"consolidateAfter": "30s"})
    after = pool("chat", limits={"nvidia.com/gpu": "32"}, disruption={"consolidateAfter": "30s"})
    body = pool("chat", limits={"nvidia.com/gpu": "32"})
    after["spec"]["template"]["spec"]["expireAfter"] = "720h"
    before["spec"]["template"]["spec"]["requirements"][0]["values"] = ["on-demand"]
    return plan(
        change("EC2NodeClass/gpu", "no-op"),
        change(
            "NodePool/chat",
            "update",
            reason="the blueprint changed, and somebody changed it in the cluster",
            before=before,
            after=after,
            body=body,
            fields=(
                field("spec.limits[nvidia.com/gpu]", "16", "32", causes=(USD,)),
                field(f"{capacity}[]", None, "spot", causes=(CAPACITY,)),
                field("spec.template.spec.expireAfter", None, "720h", owner="", cause="default"),
                field("spec.weight", 80, 50, owner="kubectl-edit", cause="drift", causes=(WEIGHT,)),
            ),
            conflicts=(Conflict("spec.weight", "kubectl-edit", "people", "2026-11-20T17:03:00Z", WEIGHT),),
            summaries=(
                CauseSummary(USD, "500", "1000", "nvidia.com/gpu 16 → 32", ("spec.limits[nvidia.com/gpu]",)),
            ),
            inputs={"limits.usdPerHour": "1000", "weight": "50"},
            residue=(Residue("spec.disruption.consolidateAfter", "30s", "kubectl-create"),),
        ),
        change("NodePool/web", "adopt", "update", reason="gpupool adopts it", force=True, place=BlueprintPlace("gpupool.yaml", 40, 3),
               before=pool("web", weight=1), after=pool("web"), fields=(field("spec.weight", 1, 50, owner="kubectl-create"),)),
        orphans=("NodePool/copied",),
        lost=("EC2NodeClass/old",),
        consent=Consent(adopt=("NodePool/web",)),
        warnings=("`NodePool/chat`: a new limit above what the price list knows",),
    )  # fmt: skip


def _delete() -> Plan:
    consent = Consent(prune=True)
    changes = (
        change("NodePool/chat", "no-op"),
        change(
            "NodePool/a100-old",
            "delete",
            reason="the blueprint has it no more",
            before=pool("a100-old"),
            node_claims=12,
        ),
        change(
            "NodePool/idle",
            "delete",
            reason="the blueprint has it no more",
            before=pool("idle"),
            node_claims=0,
        ),
        change(
            "EC2NodeClass/old",
            "delete",
            reason="only deleted pools used it",
            before=node_class("old"),
            node_claims=0,
        ),
    )
    return plan(*changes, consent=consent, guards=guarded(changes, consent, was_complete=False))  # fmt: skip


def _kept() -> Plan:
    """Nobody agreed to the deletions."""
    return plan(
        change("NodePool/old", "delete", reason="no longer in the blueprint", node_claims=3),
        change("EC2NodeClass/old", "delete", reason="no longer in the blueprint", node_claims=0),
    )  # fmt: skip


def _textual() -> Plan:
    before = pool("chat", limits={"cpu": "1000"})
    after = pool("chat", limits={"cpu": "1k"})
    return plan(
        change("NodePool/chat", "no-op", before=before, after=after,
               fields=(field("spec.limits.cpu", "1000", "1k", semantic=False),)),
        change("NodePool/train", "no-op"),
    )  # fmt: skip


def _rejected() -> Plan:
    return plan(
        change(
            "NodePool/chat",
            "update",
            after=None,
            body=pool("chat", weight=500),
            rejections=(
                Rejection("spec.weight", "Invalid value: 500: should be less than or equal to 100", BlueprintPlace("gpupool.yaml", 18, 13)),
                Rejection("spec.template", 'Invalid value: "object": 100% wrong:\nno <b>such</b> thing', None),
            ),
        ),
        change("NodePool/foreign", "no-op", after=None, place=BlueprintPlace("prod.yaml", 7, 3),
               blocked="it is foreign: nobody says that it is gpupool's; take it over with `--adopt NodePool/foreign`",
               verified="read-only"),
        change("NodePool/going", "no-op", after=None, leaving=True, blocked="it is being deleted, and held by the finalizer karpenter.sh/termination"),
    )  # fmt: skip


def large(count: int = 500) -> Plan:
    """Return a plan with so many pools, most of them changed, some deleted."""
    made = []
    for number in range(count):
        name = f"pool-{number:03}"
        if number % 10 == 9:
            made.append(
                change(
                    f"NodePool/{name}",
                    "delete",
                    reason="the blueprint has it no more",
                    before=pool(name),
                    node_claims=number,
                )
            )
            continue
        made.append(
            change(f"NodePool/{name}", "update", place=BlueprintPlace("gpupool.yaml", 10 + number, 3), reason="the blueprint changed",
                   after=pool(name, weight=number % 50), fields=(field("spec.weight", 50, number % 50),))
        )  # fmt: skip
    return plan(
        *made,
        consent=Consent(prune=True, allow_delete=tuple(each.address for each in made if each.node_claims)),
        guards=(
            Guard("max-deletes", passed=False, message="50 pools, and 1 may be", remedy="--max-deletes 50"),
        ),
    )


EXAMPLES = {
    "unchanged": _unchanged(),
    "create": _create(),
    "update": _update(),
    "delete": _delete(),
    "kept": _kept(),
    "textual": _textual(),
    "rejected": _rejected(),
}
"""One of each sort, by name."""

TEXTS = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        ["", "`", "```", "`` ` ``", "-->", "</details>", "<script>", "@team", "#12", "[x](y)", "![x](y)", "::error::x",
         "a\nb", "\r\n", "%0A", "\x1b[31m", "\u202e", "| |", "www.example.com", "https://example.com", "\\`", "~~~", "&lt;",
         "`--prune` and `x", "# x", "- x", "1. x", "=====", "_a_ *b*"]
    ),
)  # fmt: skip
"""Texts of all sorts, and those that mean something to a reader of Markdown, HTML, terminals or workflow commands."""

VALUES: SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
_PLACES = st.builds(BlueprintPlace, TEXTS, st.integers(0, 9), st.integers(0, 9))
_FIELDS = st.builds(
    FieldChange, TEXTS, st.sampled_from(["add", "remove", "replace"]), VALUES, VALUES, st.booleans(), TEXTS,
    st.sampled_from(["intent", "drift", "default"]),
)  # fmt: skip
_CONFLICTS = st.builds(Conflict, TEXTS, TEXTS, st.sampled_from(["people", "gitops", "controller"]), TEXTS)
_ACTIONS: SearchStrategy[tuple[Action, ...]] = st.sampled_from(
    [("create",), ("update",), ("adopt", "update"), ("delete",), ("no-op",)]
)


def _few(items: SearchStrategy[Any]) -> SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, max_size=2).map(tuple)


CHANGES = st.builds(
    Change,
    address=TEXTS,
    actions=_ACTIONS,
    place=st.none() | _PLACES,
    reason=TEXTS,
    before=VALUES,
    after=VALUES,
    fields=_few(_FIELDS),
    body=VALUES,
    pre=st.builds(Precondition, TEXTS, st.integers(0, 9), TEXTS, _few(_few(TEXTS))),
    verified=st.sampled_from(["server", "read-only", "offline"]),
    conflicts=_few(_CONFLICTS),
    residue=_few(st.builds(Residue, TEXTS, VALUES, TEXTS)),
    rejections=_few(st.builds(Rejection, TEXTS, TEXTS, st.none() | _PLACES)),
    blocked=TEXTS,
    force=st.booleans(),
    node_claims=st.none() | st.integers(0, 9),
)
_TARGETS = st.builds(PlanTarget, TEXTS, TEXTS, TEXTS, st.dictionaries(TEXTS, TEXTS, max_size=2))
_SOURCES = st.builds(PlanSource, TEXTS, st.dictionaries(TEXTS, TEXTS, max_size=2), TEXTS, TEXTS)
PLANS = st.builds(
    lambda changes, **other: plan(*changes, **other),
    _few(CHANGES),
    target=_TARGETS,
    source=_SOURCES,
    orphans=_few(TEXTS),
    lost=_few(TEXTS),
    warnings=_few(TEXTS),
    guards=_few(st.builds(Guard, TEXTS, st.booleans(), TEXTS, TEXTS)),
    charts=_few(TEXTS),
)
"""Sealed plans with anything in them that JSON can hold."""
