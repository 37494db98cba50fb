"""What is told of a field: each layer, each file, what counts, and what it became."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpupool.blueprint.load import load
from gpupool.errors import UsageError
from gpupool.expansion.expand import expand
from gpupool.provenance.trace import trace
from gpupool.provenance.values import LayerOutcome, Origin
from gpupool.rendering.render import build_manifests

HEAD = {"apiVersion": "gpupool.dev/v1alpha1", "kind": "Blueprint"}
BASE: dict[str, Any] = {
    "metadata": {"name": "ml"},
    "cluster": {"name": "prod", "region": "us-east-1", "timezone": "UTC", "zones": ["a", "b"]},
    "defaults": {
        "nodeClass": {"ami": "al2023@v20260810", "tags": {"team": "ml"}},
        "pool": {"labels": {"team": "ml"}},
    },
}


class Asker:
    """Writes files of a blueprint and asks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, asked: str, *files: dict[str, Any]) -> list[Origin]:
        paths = [str(self.folder / f"{index}.yaml") for index in range(len(files))]
        for path, words in zip(paths, (BASE | files[0], *files[1:]), strict=True):
            Path(path).write_text(yaml.safe_dump(HEAD | words, sort_keys=False), "utf-8")
        loaded = load(paths)
        return list(trace(loaded, build_manifests(expand(loaded)), asked).origins)


@pytest.fixture
def ask(tmp_path: Path) -> Asker:
    return Asker(tmp_path)


def chain(origin: Origin) -> list[tuple[str, str, Any, LayerOutcome]]:
    """Return layer, file and line, value and outcome of each."""
    return [(said.layer, Path(said.at.file).stem, said.value, said.outcome) for said in origin.chain]


def path(origin: Origin) -> str:
    return ".".join(map(str, origin.path))


def rendered(origin: Origin) -> list[tuple[str, str, Any]]:
    return [(part.object, ".".join(map(str, part.path)), part.value) for part in origin.renderings]


CHAT = {"profile": "spot-tiered", "accelerator": "l4", "limits": {"gpus": 8}}


def test_an_earlier_file_is_told_although_a_later_one_replaced_it(ask: Asker) -> None:
    first = {
        "pools": {
            "chat": {"profile": "inference", "accelerator": "l4", "expireAfter": "7d", "limits": {"gpus": 8}}
        }
    }
    (found,) = ask(
        "chat.expireAfter",
        first,
        {"pools": {"chat": {"expireAfter": "8d"}}},
        {"pools": {"chat": {"expireAfter": "9d"}}},
    )
    assert chain(found) == [
        ("profile inference", "inference", "14d", LayerOutcome.REPLACED),
        ("pool", "0", "7d", LayerOutcome.REPLACED),
        ("pool", "1", "8d", LayerOutcome.REPLACED),
        ("pool", "2", "9d", LayerOutcome.WINS),
    ]
    assert rendered(found) == [("NodePool/chat", "spec.template.spec.expireAfter", "216h")]


def test_every_layer_is_told(ask: Asker) -> None:
    pools = {"pools": {"chat": CHAT | {"capacity": "any", "tiers": {"spot": {"capacity": "reserved"}}}}}
    (found,) = ask("chat.tiers.spot.capacity", pools, {"defaults": {"pool": {"capacity": "spot"}}})
    assert path(found) == "pools.chat.tiers.spot.capacity"
    assert chain(found) == [
        ("built-in", "built-in", "on-demand", LayerOutcome.REPLACED),
        ("defaults", "1", "spot", LayerOutcome.REPLACED),
        ("profile inference", "inference", "on-demand", LayerOutcome.REPLACED),
        ("profile spot-tiered", "spot-tiered", "on-demand", LayerOutcome.REPLACED),
        ("pool", "0", "any", LayerOutcome.REPLACED),
        ("profile spot-tiered, tier spot", "spot-tiered", "spot", LayerOutcome.REPLACED),
        ("tier spot", "0", "reserved", LayerOutcome.WINS),
    ]


def test_a_null_takes_out_what_stands_below(ask: Asker) -> None:
    (found,) = ask("chat.taints", {"pools": {"chat": CHAT | {"taints": None}}})
    assert path(found) == "pools.chat.taints"
    assert found.value is None
    assert chain(found) == [
        ("profile inference", "inference", {"nvidia.com/gpu": "true:NoSchedule"}, LayerOutcome.REPLACED),
        ("pool", "0", None, LayerOutcome.REMOVES),
    ]
    assert not found.renderings


