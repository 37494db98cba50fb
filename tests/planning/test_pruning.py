"""What becomes of objects that the blueprint no longer has: nothing goes that was not proved to be ours."""

from copy import deepcopy
from itertools import product
from typing import Any

import pytest

from gpupool.objects import Ref
from gpupool.planning.foreign_fields import PART_OF
from gpupool.planning.pruning import PROTECT, Fate, ListedObject, decide_fates, is_renamed, read_node_class
from tests.planning.managed import Body, entry, owned, pool

SET = "applyset-ours-v1"
OWN = entry(owned("spec.weight"))
OURS = pool({"weight": 1}, OWN, labels={PART_OF: SET})


def changed(**metadata: Any) -> Body:  # noqa: ANN401 - whatever JSON holds
    found = deepcopy(OURS)
    found["metadata"] |= metadata
    return found


POOL = Ref("NodePool", "chat")


def fate(live: Body, uid: str = "u-1") -> Fate:
    (found,) = decide_fates([ListedObject(POOL, uid)], {POOL: live}, [], SET)
    return found


KEPT: dict[str, tuple[Body, str]] = {
    "another uid": (changed(uid="u-2"), "another object of the same name"),
    "no uid at all": (changed(uid=None), "another object of the same name"),
    "no label": (changed(labels={}), "is not this blueprint's"),
    "no labels": (changed(labels=None), "is not this blueprint's"),
    "another set's label": (changed(labels={PART_OF: "applyset-theirs-v1"}), "is not this blueprint's"),
    "nothing that we applied": (changed(managedFields=[]), "gpupool owns no field of it"),
    "only others applied it": (changed(managedFields=[entry(owned("spec.weight"), "kubectl")]), "owns no field"),
    "only written by us": (changed(managedFields=[entry(owned("spec.weight"), operation="Update")]), "owns no field"),
    "only its status": (changed(managedFields=[entry(owned("status.x"), subresource="status")]), "owns no field"),
    "an owner": (changed(ownerReferences=[{"uid": "x"}]), "it has an owner of its own"),
    "a protecting label": (changed(labels={PART_OF: SET, PROTECT: ""}), f"{PROTECT} protects it"),
    "a protecting annotation": (changed(annotations={PROTECT: "false"}), f"{PROTECT} protects it"),
}  # fmt: skip


def test_what_is_ours_goes() -> None:
    assert fate(OURS) == Fate(POOL, is_deleted=True, reason="")


def test_what_was_about_to_be_made_goes_when_all_else_says_that_it_is_ours() -> None:
    assert fate(OURS, uid="").is_deleted
    assert not fate(changed(labels={}), uid="").is_deleted
    assert not fate(changed(managedFields=[]), uid="").is_deleted


@pytest.mark.parametrize("case", KEPT)
def test_what_is_kept(case: str) -> None:
    live, why = KEPT[case]
    found = fate(live)
    assert not found.is_deleted
    assert why in found.reason


def test_one_reason_is_enough() -> None:
    """Each two of them together keep it as well: no reason hides another's."""
    for one, other in product(KEPT, KEPT):
        live = deepcopy(KEPT[one][0])
        for key, value in KEPT[other][0]["metadata"].items():
            if value != OURS["metadata"].get(key):
                live["metadata"][key] = value
        assert not fate(live).is_deleted, (one, other)


def test_only_what_is_listed_there_and_not_wanted_has_a_fate() -> None:
    live = {Ref("NodePool", name): OURS for name in ("chat", "train", "orphan")}
    listed = [ListedObject(Ref("NodePool", name), "u-1") for name in ("chat", "train", "long-gone")]
    assert decide_fates(listed, live, [Ref("NodePool", "train")], SET) == [
        Fate(POOL, is_deleted=True, reason="")
    ]
    assert decide_fates([], live, [], SET) == []


REQUIREMENTS = [
    {"key": "karpenter.k8s.aws/instance-gpu-name", "operator": "In", "values": ["h100"]},
    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
]


def nodes(name: str = "gpu", requirements: Any = REQUIREMENTS, **more: Any) -> Body:  # noqa: ANN401 - whatever JSON holds
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": name}
    return {"template": {"spec": {"nodeClassRef": reference, "requirements": requirements, **more}}}


def other_requirements(count: int) -> list[dict[str, Any]]:
    return [{"key": f"example.com/{at}", "operator": "Exists"} for at in range(count)]


CLASS: Body = {"spec": {"role": "gpu", "tags": {"a": "b"}}}
LIVE_CLASS: Body = {
    "spec": {**CLASS["spec"], "metadataOptions": {"httpTokens": "required", "httpEndpoint": "enabled"}}
}
OTHER_CLASS: Body = {"spec": {"role": "other", "tags": {"c": "d"}, "userData": "x"}}
DEFAULTS = {"expireAfter": "720h"}

RENAMED: dict[str, tuple[Body, Body, Body | None, Body | None, bool]] = {
    "the same": (nodes(), nodes(), CLASS, CLASS, True),
    "with defaults filled in": (nodes(**DEFAULTS), nodes(), LIVE_CLASS, CLASS, True),
    "with other limits and disruption": (
        {**nodes(), "limits": {"cpu": "1"}, "weight": 1, "disruption": {"consolidateAfter": "1h"}},
        {**nodes(), "limits": {"memory": "1", "a": 1, "b": 2, "c": 3}},
        CLASS, CLASS, True,
    ),
    "in another order": (nodes(), nodes(requirements=REQUIREMENTS[::-1]), CLASS, CLASS, True),
    "one of a few differs": (nodes(), nodes(expireAfter="1h"), CLASS, CLASS, True),
    "too much differs": (nodes(), nodes(requirements=REQUIREMENTS + other_requirements(4)), CLASS, CLASS, False),
    "other machines": (nodes(), nodes(requirements=other_requirements(2)), CLASS, CLASS, False),
    "a class of its own that is the same": (nodes("a"), nodes("b"), LIVE_CLASS, CLASS, True),
    "a class of its own that is another": (nodes("a"), nodes("b"), CLASS, OTHER_CLASS, False),
    "a class of its own that nobody knows": (nodes("a"), nodes("b"), None, CLASS, False),
    "one class that nobody knows": (nodes(), nodes(), None, None, True),
}  # fmt: skip


@pytest.mark.parametrize("case", RENAMED)
def test_a_pool_under_another_name(case: str) -> None:
    gone, new, gone_class, new_class, same = RENAMED[case]
    assert is_renamed({"spec": gone}, {"spec": new}, gone_class, new_class) == same


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"spec": nodes("gpu")}, ("EC2NodeClass", "gpu")),
        ({"spec": {"template": {}}}, ("", "")),
        ({"spec": None}, ("", "")),
        ({}, ("", "")),
    ],
)
def test_the_class_of_a_pool(body: Body, found: tuple[str, str]) -> None:
    assert read_node_class(body) == found
