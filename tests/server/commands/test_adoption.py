"""Objects that gpupool did not make: refused, taken over where that is said, and never taken from another blueprint."""

from pathlib import Path

import pytest
import yaml

from gpupool.rollout.inventory.store import InventoryRef
from tests.cli.blueprints import TOP
from tests.cli.run import Outcome
from tests.server.commands.scene import CHAT, QUICK, TRAIN, Scene

POOL, CLASS = "NodePool/chat", "EC2NodeClass/chat"
BY_HAND = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: chat, labels: {team: a}, annotations: {example.com/contact: me}}
spec:
  weight: 50
  template:
    metadata: {labels: {tier: a}}
    spec:
      expireAfter: 24h
      startupTaints: [{key: example.com/agent, effect: NoExecute}]
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: chat}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
  limits: {cpu: 100, nvidia.com/gpu: 4}
"""
STAYS = {
    "spec.limits.cpu": "100",
    "spec.weight": "50",
    "spec.template.spec.startupTaints": '[{"effect": "NoExecute", "key": "example.com/agent"}]',
}
"""What the blueprint does not say; the server's defaults, and lists and maps that it says otherwise, are not among it."""

PART_OF = "applyset.kubernetes.io/part-of"
ADOPT = ("--adopt", POOL)


def adopt(scene: Scene, *arguments: str) -> Outcome:
    return scene.run("apply", *QUICK, "--yes", "--context", "rig", *ADOPT, *arguments)


def residue(said: Outcome) -> dict[str, str]:
    """Read the section of what stays: the value of each path."""
    section = said.out.partition("Residue: ")[2].partition("\n\n")[0].splitlines()[1:]
    assert all(line.endswith("; by kubectl-create") for line in section), section
    found = (line.removesuffix("; by kubectl-create").split(maxsplit=1)[1] for line in section)
    return dict(each.split(": ", 1) for each in found)


@pytest.fixture
def by_hand(scene: Scene) -> Scene:
    """A pool that somebody created with kubectl, and a blueprint that has one of that name."""
    scene.create(BY_HAND)
    return scene


@pytest.mark.parametrize(
    "command", [["diff"], ["plan"], ["apply", *QUICK, "--yes", "--context", "rig"]], ids=" ".join
)
def test_is_refused_with_the_flag_that_would_take_it(by_hand: Scene, command: list[str]) -> None:
    before = by_hand.versions()

    said = by_hand.run(*command)

    assert said.code == 4
    assert f"! keep {POOL}  gpupool.yaml:7\n    blocked: not created by gpupool (kubectl-create)" in said.out
    assert said.err == (
        f"error: conflict: another owner manages {POOL}. Nothing was applied. To adopt: --adopt {POOL}\n"
    )
    assert residue(said) == STAYS
    assert by_hand.versions() == before


@pytest.mark.parametrize("manager", ["kubectl-client-side-apply", "terraform", "Mozilla"])
def test_whoever_made_it(scene: Scene, manager: str) -> None:
    scene.create(BY_HAND, by=manager)

    refused, taken = scene.run("diff"), adopt(scene)

    assert (refused.code, taken.code) == (4, 0), taken.err
    assert f"not created by gpupool ({manager})" in refused.out
    assert scene.run("diff").code == 0


