"""What keeps an object that is no longer in the blueprint: each guard by itself, the rest done all the same."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from gpupool.cluster.resources import EC2_NODE_CLASS, NODE_CLAIM, NODE_POOL
from gpupool.errors import GpupoolError, GuardError, InputError
from gpupool.planning.foreign_fields import PART_OF
from gpupool.planning.plan import Consent
from tests.server.laws.worlds import world
from tests.server.objects import NODE_POOL as SOME_POOL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.rig.server import ApiServer
    from tests.server.laws.worlds import World

NAME: Final = "held-back"
PRUNE: Final = Consent(prune=True, max_deletes=9)
POOLS: Final[dict[str, dict[str, Any]]] = {
    "kept": {"profile": "training", "accelerator": "h100", "limits": {"gpus": 8}},
    "gone": {"profile": "batch-spot", "accelerator": "l4", "limits": {"gpus": 4}},
    "gone-too": {"profile": "training", "accelerator": "a100", "limits": {"gpus": 16}},
}
ALL: Final = {f"{kind}/{name}" for kind in ("NodePool", "EC2NodeClass") for name in POOLS}
GONE: Final = {each for each in ALL if "gone" in each}


@pytest.fixture
def here(api_server: ApiServer) -> Iterator[World]:
    """Yield a server with nothing on it, NodeClaims included."""
    with world(api_server) as found:
        yield found
        api_server.request("DELETE", NODE_CLAIM.path)


@pytest.fixture
def files(here: World, tmp_path: Path) -> list[str]:
    """Return the blueprint, two pools of which were there and are in it no more."""
    here.apply(written(tmp_path, POOLS))
    assert here.uids().keys() == ALL
    return written(tmp_path, {"kept": POOLS["kept"]})


def written(folder: Path, pools: dict[str, Any], **more: Any) -> list[str]:  # noqa: ANN401 - words of a blueprint
    """Write a blueprint of these pools."""
    said = {
        "apiVersion": "gpupool.dev/v1alpha1",
        "kind": "Blueprint",
        "metadata": {"name": NAME},
        "cluster": {"name": "c", "region": "us-east-1"},
        "defaults": {"nodeClass": {"ami": "al2023@v20260810"}},
        "pools": pools,
        **more,
    }
    path = folder / f"{'-'.join(pools)}.yaml"
    path.write_text(yaml.safe_dump(said), "utf-8")
    return [str(path)]


def claim(here: World, pool: str, name: str = "claim", node_class: str = "") -> None:
    """Make a node of a pool, as Karpenter would; its class is of the pool's name where no other is named."""
    reference = {"group": EC2_NODE_CLASS.group, "kind": EC2_NODE_CLASS.name, "name": node_class or pool}
    said = {
        "apiVersion": NODE_CLAIM.api_version,
        "kind": NODE_CLAIM.name,
        "metadata": {"name": f"{pool}-{name}", "labels": {"karpenter.sh/nodepool": pool}},
        "spec": {"nodeClassRef": reference, "requirements": []},
    }
    assert here.server.request("POST", NODE_CLAIM.path, json.dumps(said).encode()).status == 201


def pruned(here: World, files: list[str], consent: Consent = PRUNE) -> tuple[set[str], str]:
    """Apply; give what was deleted, by the audit log, and what was said of what was held back."""
    mark, why = here.server.audit.mark(), ""
    try:
        here.apply(files, consent)
    except GuardError as problem:
        why = str(problem)
    kinds = {kind.plural: kind.name for kind in (EC2_NODE_CLASS, NODE_POOL)}
    events = [each for each in here.server.audit.since(mark) if each.verb == "delete"]
    return {f"{kinds[each.resource]}/{each.name}" for each in events if each.resource in kinds}, why


def test_all_that_is_gone_goes(here: World, files: list[str]) -> None:
    kept = here.uids()["NodePool/kept"]
    assert pruned(here, files) == (GONE, "")
    assert here.uids().keys() == ALL - GONE
    assert here.uids()["NodePool/kept"] == kept
    assert here.apply(files, PRUNE) is None