def test_a_null_of_one_file_has_no_effect_where_a_later_file_speaks_again(ask: Asker) -> None:
    first = {"pools": {"chat": CHAT | {"disruption": None}}}
    found = ask(
        "chat.disruption.consolidateAfter",
        first,
        {"pools": {"chat": {"disruption": {"consolidationPolicy": "WhenEmpty"}}}},
    )
    assert chain(found[0]) == [
        ("profile inference", "inference", "10m", LayerOutcome.WINS),
        ("pool", "0", None, LayerOutcome.REMOVES),
    ]


def test_another_word_for_the_same_field_replaces_it(ask: Asker) -> None:
    label = "karpenter.k8s.aws/instance-gpu-count"
    pools = {
        "pools": {
            "train": {
                "profile": "training-efa",
                "accelerator": "h100",
                "requirements": {label: 4},
                "limits": {"gpus": 8},
            }
        }
    }
    for asked in (
        f"train.requirements.{label}",
        "train.instances.gpus",
        f'train.requirements["{label}"]',
        f"train.requirements[{label}]",
    ):
        (found,) = ask(asked, pools)
        assert path(found) == f"pools.train.requirements.{label}"
        assert chain(found) == [
            ("profile training", "training", 8, LayerOutcome.REPLACED),
            ("pool", "0", 4, LayerOutcome.WINS),
        ]
        assert found.chain[0].field == ("instances", "gpus")


def test_a_requirement_leads_to_the_word_that_made_it(ask: Asker) -> None:
    pools = {
        "pools": {
            "chat": {
                "profile": "inference",
                "accelerator": ["l4", "a10g"],
                "instances": {"gpus": None},
                "limits": {"gpus": 8},
            }
        }
    }
    (name,) = ask("chat.requirements.karpenter.k8s.aws/instance-gpu-name", pools)
    assert (path(name), name.value) == ("pools.chat.accelerator", ["l4", "a10g"])
    (guard,) = ask(
        "chat.spec.template.spec.requirements[1].operator",
        {"pools": {"chat": CHAT | {"profile": "inference"}}},
    )
    assert path(guard) == "pools.chat.accelerator"
    assert rendered(guard) == [("NodePool/chat", "spec.template.spec.requirements.1.operator", "Gt")]
    assert guard.renderings[0].notes == ("guard of accelerator: fractional GPUs count 0",)


def test_budgets_lead_to_the_windows_that_they_are_compiled_from(ask: Asker) -> None:
    window = {"days": "mon-fri", "hours": "08:00-20:00"}
    found = ask(
        "chat-spot.spec.disruption.budgets", {"pools": {"chat": CHAT | {"disruption": {"protect": window}}}}
    )
    assert [path(each) for each in found] == [
        "pools.chat.disruption.budgets", "pools.chat.disruption.protect", "pools.chat.disruption.maintenance",
    ]  # fmt: skip
    assert [each.renderings[0].notes for each in found] == [
        (),
        ("compiled from protect",),
        ("compiled from maintenance",),
    ]
    assert found[1].value == window


WINDOW = {"days": "sat", "hours": "22:00-04:00"}
FORBIDS = {"nodes": 0, "reasons": ["Drifted", "Underutilized"]}


@pytest.mark.parametrize(
    ("budgets", "window", "outcome", "note"),
    [
        (None, WINDOW, LayerOutcome.MERGED, "0 for Underutilized and Drifted"),
        (None, WINDOW | {"reasons": ["Drifted"]}, LayerOutcome.MERGED, "0 for Drifted"),
        ([FORBIDS], WINDOW, LayerOutcome.REPLACED, "0 for Underutilized and Drifted"),
        ([FORBIDS | {"schedule": "@daily", "duration": "1h"}], WINDOW, LayerOutcome.WINS, ""),
        (None, None, LayerOutcome.WINS, ""),
    ],
)
@pytest.mark.parametrize("asked", ["train.disruption.budgets", "train.disruption"])
def test_budgets_that_maintenance_overrides_do_not_win(
    budgets: list[Any] | None,
    window: dict[str, Any] | None,
    outcome: LayerOutcome,
    note: str,
    asked: str,
    ask: Asker,
) -> None:
    disruption = {"maintenance": window, **({"budgets": budgets} if budgets else {})}
    pool = {"profile": "training", "accelerator": "a100", "disruption": disruption}
    found = ask(asked, {"pools": {"train": pool}})
    (origin,) = [each for each in found if path(each) == "pools.train.disruption.budgets"]
    assert origin.chain[-1].outcome is outcome
    assert origin.chain[-1].note == (f"overridden by maintenance: {note}" if note else "")
    assert origin.chain[-1].layer == ("pool" if budgets else "profile training")


