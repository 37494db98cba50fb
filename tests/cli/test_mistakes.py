"""Mistakes that people make in a blueprint: each is one finding, at its line, and its fix can be pasted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from tests.cli.run import gpupool

if TYPE_CHECKING:
    from tests.cli.run import Outcome

GOOD: Final = """\
apiVersion: gpupool.dev/v1alpha1
kind: Blueprint
metadata: {name: demo}
cluster:
  name: prod
  region: us-east-1
  timezone: UTC
defaults: {nodeClass: {ami: al2023@v20260810}}
pools:
  train:
    profile: training
    accelerator: h100
    limits: {gpus: 64}
  chat:
    profile: inference
    accelerator: [l4, a10g]
    zones: [a, b]
    capacity: on-demand
    limits: {gpus: 16, cpu: 500}
    taints: {team: ml:NoSchedule}
    labels: {example.com/team: ml}
    disruption:
      protect: {days: mon-fri, hours: "09:00-17:00", nodes: "0"}
      consolidateAfter: 10m
    nodeClass: {disk: {size: 200Gi}}
"""
LABELS: Final = "labels: {example.com/team: ml}"


class Mistake(NamedTuple):
    """What stands there instead of what is right, and which part of that the fix replaces."""

    right: str
    wrong: str
    replaced: str = ""
    """The part of `wrong` that what the fix says is pasted over; all of it where that is empty."""

    pasted: str = "{}"
    """How what the fix says is pasted."""

    lines_above: int = 0
    """How far above the finding is: where a field is missing, at what it is missing in."""


MISTAKES: Final = [
    # of the cluster and the head
    Mistake("UTC", "America/NewYork"),
    Mistake("us-east-1", "us-east1"),
    Mistake("us-east-1", "us-east-1a"),
    Mistake("region: us", "regoin: us", "regoin"),
    Mistake("  name: prod\n", "", pasted="  {}\n", lines_above=1),
    Mistake("kind: Blueprint", "kind: blueprint"),
    Mistake("apiVersion: gpupool.dev/v1alpha1", "apiVersion: gpupool.dev/v1"),
    Mistake("name: demo", "nam: demo", "nam"),
    Mistake("name: demo", "name: Demo_1", "Demo_1"),
    # of the image
    Mistake("al2023@v20260810", "al2023"),
    Mistake("al2023@v20260810", "AL2023@latest"),
    Mistake("al2023@v20260810", "AL2023@v20260101"),
    Mistake("al2023@v20260810", "bottlerocket"),
    Mistake("al2023@v20260810", "al2032@v20260810"),
    # of what there is
    Mistake("training", "trainig"),
    Mistake("h100", "h10O"),
    Mistake("h100", "H100"),
    Mistake("accelerator: h100", "acelerator: h100", "acelerator"),
    Mistake("accelerator: h100", "instances: {types: [p5.48xlrge]}", "p5.48xlrge"),
    Mistake("accelerator: h100", "instances: {types: h100}"),
    Mistake("zones: [a", "zone: [a", "zone"),
    Mistake("[a, b]", "[us-east1a]", "us-east1a"),
    Mistake("[a, b]", "[eu-west-1a]", "eu-west-1a"),
    Mistake("capacity: on-demand", "capacity: ondemand", "ondemand"),
    Mistake("capacity: on-demand", "capacity: On-Demand", "On-Demand"),
    Mistake("capacity: on-demand", "capacityType: on-demand", "capacityType"),
    Mistake(LABELS, f"{LABELS}\n    arch: x86_64", "x86_64"),
    Mistake(LABELS, f"{LABELS}\n    weigth: 10", "weigth"),
    # of limits
    Mistake("limits: {gpus: 64}", "limit: {gpus: 64}", "limit"),
    Mistake("limits: {gpus: 64}", "limits: {gpu: 64}", "gpu"),
    Mistake("limits: {gpus: 64}", "limits: {gpus: 64.5}", "gpus: 64.5"),
    Mistake("limits: {gpus: 64}", "limits: 64"),
    Mistake("cpu: 500", "cpus: 500", "cpus"),
    # of taints and labels
    Mistake("ml:NoSchedule", "ml:NoSchedul", "NoSchedul"),
    Mistake("ml:NoSchedule", "':NoSchedule'"),
    Mistake("{team: ml:NoSchedule}", "[team=ml:NoSchedule]"),
    Mistake("example.com/team: ml", "example.com/team: 5", "5"),
    Mistake("example.com/team: ml", "example.com/team: true", "true"),
    # of windows
    Mistake("days: mon-fri", "days: weekdays", "weekdays"),
    Mistake("days: mon-fri", "days: monday-friday", "monday-friday"),
    Mistake("days: mon-fri", "days: mon-fry", "mon-fry"),
    Mistake("days: mon-fri", "days: 'mon, tue'", "'mon, tue'"),
    Mistake('"09:00-17:00"', "9-17"),
    Mistake('"09:00-17:00"', "9am-5pm"),
    Mistake('"09:00-17:00"', '"17:00"'),
    Mistake('nodes: "0"', "nodes: 0.1", "0.1"),
    Mistake('nodes: "0"', "nodes: 10 %", "10 %"),
    Mistake("consolidateAfter: 10m", "consolidateAfter: 10 min", "10 min"),
    Mistake("consolidateAfter: 10m", "consolidateAfter: 600", "600"),
    Mistake(
        "consolidateAfter: 10m",
        "consolidateAfter: 10m\n      consolidationPolicy: WhenUnderutilized",
        "WhenUnderutilized",
    ),
    # of node classes
    Mistake("200Gi", "200GB"),
    Mistake("200Gi", "200"),
    Mistake("disk: {size: 200Gi}", "disk: 200Gi"),
    Mistake("disk: {size: 200Gi}", "osDisk: {size: 200Gi}", "osDisk"),
    Mistake("nodeClass: {disk", "nodeclass: {disk", "nodeclass"),
    Mistake("disk: {size: 200Gi}", "role: arn:aws:iam::111122223333:role/nodes"),
]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def validated(text: str, capsys: pytest.CaptureFixture[str]) -> Outcome:
    Path("gpupool.yaml").write_text(text, "utf-8")
    return gpupool(capsys, "validate")


def test_without_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    said = validated(GOOD, capsys)

    assert (said.code, said.out) == (0, "Checked 1 object in 1 file (Blueprint 1): no problems found.\n")


def test_there_are_forty_at_least() -> None:
    assert len(set(MISTAKES)) >= 40
    assert [each for each in MISTAKES if GOOD.count(each.right) != 1] == []


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: each.wrong.rpartition("\n")[2].strip())
def test_one_finding_at_its_line_whose_fix_can_be_pasted(
    mistake: Mistake, capsys: pytest.CaptureFixture[str]
) -> None:
    before, _, after = GOOD.partition(mistake.right)
    wrong = f"{before}{mistake.wrong}{after}"
    line = wrong[: len(before) + len(mistake.wrong)].count("\n") + 1 - mistake.lines_above

    said = validated(wrong, capsys)

    assert said.code == 1
    found = re.findall(r"^gpupool\.yaml:(\d+):\d+: (error|warning|info) ", said.out, re.MULTILINE)
    assert found == [(str(line), "error")], said.out
    fix = re.search(r"^    fix: (?:put it in quotes: |.*?`)([^`\n]+)", said.out, re.MULTILINE)
    assert fix is not None, said.out
    mended = mistake.wrong.replace(mistake.replaced or mistake.wrong, mistake.pasted.format(fix[1]))
    again = validated(f"{before}{mended}{after}", capsys)
    assert again.code == 0, f"{mended}\n{again.out}"