def test_nothing_goes_without_consent(here: World, files: list[str]) -> None:
    plan = here.look(files).plan
    assert [(each.name, each.passed, each.remedy) for each in plan.guards] == [("prune", True, "--prune")]
    assert pruned(here, files, Consent(max_deletes=9, allow_delete=("NodePool/gone",))) == (set(), "")
    assert here.uids().keys() == ALL


@pytest.mark.usefixtures("files")
def test_no_more_goes_than_was_said(here: World, tmp_path: Path) -> None:
    changed = written(tmp_path, {"kept": {**POOLS["kept"], "weight": 7}})
    gone, why = pruned(here, changed, replace(PRUNE, max_deletes=1))
    assert gone == set()
    assert here.uids().keys() == ALL
    assert "2 NodePools would be deleted, but --max-deletes is 1" in why
    assert "nothing was applied" in why
    assert "weight" not in here.objects()["NodePool/kept"]["spec"]


@pytest.mark.usefixtures("files")
def test_a_pool_with_nodes_is_kept_with_its_class_and_the_rest_goes(here: World, tmp_path: Path) -> None:
    claim(here, "gone")
    changed = written(tmp_path, {"kept": {**POOLS["kept"], "weight": 7}})

    gone, why = pruned(here, changed)

    assert gone == {"NodePool/gone-too", "EC2NodeClass/gone-too"}
    assert "NodePool/gone: it still has 1 NodeClaim" in why
    assert "EC2NodeClass/gone: NodePool/gone refers to it" in why
    assert here.objects()["NodePool/kept"]["spec"]["weight"] == 7
    assert pruned(here, changed)[0] == set()
    here.server.request("DELETE", NODE_CLAIM.path)
    assert pruned(here, changed) == ({"NodePool/gone", "EC2NodeClass/gone"}, "")


def test_one_with_nodes_goes_where_it_is_named(here: World, files: list[str]) -> None:
    claim(here, "gone")
    claim(here, "gone-too")
    gone, why = pruned(here, files, replace(PRUNE, allow_delete=("NodePool/gone",)))
    assert gone == {"NodePool/gone"}
    assert "EC2NodeClass/gone: it still has 1 NodeClaim" in why, "nobody ends it here"
    assert "NodePool/gone-too: it still has 1 NodeClaim" in why


def test_nodes_that_come_after_the_plan_keep_it_too(here: World, files: list[str]) -> None:
    session = here.look(files, PRUNE)
    claim(here, "gone")
    claim(here, "gone", "another")

    outcomes = {each.address: each for each in here.carry_out(session).outcomes}

    assert (outcomes["NodePool/gone"].state, outcomes["EC2NodeClass/gone"].state) == (
        "held back",
        "held back",
    )
    assert "2 NodeClaims" in outcomes["NodePool/gone"].message
    assert outcomes["NodePool/gone-too"].state == "done"


def test_a_class_that_somebody_elses_pool_refers_to_is_kept(here: World, files: list[str]) -> None:
    body = yaml.safe_load(SOME_POOL)
    body["metadata"]["name"] = "by-hand"
    body["spec"]["template"]["spec"]["nodeClassRef"]["name"] = "gone"
    here.put("NodePool/by-hand", body)

    gone, why = pruned(here, files)

    assert gone == GONE - {"EC2NodeClass/gone"}
    assert why == ""
    kept = "EC2NodeClass/gone is no longer in the blueprint and is kept: NodePool/by-hand refers to it"
    assert kept in here.look(files, PRUNE).plan.warnings


@pytest.mark.usefixtures("files")
def test_a_class_that_a_pool_is_taken_off_goes_at_once(here: World, tmp_path: Path) -> None:
    """What the pool refers to from now on counts, not what it did when the plan was made."""
    moved = written(
        tmp_path,
        {"kept": POOLS["kept"], "gone": {**POOLS["gone"], "nodeClass": "shared"}},
        nodeClasses={"shared": {"ami": "al2023@v20260810"}},
    )
    assert pruned(here, moved) == ({"NodePool/gone-too", "EC2NodeClass/gone-too", "EC2NodeClass/gone"}, "")