@pytest.mark.parametrize(("gpus", "winner"), [(8, "gpus"), (640, "usdPerHour")])
def test_a_limit_in_dollars_does_not_replace_one_in_gpus(gpus: int, winner: str, ask: Asker) -> None:
    pool = {"profile": "training", "accelerator": "h100", "limits": {"usdPerHour": 500}}
    defaults = BASE["defaults"] | {"pool": {"limits": {"gpus": gpus}}}
    found = ask("train.limits", {"defaults": defaults, "pools": {"train": pool}})
    assert {path(each).rpartition(".")[2]: each.chain[-1].outcome for each in found} == {
        "gpus": LayerOutcome.WINS,
        "usdPerHour": LayerOutcome.WINS,
    }
    (rendering,) = [(path(each).rpartition(".")[2], part) for each in found for part in rendered(each)]
    assert rendering == (
        winner,
        ("NodePool/train", "spec.limits.nvidia.com/gpu", 8 if winner == "gpus" else 72),
    )


def test_a_map_that_is_rendered_as_a_whole_is_told_as_one(ask: Asker) -> None:
    window = {"days": "mon-fri", "hours": "08:00-20:00"}
    (protect,) = ask(
        "chat-spot.disruption.protect", {"pools": {"chat": CHAT | {"disruption": {"protect": window}}}}
    )
    assert (path(protect), protect.value) == ("pools.chat.disruption.protect", window)
    assert [where for _, where, _ in rendered(protect)] == ["spec.disruption.budgets.1"]
    pools = {"pools": {"chat": CHAT | {"nodeClass": {"disk": {"size": "300Gi"}}}}}
    size, disk = ask("chat.nodeClass.disk", pools)
    assert chain(size)[-1] == ("pool", "0", "300Gi", LayerOutcome.WINS)
    assert path(disk) == "pools.chat.nodeClass.disk"
    assert {part.notes for part in disk.renderings} == {("built-in of disk",)}
    assert {part.path[-1] for part in disk.renderings} == {
        "deviceName",
        "volumeType",
        "encrypted",
        "deleteOnTermination",
    }


def test_tiers_are_told_together_where_all_is_the_same(ask: Asker) -> None:
    pool, share = ask("chat.limits.gpus", {"pools": {"chat": CHAT}})
    assert (path(pool), rendered(pool)) == (
        "pools.chat.limits.gpus",
        [("NodePool/chat-spot", "spec.limits.nvidia.com/gpu", 8)],
    )
    assert path(share) == "pools.chat.tiers.ondemand.limits"
    assert chain(share)[-1] == ("profile spot-tiered, tier ondemand", "spot-tiered", "25%", LayerOutcome.WINS)
    assert rendered(share) == [("NodePool/chat-ondemand", "spec.limits.nvidia.com/gpu", 2)]
    (both,) = ask("chat.expireAfter", {"pools": {"chat": CHAT}})
    assert [name for name, _, _ in rendered(both)] == ["NodePool/chat-spot", "NodePool/chat-ondemand"]


def test_a_tiers_weight_is_gpupools_own(ask: Asker) -> None:
    (found,) = ask("chat.tiers.ondemand.weight", {"pools": {"chat": CHAT | {"weight": 30}}})
    assert chain(found) == [
        ("pool", "0", 30, LayerOutcome.REPLACED),
        ("built-in", "spot-tiered", 29, LayerOutcome.WINS),
    ]
    assert found.chain[-1].note == "one less for each tier"


def test_what_nobody_says_leads_to_the_cluster(ask: Asker) -> None:
    pools = {"pools": {"chat": {"profile": "inference", "accelerator": "l4", "limits": {"gpus": 8}}}}
    (role,) = ask("chat.nodeClass.role", pools, {"cluster": {"name": "other"}})
    assert chain(role) == [
        ("cluster", "0", "prod", LayerOutcome.REPLACED),
        ("cluster", "1", "other", LayerOutcome.WINS),
    ]
    assert rendered(role) == [("EC2NodeClass/chat", "spec.role", "KarpenterNodeRole-other")]
    (zones,) = ask("chat.zones", pools)
    assert (path(zones), chain(zones)) == (
        "pools.chat.zones",
        [("cluster", "0", ["a", "b"], LayerOutcome.WINS)],
    )


