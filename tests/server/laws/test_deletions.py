"""No input error ever deletes: mutated blueprints and inventories, with the API server's audit log as witness."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from gpupool.errors import GpupoolError
from gpupool.planning.foreign_fields import PART_OF
from gpupool.rollout.desired_state import load_desired_state
from gpupool.rollout.inventory.store import InventoryRef
from tests.cli.run import Outcome, gpupool
from tests.rig.audit import Event
from tests.rig.server import ApiServer
from tests.server.objects import NODE_POOL
from tests.tiers import volume

SEED = 20261121
BLUEPRINTS, INVENTORIES = volume(160, at_least=40), volume(80, at_least=20)
"""By default a part: `tests/rollout/decisions` asks the same of more, on the server in memory."""

NAME = "never-deleted"
PLACE = InventoryRef("kube-system", f"gpupool-{NAME}")
CONFIG_MAP = f"/api/v1/namespaces/kube-system/configmaps/{PLACE.name}"
POOLS = "/apis/karpenter.sh/v1/nodepools"
CLASSES = "/apis/karpenter.k8s.aws/v1/ec2nodeclasses"
TEXT = f"""\
apiVersion: gpupool.dev/v1alpha1
kind: Blueprint
metadata:
  name: {NAME}
cluster:
  name: c
  region: us-east-1
  context: rig
prune: true
defaults:
  nodeClass:
    ami: al2023@v20260810
pools:
  kept-a:
    profile: training
    accelerator: h100
    limits: {{gpus: 8}}
  kept-b:
    profile: batch-spot
    accelerator: l4
    limits: {{gpus: 4}}
  kept-c:
    profile: training
    accelerator: a100
    limits: {{gpus: 16}}
"""
OURS = {f"{kind}/kept-{name}" for kind in ("nodepools", "ec2nodeclasses") for name in "abc"}
FOREIGN = ("by-hand", "of-another-set", "a-copy")
APPLY = ("apply", "--yes", "--prune", "--max-deletes", "100", "--wait", "none", "-o", "json")


class World:
    """A cluster with pools of ours and of others, and the way to change what gpupool reads."""

    def __init__(self, server: ApiServer, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.server, self.file, self._capsys = server, folder / "gpupool.yaml", capsys

    def apply(self, text: str | bytes = TEXT, *more: str) -> tuple[Outcome, list[Event]]:
        """Apply a blueprint; give how it ended, and what was deleted of Karpenter's objects."""
        self.file.write_bytes(text if isinstance(text, bytes) else text.encode())
        mark = self.server.audit.mark()
        ended = gpupool(self._capsys, *APPLY, *more)
        events = self.server.audit.since(mark)
        return ended, [
            each for each in events if each.verb.startswith("delete") and each.resource != "leases"
        ]

    def restore(self) -> None:
        """Have everything again as the blueprint says."""
        ended, deleted = self.apply()
        assert ended.code == 0, ended.err
        assert deleted == []

    def names(self) -> set[str]:
        """Return every object that is there, as RESOURCE/NAME."""
        return {
            f"{path.rpartition('/')[2]}/{each['metadata']['name']}"
            for path in (POOLS, CLASSES)
            for each in self.server.request("GET", path).body["items"]
        }