@pytest.mark.usefixtures("files")
def test_the_class_of_a_moved_pool_stays_with_its_nodes(here: World, tmp_path: Path) -> None:
    """A node that is to be replaced needs the class that it was launched from until it is gone."""
    claim(here, "gone")
    moved = written(
        tmp_path,
        {"kept": POOLS["kept"], "gone": {**POOLS["gone"], "nodeClass": "shared"}},
        nodeClasses={"shared": {"ami": "al2023@v20260810"}},
    )

    gone, why = pruned(here, moved)

    assert gone == {"NodePool/gone-too", "EC2NodeClass/gone-too"}
    assert "EC2NodeClass/gone: it still has 1 NodeClaim" in why
    assert pruned(here, moved)[0] == set()
    here.server.request("DELETE", NODE_CLAIM.path)
    assert pruned(here, moved) == ({"EC2NodeClass/gone"}, "")


def test_nodes_count_for_the_class_that_they_were_launched_from(here: World, tmp_path: Path) -> None:
    """Whatever their pool is called, and whatever class it has by now."""
    classes = {name: {"ami": "al2023@v20260810"} for name in ("before", "now")}
    here.apply(
        written(
            tmp_path,
            {"moves": {**POOLS["gone"], "nodeClass": "before"}},
            nodeClasses={**classes, "moves": classes["now"]},
        )
    )
    claim(here, "moves", node_class="before")
    moved = written(
        tmp_path, {"moves": {**POOLS["gone"], "nodeClass": "now"}}, nodeClasses={"now": classes["now"]}
    )

    plan = here.look(moved, PRUNE).plan
    gone, why = pruned(here, moved)

    counts = {each.address: each.node_claims for each in plan.changes if each.actions == ("delete",)}
    assert counts == {"EC2NodeClass/before": 1, "EC2NodeClass/moves": 0}
    assert [each.message for each in plan.guards if each.name == "in-use"] == [
        "EC2NodeClass/before still has 1 NodeClaim: it is kept until they are gone"
    ]
    assert gone == {"EC2NodeClass/moves"}
    assert "EC2NodeClass/before: it still has 1 NodeClaim" in why
    here.server.request("DELETE", NODE_CLAIM.path)
    assert pruned(here, moved) == ({"EC2NodeClass/before"}, "")


PROTECTED: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "an annotation protects it": (
        {"annotations": {"gpupool.dev/protect": "true"}},
        "gpupool.dev/protect protects it",
    ),
    "a label protects it": ({"labels": {"gpupool.dev/protect": ""}}, "gpupool.dev/protect protects it"),
    "it has an owner": (
        {"ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}]},
        "it has an owner of its own",
    ),
    "its label was taken off": ({"labels": {PART_OF: None}}, "is not this blueprint's"),
    "it was given to another set": ({"labels": {PART_OF: "applyset-x-v1"}}, "is not this blueprint's"),
    "nobody knows who owns what": ({"managedFields": [{}]}, "gpupool owns no field of it"),
}


@pytest.mark.parametrize("kind", ["NodePool", "EC2NodeClass"])
@pytest.mark.parametrize("case", PROTECTED)
def test_what_is_not_ours_to_delete(here: World, files: list[str], kind: str, case: str) -> None:
    metadata, why = PROTECTED[case]
    here.change(f"{kind}/gone", {"metadata": metadata})

    plan = here.look(files, PRUNE).plan
    gone, _ = pruned(here, files)

    assert f"{kind}/gone is no longer in the blueprint and is kept: " in "\n".join(plan.warnings)
    assert why in "\n".join(plan.warnings)
    kept = {f"{kind}/gone", "EC2NodeClass/gone"}
    assert gone == GONE - kept
    assert here.uids().keys() >= kept