MARKS: dict[str, tuple[str, dict[str, dict[str, str]], str]] = {
    "argocd": (
        "kubectl-create", {"annotations": {"argocd.argoproj.io/tracking-id": "gpus:karpenter.sh/NodePool:/chat"}},
        "Argo CD manages it (annotation argocd.argoproj.io/tracking-id: gpus:karpenter.sh/NodePool:/chat)",
    ),
    "argocd by its writer": ("argocd-controller", {}, "Argo CD manages it (field manager argocd-controller)"),
    "flux": (
        "kubectl-create", {"labels": {"kustomize.toolkit.fluxcd.io/name": "gpus"}},
        "Flux manages it (label kustomize.toolkit.fluxcd.io/name: gpus)",
    ),
    "helm": (
        "kubectl-create", {"annotations": {"meta.helm.sh/release-name": "gpus"}},
        "Helm manages it (annotation meta.helm.sh/release-name: gpus)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mark", MARKS)
def test_what_another_tool_manages_takes_its_name(scene: Scene, mark: str) -> None:
    manager, metadata, words = MARKS[mark]
    tool = mark.partition(" ")[0]
    body = yaml.safe_load(BY_HAND)
    for key, said in metadata.items():
        body["metadata"][key] = {**body["metadata"][key], **said}
    scene.create(yaml.safe_dump(body), by=manager)
    before = scene.versions()

    refused = adopt(scene)

    assert refused.code == 4
    assert words in refused.out
    assert refused.err.endswith(f"To adopt: --adopt {POOL} --adopt-from {tool}\n")
    assert scene.versions() == before

    taken = adopt(scene, "--adopt-from", tool)

    assert taken.code == 0, taken.err
    assert f"{POOL}: {words}: " in taken.out
    again = scene.run("diff")
    assert again.code == 0
    assert f"{POOL}: {words}: " in again.out, "as long as the tool has it"


def test_what_has_an_owner_takes_that_word(scene: Scene) -> None:
    scene.create(BY_HAND)
    owner = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "name": "team",
        "uid": "00000000-0000-4000-8000-000000000000",
    }
    scene.edit(POOL, {"metadata": {"ownerReferences": [owner]}})

    refused, taken = adopt(scene), adopt(scene, "--adopt-from", "owner")

    assert (refused.code, taken.code) == (4, 0), taken.err
    assert (
        "Namespace/team manages it (owner reference): Kubernetes deletes the object with its owner"
        in refused.out
    )


def test_a_tool_that_nobody_knows(scene: Scene) -> None:
    said = adopt(scene, "--adopt-from", "spinnaker")

    assert (said.code, said.err) == (
        64,
        "error: --adopt-from spinnaker: expected one of argocd, flux, helm, owner\n",
    )


def test_shows_what_stays_before_it_takes(by_hand: Scene) -> None:
    said = by_hand.run("plan", *ADOPT)

    assert said.code == 0, said.err
    assert f"~ take over and update {POOL}  gpupool.yaml:7\n    gpupool adopts it\n" in said.out
    assert "    ~ spec.limits[nvidia.com/gpu]: 4 -> 8  gpupool.yaml:7:62\n" in said.out
    assert "Shown by cause" not in said.out
    assert residue(said) == STAYS
    assert ("Drift:" in said.out, "(drift" in said.out) == (False, False)


def test_takes_what_the_blueprint_says_and_no_more(by_hand: Scene) -> None:
    before = by_hand.there(POOL)

    said = adopt(by_hand)

    assert said.code == 0, said.err
    assert f"{POOL} taken over\n" in said.err
    after = by_hand.there(POOL)
    spec, template = after["spec"], after["spec"]["template"]
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert (spec["limits"], spec["weight"]) == ({"cpu": 100, "nvidia.com/gpu": 8}, 50)
    assert template["spec"]["expireAfter"] == "336h"
    assert template["spec"]["startupTaints"] == [{"key": "example.com/agent", "effect": "NoExecute"}]
    assert ["spot"] not in [each["values"] for each in template["spec"]["requirements"]]
    assert after["metadata"]["labels"].keys() == {"team", PART_OF, "gpupool.dev/blueprint"}
    assert after["metadata"]["annotations"] == {"example.com/contact": "me"}
    assert by_hand.listed() == [CLASS, POOL]


def test_afterwards_there_is_nothing_to_do_and_what_stays_is_said(by_hand: Scene) -> None:
    adopt(by_hand)
    before = by_hand.versions()

    shown, again = by_hand.run("diff"), adopt(by_hand)

    assert (shown.code, again.code, again.err) == (0, 0, "nothing to do\n")
    assert residue(shown) == STAYS
    assert by_hand.versions() == before


def test_what_was_taken_over_is_gpupool_s_to_change_and_to_delete(by_hand: Scene) -> None:
    adopt(by_hand)
    by_hand.says(CHAT.replace("gpus: 8", "gpus: 16"))
    changed = by_hand.apply()
    by_hand.says(TRAIN)

    pruned = by_hand.apply("--prune")

    assert f"{POOL} configured\n" in changed.err
    assert f"{POOL} deleted\n" in pruned.err
    assert by_hand.live(POOL) is None


def test_a_saved_plan_takes_over_without_a_word_more(by_hand: Scene) -> None:
    plan = by_hand.plan(*ADOPT)

    said = by_hand.run("apply", "plan.json", *QUICK)

    assert plan.consent.adopt == (POOL,)
    assert said.code == 0, said.err
    assert f"{POOL} taken over\n" in said.err