@pytest.fixture
def world(
    api_server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[World]:
    """Three pools of ours with their classes, and three of others."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(api_server.kubeconfig))
    for name in FOREIGN:
        body = yaml.safe_load(NODE_POOL)
        body["metadata"] = {"name": name, "labels": labels(name)}
        assert api_server.apply(json.dumps(body).encode()).accepted
    found = World(api_server, tmp_path, capsys)
    found.restore()
    yield found
    for path in (POOLS, CLASSES):
        for name in (*FOREIGN, "kept-a", "kept-b", "kept-c"):
            api_server.request("DELETE", f"{path}/{name}")
    api_server.request("DELETE", CONFIG_MAP)


def labels(name: str) -> dict[str, str]:
    """Return the labels of a foreign pool; one was copied from ours with all that stood there."""
    return {"of-another-set": {PART_OF: "applyset-other-v1"}, "a-copy": {PART_OF: PLACE.id}}.get(name, {})


def wanted(file: Path) -> set[str] | None:
    """Return what a blueprint wants to be there, as RESOURCE/NAME; None for one that is refused."""
    try:
        found = load_desired_state([str(file)])
    except GpupoolError:
        return None
    plurals = {"NodePool": "nodepools", "EC2NodeClass": "ec2nodeclasses", "NodeOverlay": "nodeoverlays"}
    return {f"{plurals[each.ref.kind]}/{each.ref.name}" for each in found.manifests}


def mutants(count: int) -> Iterator[bytes]:
    """Yield blueprints that went wrong in one to three places; some are still valid, and mean something else."""
    chance = Random(SEED)  # noqa: S311 - it has to be the same each time
    for _ in range(count):
        lines = TEXT.splitlines(keepends=True)
        for _ in range(chance.choice([1, 1, 2, 3])):
            lines = _mutated(lines, chance)
        yield "".join(lines).encode()
    yield from (b"", b"\n", b"pools: {}\n", b"\xff\xfe", b"{", TEXT.replace("prune: true\n", "").encode())
    yield from (f"{TEXT}inventory: {{namespace: default}}\n".encode(), TEXT.replace(NAME, "renamed").encode())


def _mutated(lines: list[str], chance: Random) -> list[str]:
    at = chance.randrange(len(lines)) if lines else 0
    line = lines[at] if lines else ""
    word = line.strip() or "x"
    changed = {
        "dropped": [],
        "doubled": [line, line],
        "moved": ["  " + line],
        "back": [line.removeprefix("  ")],
        "cut": [line[: chance.randrange(len(line) + 1)] + "\n"],
        "garbled": [line.replace(word[chance.randrange(len(word))], chance.choice("{}[]:#-%&*!|>'\"z0"), 1)],
        "nulled": [line.partition(":")[0] + ": null\n"],
        "emptied": [line.partition(":")[0] + ": {}\n"],
    }
    how = chance.choice([*changed, "truncated", "block", "a pool", "a pool"])
    if how == "truncated":
        return lines[:at]
    if how == "a pool":
        starts = [index for index, each in enumerate(lines) if each.startswith("  kept-")] or [0]
        at = chance.choice(starts)
        return lines[:at] + lines[at + 4 :]
    if how == "block":
        return lines[:at] + lines[at + chance.choice([2, 4, 8]) :]
    return lines[:at] + changed[how] + lines[at + 1 :]


def test_a_blueprint_that_went_wrong_deletes_nothing_that_it_still_has(world: World) -> None:
    refused = pruned = 0
    for text in mutants(BLUEPRINTS):
        ended, deleted = world.apply(text)
        meant = wanted(world.file)
        gone = {f"{each.resource}/{each.name}" for each in deleted if each.is_done}
        said = f"{text!r}\n{ended.err}"
        assert ended.code != 70, said
        assert gone <= OURS - (meant or set()), said
        if meant is None:
            refused += 1
            assert (ended.code, deleted) == (1, []), said
        pruned += bool(gone)
        assert {f"nodepools/{name}" for name in FOREIGN} <= world.names()
        assert all("dryRun" in each.uri or each.is_done for each in deleted), said
        world.restore()

    # Both sides were met: a test in which nothing is ever deleted would say nothing.
    assert refused > BLUEPRINTS / 4
    assert pruned > BLUEPRINTS / 20


def inventories(server: ApiServer, count: int) -> Iterator[dict[str, Any]]:
    """Yield merge patches that make a good inventory wrong."""
    chance = Random(SEED)  # noqa: S311 - it has to be the same each time
    found = server.request("GET", CONFIG_MAP).body
    entries = json.loads(found["data"]["current"])
    uids = {name: server.request("GET", f"{POOLS}/{name}").body["metadata"]["uid"] for name in FOREIGN}
    for _ in range(count):
        foreign = [
            {"group": "karpenter.sh", "kind": "NodePool", "name": name, "uid": chance.choice([uids[name], "", "x"]),
             "generation": 1, "sha256": ""}
            for name in chance.sample(FOREIGN, chance.randrange(1, 4))
        ]  # fmt: skip
        kept = [_bent(each, uids, chance) for each in entries if chance.random() < 0.7]
        yield chance.choice(
            [
                {"data": {"current": json.dumps(foreign + kept)}},
                {"data": {"pending": json.dumps({"plan": "p", "entries": foreign})}},
                {"data": {"current": json.dumps(entries)[: chance.randrange(200)]}},
                {
                    "data": {
                        "current": chance.choice(
                            ["[]", "{}", "null", "[1]", '["a"]', "\x00", '[{"kind": 1}]']
                        )
                    }
                },
                {"data": {"serial": chance.choice(["-1", "x", "", "99999999999999999999"])}},
                {"data": None},
                {"metadata": {"labels": None}},
                {"metadata": {"labels": {"applyset.kubernetes.io/id": "applyset-other-v1"}}},
            ]
        )


def _bent(entry: dict[str, Any], uids: dict[str, str], chance: Random) -> dict[str, Any]:
    if chance.random() > 0.1:
        return entry
    return entry | chance.choice([{"uid": uids["by-hand"]}, {"kind": "Node"}, {"name": "by-hand"}])


def test_an_inventory_that_went_wrong_deletes_nothing(world: World) -> None:
    good = world.server.request("GET", CONFIG_MAP).body
    refused = 0
    for patch in [*inventories(world.server, INVENTORIES)]:
        body = json.dumps(patch).encode()
        assert world.server.request("PATCH", CONFIG_MAP, body, "application/merge-patch+json").status == 200

        ended, deleted = world.apply()

        assert deleted == [], (patch, ended.err)
        assert ended.code in {0, 1, 3}, (patch, ended.err)
        refused += ended.code == 1
        assert world.names() >= OURS | {f"nodepools/{name}" for name in FOREIGN}
        world.server.request("DELETE", CONFIG_MAP)
        metadata = {key: good["metadata"][key] for key in ("name", "labels", "annotations")}
        anew = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": good["data"]}
        path = CONFIG_MAP.rpartition("/")[0]
        assert world.server.request("POST", path, json.dumps(anew).encode()).status == 201
    assert refused > INVENTORIES / 5


WITHOUT_C = TEXT[: TEXT.index("  kept-c:")]


def merged(world: World, path: str, patch: dict[str, Any]) -> None:
    body = json.dumps(patch).encode()
    assert world.server.request("PATCH", path, body, "application/merge-patch+json").status == 200


@pytest.mark.parametrize(
    ("metadata", "why"),
    [
        ({"annotations": {"gpupool.dev/protect": "true"}}, "gpupool.dev/protect protects it"),
        ({"labels": {"gpupool.dev/protect": "yes"}}, "gpupool.dev/protect protects it"),
        ({"labels": {PART_OF: None}}, "is not this blueprint's"),
        ({"labels": {PART_OF: "applyset-other-v1"}}, "is not this blueprint's"),
        (
            {"ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}]},
            "it has an owner of its own",
        ),
    ],
)
def test_what_is_not_proved_to_be_ours_is_kept(world: World, metadata: dict[str, Any], why: str) -> None:
    merged(world, f"{POOLS}/kept-c", {"metadata": metadata})

    ended, deleted = world.apply(WITHOUT_C)

    assert [each.name for each in deleted if each.resource == "nodepools"] == []
    assert "nodepools/kept-c" in world.names()
    assert ended.code == 0, "what is kept for good holds nothing back"
    assert why in ended.out


def test_another_object_of_the_same_name_is_kept(world: World) -> None:
    body = world.server.request("GET", f"{POOLS}/kept-c").body
    world.server.request("DELETE", f"{POOLS}/kept-c")
    copied = {"apiVersion": body["apiVersion"], "kind": "NodePool", "spec": body["spec"]}
    copied["metadata"] = {"name": "kept-c", "labels": body["metadata"]["labels"]}
    assert world.server.apply(json.dumps(copied).encode()).accepted

    ended, deleted = world.apply(WITHOUT_C)

    assert [each.name for each in deleted if each.resource == "nodepools"] == []
    assert "another object of the same name" in ended.out


@pytest.mark.parametrize(
    ("flags", "code", "gone", "said"),
    [
        (("--max-deletes", "0"), 3, set(), "--max-deletes is 0"),
        (("--max-deletes", "1"), 0, {"nodepools/kept-c", "ec2nodeclasses/kept-c"}, ""),
    ],
)
def test_how_many_may_go(world: World, flags: tuple[str, ...], code: int, gone: set[str], said: str) -> None:
    ended, deleted = world.apply(WITHOUT_C, *flags)

    assert ended.code == code
    assert {f"{each.resource}/{each.name}" for each in deleted} == gone
    assert said in ended.err


def test_without_consent_nothing_goes(world: World) -> None:
    text = WITHOUT_C.replace("prune: true\n", "")
    world.file.write_text(text)
    mark = world.server.audit.mark()

    ended = gpupool(world._capsys, "apply", "--yes", "--wait", "none")  # noqa: SLF001 - the same test's

    deleted = [
        each for each in world.server.audit.since(mark) if each.verb == "delete" and each.resource != "leases"
    ]
    assert (ended.code, deleted) == (0, [])
    assert "NodePool/kept-c" in ended.out


def test_the_last_pool_goes_only_when_it_is_said(world: World) -> None:
    empty = TEXT[: TEXT.index("pools:")]

    refused, deleted = world.apply(empty)
    assert (refused.code, deleted) == (1, [])

    ended, deleted = world.apply(empty, "--allow-empty")
    assert ended.code == 0, ended.err
    assert {f"{each.resource}/{each.name}" for each in deleted} == OURS
    world.restore()