def test_a_class_is_told_through_the_pool_that_names_it(ask: Asker) -> None:
    files = {
        "nodeClasses": {"gpu": {"ami": "al2023@v20260901"}},
        "pools": {"chat": CHAT | {"nodeClass": "gpu"}},
    }
    (ami,) = ask("chat.nodeClass.ami", files)
    assert path(ami) == "nodeClasses.gpu.ami"
    assert chain(ami) == [
        ("defaults", "0", "al2023@v20260810", LayerOutcome.REPLACED),
        ("class gpu", "0", "al2023@v20260901", LayerOutcome.WINS),
    ]
    (same,) = ask("nodeClasses.gpu.ami", files)
    assert same == ami
    (name,) = ask("chat.nodeClass", files)
    assert (path(name), name.value) == ("pools.chat.nodeClass", "gpu")


@pytest.mark.parametrize(
    "asked",
    ["chat.nodeClass.userData", "chat.nodeClass", "chat.nodeClass.spec", "chat.nodeClass.spec.userData"],
)
def test_user_data_is_never_shown(ask: Asker, asked: str) -> None:
    script = "#!/bin/sh\necho TOKEN\n"
    pools = {"pools": {"chat": CHAT | {"nodeClass": {"userData": script}}}}
    found = ask(asked, pools, {"defaults": {"nodeClass": {"userData": script + script}}})
    assert "TOKEN" not in repr(found)
    told = [each for each in found if "userData" in each.path]
    assert [each.value for each in told] == [f"(hidden, {len(script)} bytes)"]
    assert [said.value for said in told[0].chain] == [
        f"(hidden, {len(script) * 2} bytes)",
        f"(hidden, {len(script)} bytes)",
    ]


def test_user_data_in_a_file_is_never_shown(ask: Asker, tmp_path: Path) -> None:
    (tmp_path / "boot.sh").write_text("#!/bin/sh\necho TOKEN\n", "utf-8")
    (found,) = ask(
        "chat.nodeClass.userData",
        {"pools": {"chat": CHAT | {"nodeClass": {"userData": {"file": "boot.sh"}}}}},
    )
    assert found.value == {"file": "boot.sh"}
    assert rendered(found) == [("EC2NodeClass/chat", "spec.userData", "(hidden, 21 bytes)")]


@pytest.mark.parametrize("asked", ["chat.tiers.spot.limits", "chat-spot.limits", "pools.chat.tiers.spot.limits.gpus", "chat.tiers.spot.spec.limits", 'chat-spot["spec"]["limits"]["nvidia.com/gpu"]', "chat-spot.spec.limits.nvidia.com/gpu"])  # fmt: skip
def test_a_path_may_be_written_in_several_ways(ask: Asker, asked: str) -> None:
    (found,) = ask(asked, {"pools": {"chat": CHAT}})
    assert path(found) == "pools.chat.limits.gpus"


@pytest.mark.parametrize("asked", ["chat.replicas", "chat.doNotDisrupt", "chat.nodeClass.kubelet", "chat.disruption.protect", "pools.chat.sharing"])  # fmt: skip
def test_a_word_that_nobody_says_is_no_mistake(ask: Asker, asked: str) -> None:
    assert ask(asked, {"pools": {"chat": CHAT}}) == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            "chta.limits",
            "unknown pool `chta`; did you mean `chat`? available: chat, chat-ondemand, chat-spot",
        ),
        ("chat-sopt.limits", "did you mean `chat-spot`?"),
        ("chat.limit", "`pools.chat` has no `limit`; did you mean `limits`? available: capacity, "),
        ("chat.limit.gpus", "`pools.chat` has no `limit`; did you mean `limits`?"),
        ("chat.replcas", "did you mean `replicas`?"),
        ("chat.limits.gpu", "`pools.chat.limits` has no `gpu`; did you mean `gpus`? available: gpus"),
        ("chat.nodeClass.amy", "`pools.chat.nodeClass` has no `amy`; did you mean `ami`?"),
        (
            "chat.tiers.spt.limits",
            "unknown tier `spt`; did you mean `spot`? available: spot, ondemand",
        ),
        (
            "chat.spec.limit",
            "has no `limit`; did you mean `limits`? available: template, disruption, limits, weight",
        ),
        ("chat.spec.template.spec.requirements[99]", "has no `99`; available: 0, 1, 2"),
        ("chat.requirements.example.com/team", "has no `example.com/team`"),
        ("nodeClasses.gpu.ami", "`nodeClasses` has no `gpu`; available: none"),
        ("", "unknown pool ``"),
    ],
)
def test_what_is_not_there_is_a_mistake_that_names_what_is(ask: Asker, asked: str, said: str) -> None:
    with pytest.raises(UsageError) as problem:
        ask(asked, {"pools": {"chat": CHAT}})
    assert said in str(problem.value)