def test_a_plan_without_it_takes_nothing_over(scene: Scene) -> None:
    scene.plan()
    scene.create(BY_HAND)

    said = scene.run("apply", "plan.json", *QUICK)

    assert said.code == 5
    assert scene.there(POOL)["spec"]["weight"] == 50


def test_what_is_edited_between_the_plan_and_the_taking(by_hand: Scene) -> None:
    by_hand.plan(*ADOPT)
    by_hand.edit(POOL, {"spec": {"limits": {"nvidia.com/gpu": 6}}})

    said = by_hand.run("apply", "plan.json", *QUICK)

    assert said.code == 5
    assert "approved: spec.limits[nvidia.com/gpu]: 4 -> 8\n" in said.err
    assert "now:      spec.limits[nvidia.com/gpu]: 6 -> 8\n" in said.err


def test_each_object_is_named(by_hand: Scene) -> None:
    by_hand.create(
        "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: chat}\nspec:\n"
        "  role: by-hand\n  tags: {team: a}\n  amiSelectorTerms: [{alias: al2023@latest}]\n"
        "  subnetSelectorTerms: [{id: subnet-1}]\n  securityGroupSelectorTerms: [{id: sg-1}]\n"
    )  # fmt: skip

    one = adopt(by_hand)
    both = adopt(by_hand, "--adopt", CLASS)

    assert (one.code, both.code) == (4, 0), both.err
    assert f"To adopt: --adopt {CLASS}\n" in one.err
    assert f'{CLASS} spec.tags.team: "a"; by kubectl-create\n' in both.out
    assert by_hand.there(CLASS)["spec"]["subnetSelectorTerms"] == [
        {"tags": {"karpenter.sh/discovery": "my-cluster"}}
    ]
    assert (by_hand.there(CLASS)["spec"]["role"], by_hand.there(CLASS)["spec"]["tags"]) == (
        "KarpenterNodeRole-my-cluster",
        {"team": "a"},
    )


def test_what_the_server_would_refuse_is_not_taken_over(scene: Scene) -> None:
    """What never changes on an object does not change because it is taken over either."""
    body = yaml.safe_load(BY_HAND)
    body["spec"]["template"]["spec"]["nodeClassRef"] = {
        "group": "example.com",
        "kind": "Machine",
        "name": "chat",
    }
    scene.create(yaml.safe_dump(body))
    before = scene.versions()

    said = adopt(scene)

    assert said.code == 1
    assert "create a pool with another name" in said.out
    assert scene.versions() == before


class TestOfOthers:
    """What belongs to another blueprint, or to an ApplySet of kubectl's, is not taken whatever is said."""

    @pytest.mark.parametrize(
        "flags", [(), ADOPT, (*ADOPT, "--on-conflict", "take")], ids=["", "adopt", "take"]
    )
    @pytest.mark.parametrize(
        "owner", [InventoryRef("kube-system", "gpupool-other").id, "applyset-of-kubectl-v1"]
    )
    def test_is_never_taken(self, scene: Scene, owner: str, flags: tuple[str, ...]) -> None:
        scene.create(BY_HAND, **{PART_OF: owner})
        before = scene.versions()

        said = scene.run("apply", *QUICK, "--yes", "--context", "rig", *flags)

        assert said.code == 4
        assert f"it belongs to another ApplySet ({PART_OF}: {owner}); remove it there first" in said.out
        assert "--adopt" not in said.err
        assert scene.versions() == before

    def test_a_second_blueprint_with_a_pool_of_the_same_name(self, scene: Scene) -> None:
        scene.apply()
        other = f"{TOP}pools:\n  {CHAT}\n".replace("name: demo", "name: other")
        Path("other.yaml").write_text(other, "utf-8")
        before = scene.versions()

        said = scene.run(
            "apply", "-f", "other.yaml", *QUICK, "--yes", "--context", "rig", *ADOPT, "--adopt", CLASS
        )

        assert said.code == 4
        assert said.out.count("it belongs to another blueprint, demo") == 2
        assert scene.versions() == before


@pytest.mark.parametrize("name", ["NodePool/chta", "NodePool/train", "EC2NodeClass/other"])
def test_a_name_that_the_blueprint_does_not_have(by_hand: Scene, name: str) -> None:
    before = by_hand.versions()

    said = by_hand.run("apply", *QUICK, "--yes", "--context", "rig", "--adopt", name)

    assert (said.code, said.out) == (64, "")
    assert said.err == f"error: --adopt {name}: the object is not in the blueprint\n"
    assert by_hand.versions() == before
