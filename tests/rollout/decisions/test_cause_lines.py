"""What a plan says of a changed blueprint: one line for each cause, with its place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from gpupool.cluster.client import MERGE, Request
from gpupool.reports.plan.formats import FORMATS
from gpupool.reports.plan.wording import find_lines
from gpupool.rollout.desired_state import load_desired_state
from gpupool.rollout.session import is_settled
from tests.memory.worlds import Kept, World, inventory_path

if TYPE_CHECKING:
    from pathlib import Path

    from gpupool.planning.plan import Plan
    from gpupool.rollout.desired_state import DesiredState

BLUEPRINT = """\
apiVersion: gpupool.dev/v1alpha1
kind: Blueprint
metadata: {name: ml}
cluster: {name: c, region: us-east-1, timezone: America/New_York, features: [NodeOverlay]}
defaults: {nodeClass: {ami: al2023@v20260810}}
pools:
  chat:
    accelerator: a100
    disruption: {consolidateAfter: 5m, maintenance: {days: sat, hours: "22:00-04:00"}}
    capacity: [on-demand]
    limits: {usdPerHour: 500}
    taints: {dedicated: "ml:NoSchedule"}
    weight: 10
  dev:
    profile: notebook
    accelerator: l4
    limits: {gpus: 8}
    sharing: {timeSlicing: 4}