def test_another_object_of_its_name(here: World, files: list[str]) -> None:
    before = here.objects()["NodePool/gone"]
    here.server.request("DELETE", NODE_POOL.path_of("gone"))
    copied = {key: before[key] for key in ("apiVersion", "kind", "spec")}
    here.put(
        "NodePool/gone", {**copied, "metadata": {"name": "gone", "labels": before["metadata"]["labels"]}}
    )

    gone, _ = pruned(here, files)

    assert gone == GONE - {"NodePool/gone", "EC2NodeClass/gone"}


@pytest.mark.parametrize("shared", [False, True], ids=["a class of its own", "a shared class"])
def test_a_pool_under_another_name_is_pointed_out(here: World, tmp_path: Path, shared: bool) -> None:
    words = {**POOLS["gone"], **({"nodeClass": "shared"} if shared else {})}
    classes = {"nodeClasses": {"shared": {"ami": "al2023@v20260810"}}} if shared else {}
    here.apply(written(tmp_path, {"before": words}, **classes))
    claim(here, "before")

    plan = here.look(written(tmp_path, {"after": words}, **classes), PRUNE).plan

    assert "NodePool/before and NodePool/after look like one renamed pool" in "\n".join(plan.warnings)
    assert "would be replaced" in "\n".join(plan.warnings)
    other = here.look(written(tmp_path, {"other": POOLS["kept"]}), PRUNE).plan
    assert "under another name" not in "\n".join(other.warnings)


HEAD: Final = b"apiVersion: gpupool.dev/v1alpha1\nkind: Blueprint\n"
LAYERS: Final[dict[str, tuple[bytes | None, set[str] | None]]] = {
    "a layer that is missing": (None, None),
    "an empty layer": (b"", None),
    "a layer of comments": (b"# pools:\n", None),
    "a layer that is no YAML": (b"pools: {", None),
    "a layer that is no text": (b"\xff\xfe\x00p", None),
    "a layer that is a list": (b"- pools\n", None),
    "no pools at all": (b"pools: null\n", None),
    "pools that are no map": (b"pools: []\n", None),
    "a pool that is nothing": (b"pools: {gone: }\n", {"NodePool/gone", "EC2NodeClass/gone"}),
    "a pool that is taken out": (b"pools: {gone: null}\n", {"NodePool/gone", "EC2NodeClass/gone"}),
    "a pool that is a text": (b"pools: {gone: ''}\n", None),
    "a pool without what it needs": (b"pools: {gone: {profile: null, accelerator: null}}\n", None),
    "a pool of another name": (b"pools: {gone: null, come: {profile: general}}\n", {"NodePool/gone", "EC2NodeClass/gone"}),
    "a word that nobody knows": (b"pool: {}\n", None),
    "another name": (b"metadata: {name: other}\n", None),
    "another inventory": (b"inventory: {namespace: default}\n", set()),
    "an inventory where there is no such namespace": (b"inventory: {namespace: nowhere}\n", set()),
    "another cluster": (b"cluster: {uid: another}\n", set()),
}  # fmt: skip
"""A second file over a good blueprint, and what may go; None where the two together are refused."""


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_that_went_wrong(here: World, tmp_path: Path, layer: str) -> None:
    base = written(tmp_path, POOLS)
    here.apply(base)
    text, may_go = LAYERS[layer]
    over = tmp_path / "over.yaml"
    if text is not None:
        over.write_bytes(HEAD + text if text[:1].isalpha() else text)
    mark = here.server.audit.mark()

    try:
        here.apply([*base, str(over)], PRUNE)
        refused = False
    except InputError:
        refused = True
    except GpupoolError as problem:
        refused = problem.exit_code == 70

    gone = {f"{each.resource}/{each.name}" for each in here.server.audit.since(mark) if each.verb == "delete"}
    objects = {each for each in gone if not each.startswith("leases/")}
    assert refused == (may_go is None)
    assert {each.replace("nodepools", "NodePool").replace("ec2nodeclasses", "EC2NodeClass") for each in objects} == (may_go or set())  # fmt: skip