"""


class Scene:
    """A cluster with the blueprint applied, and the file."""

    def __init__(self, kept: Kept, folder: Path) -> None:
        self.folder, self.world = folder, World(kept)
        self.world.apply(self.load(BLUEPRINT))

    def load(self, text: str) -> DesiredState:
        """Write and render a blueprint."""
        (self.folder / "gpupool.yaml").write_text(text, "utf-8")
        return load_desired_state(["gpupool.yaml"])

    def plan(self, old: str = "", new: str = "") -> Plan:
        """Plan the blueprint with one text in place of another."""
        return self.world.look(self.load(BLUEPRINT.replace(old, new) if old else BLUEPRINT)).plan

    def forget(self) -> None:
        """Write the inventory as an older gpupool does, without inputs."""
        path = inventory_path(self.load(BLUEPRINT))
        stored = self.world.send(Request("GET", path)).body["data"]
        assert isinstance(stored, dict)
        entries = json.loads(str(stored["current"]))
        old = [{key: value for key, value in entry.items() if key != "inputs"} for entry in entries]
        assert old != entries
        assert self.world.send(Request("PATCH", path, {}, {"data": {"current": json.dumps(old)}}, MERGE)).ok


@pytest.fixture
def scene(kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.chdir(tmp_path)
    return Scene(kept, tmp_path)


def lines(plan: Plan, *, show_raw: bool = False) -> list[str]:
    return [
        line.text
        for change in plan.changes
        for line in find_lines(change, show_textual=False, show_raw=show_raw)
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("22:00-04:00", "23:00-05:00", ["~ maintenance: sat 22:00-04:00 → sat 23:00-05:00 (3 budgets)  gpupool.yaml:9:72"]),
        ("500", "600", ["~ limits.usdPerHour: 500 → 600 (nvidia.com/gpu 145 → 174)  gpupool.yaml:11:26"]),
        ("timeSlicing: 4", "timeSlicing: 8", [
            "~ timeSlicing: 4 → 8 (nvidia.com/gpu 4 → 8)  gpupool.yaml:18:28",
            "~ timeSlicing: 4 → 8 (nvidia.com/gpu 32 → 64, 1 label)  gpupool.yaml:18:28",
        ]),
        ("a100", "h100", ["~ accelerator: a100 → h100 (nvidia.com/gpu 145 → 72, 1 requirement)  gpupool.yaml:8:18"]),
        ("[on-demand]", "any", ["~ capacity: on-demand → any (1 requirement)  gpupool.yaml:10:15"]),
        ("weight: 10", "weight: 11", ["~ spec.weight: 10 -> 11  gpupool.yaml:13:13"]),
        ("gpus: 8", "gpus: 12", ["~ limits.gpus: 8 → 12 (nvidia.com/gpu 32 → 48)  gpupool.yaml:17:20"]),
        ("    weight: 10\n", "", ["- spec.weight: 10  gpupool.yaml:7:3"]),
        ("name: c,", "name: d,", ["~ cluster.name: c → d (3 fields)  gpupool.yaml:4:17"] * 2),
    ],
)  # fmt: skip
def test_a_change_is_shown_by_its_cause(scene: Scene, old: str, new: str, said: list[str]) -> None:
    assert lines(scene.plan(old, new)) == said


def test_a_profile_s_values_are_at_the_pool_s_profile(scene: Scene) -> None:
    (line,) = lines(scene.plan("profile: notebook", "profile: inference"))[-1:]

    assert line.startswith("~ profile: notebook → inference (")
    assert line.endswith("  gpupool.yaml:15:14")


def test_without_old_texts_the_new_value_is_shown(scene: Scene) -> None:
    scene.forget()

    assert lines(scene.plan("22:00-04:00", "23:00-05:00")) == [
        "~ maintenance: sat 23:00-05:00 (3 budgets change)  gpupool.yaml:9:72"
    ]
    assert lines(scene.plan("500", "600")) == [
        "~ limits.usdPerHour: 600 (nvidia.com/gpu 145 → 174)  gpupool.yaml:11:26"
    ]
    assert is_settled(scene.world.look(scene.load(BLUEPRINT)))


def test_the_raw_fields_are_below_the_summary(scene: Scene) -> None:
    plan = scene.plan("500", "600")

    assert lines(plan, show_raw=True) == [
        "~ limits.usdPerHour: 500 → 600 (nvidia.com/gpu 145 → 174)  gpupool.yaml:11:26",
        "~ spec.limits[nvidia.com/gpu]: 145 -> 174",
    ]
    assert "\n        ~ spec.limits[nvidia.com/gpu]: 145 -> 174\n" in FORMATS["text"](plan, show_raw=True)


def test_drift_is_at_the_value_that_it_goes_back_to(scene: Scene) -> None:
    scene.world.change("NodePool/chat", {"spec": {"weight": 99}})

    plan = scene.plan()

    assert lines(plan) == ["~ spec.weight: 99 -> 10  (drift: by kubectl-edit)  gpupool.yaml:13:13"]
    assert plan.changes[-2].conflicts[0].cause == plan.changes[-2].fields[0].causes[0]


def test_another_text_of_the_same_result_is_recorded(scene: Scene) -> None:
    """Or else a later plan would compare with the text before."""
    wanted = scene.load(BLUEPRINT.replace("500", "500.5"))
    session = scene.world.look(wanted)
    assert (session.plan.has_changes, is_settled(session)) == (False, False)

    scene.world.apply(wanted)

    assert scene.world.apply(wanted) is None
    assert lines(scene.plan("500", "600")) == [
        "~ limits.usdPerHour: 500.5 → 600 (nvidia.com/gpu 145 → 174)  gpupool.yaml:11:26"
    ]


def test_a_saved_plan_records_the_texts_too(scene: Scene) -> None:
    plan = scene.world.saved(scene.load(BLUEPRINT.replace("500", "600")))
    scene.world.carry_out_saved(plan)

    assert lines(scene.plan("500", "700")) == [
        "~ limits.usdPerHour: 600 → 700 (nvidia.com/gpu 174 → 204)  gpupool.yaml:11:26"
    ]


def test_notices_are_on_the_lines(scene: Scene) -> None:
    commands = FORMATS["github"](scene.plan("name: c,", "name: d,")).splitlines()

    notices = [line for line in commands if "file=" in line]
    title = "changes EC2NodeClass/chat and 1 more"
    assert notices == [
        f"::notice file=gpupool.yaml,line=4,col=17,title={title}::cluster.name: c → d (3 fields)"
    ]


def test_no_text_of_an_input_is_sensitive(scene: Scene) -> None:
    plan = scene.plan(
        "ami: al2023@v20260810", "ami: al2023@v20260810, userData: s3cr3t, tags: {token: s3cr3t}"
    )

    assert "s3cr3t" not in json.dumps([[*change.inputs.items()] for change in plan.changes])
    assert "s3cr3t" not in FORMATS["json"](plan)
