"""What `gpupool profiles` prints."""

from pathlib import Path

import pytest

from gpupool.errors import InputError
from gpupool.profiles.shown import show, show_all
from gpupool.reports.profiles import render_list, render_page, render_settings
from tests.cli.run import gpupool

OURS = """\
apiVersion: gpupool.dev/v1alpha1
kind: Profile
metadata: {name: ours}
summary: Ours.
description: As the team wants it.
extends: ./base.yaml
pool:
  annotations: {note: "a # b", paid: "yes", version: "1.30"}  # who pays
  limits: {cpu: 8}
  disruption:
    consolidateAfter: 1h   # short
  taints: null             # none here
nodeClass:
  disk:
    size: 300Gi
  userData: |
    #!/bin/bash
    echo one
"""
BASE = """\
apiVersion: gpupool.dev/v1alpha1
kind: Profile
metadata: {name: base}
summary: Base.
description: Below.
pool:
  taints: {nvidia.com/gpu: true:NoSchedule}
  instances: {gpus: {min: 1, max: 4}}  # a word that is longer than the column leaves room for, so it goes on below
  disruption:
    consolidateAfter: 5m
    budgets:
      - nodes: 1                       # all year
        reasons: [Drifted]
      - {nodes: 100%, reasons: [Empty]}
nodeClass: {disk: {size: 100Gi, iops: 6000}}
"""


def test_the_list_has_a_line_for_each_profile() -> None:
    lines = render_list(show_all()).splitlines()
    assert len(lines) == 14
    assert lines[0] == "batch-spot        Interruptible jobs on any NVIDIA GPU, spot only."
    assert lines[9] == "training          Whole eight-GPU nodes for jobs that must not move."
    assert lines[12:] == ["", "`gpupool profiles NAME` shows what one sets, and why."]


def test_a_page_says_what_a_profile_sets_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    shown = gpupool(capsys, "profiles", "training-efa")
    assert (shown.code, shown.err) == (0, "")
    assert (
        shown.out
        == """\
training-efa: Training over several nodes, joined by EFA.

For one job over many nodes. Set exactly one instance type and one zone, as in `instances: {types:
p5.48xlarge}, zones: b`: EFA does not work across zones, and a job is as fast as its slowest node.
Each pod has to request `vpc.amazonaws.com/efa`; then Karpenter attaches all interfaces of the type,
and otherwise none. The security group has to allow all traffic from and to itself.

p6-b300.48xlarge has no EFA on its first network card, so it needs `networkInterfaces` under
`nodeClass`. For Capacity Blocks and reservations add `capacity: reserved` and `nodeClass:
{reservations: […]}`. For a job on one node choose training.

Extends training.

pool:
  capacity: on-demand                         # (training) spot can be interrupted with two minutes' notice,
                                              # which ends the run
  arch: amd64                                 # (training)
  os: linux                                   # (training)
  accelerator: nvidia                         # (training) any NVIDIA GPU until the pool sets one
  instances:
    gpus: 8                                   # (training) so that h100 means p5.48xlarge, not p5.4xlarge with
                                              # one GPU
    families: {not: [g7]}                     # (training) needs driver 595, newer than the EKS images have;
                                              # set `families: null` with your own image
  labels:
    nvidia.com/gpu.present: "true"            # (training) the device plugin chart and GPU exporters select it
    vpc.amazonaws.com/efa.present: "true"     # selects the nodes for EFA's device plugin, which crashes
                                              # without EFA
  taints:
    nvidia.com/gpu: true:NoSchedule           # (training) keeps other pods off; GPU charts tolerate this key
  expireAfter: Never                          # (training) expiry ignores budgets, and the default of 720h
                                              # ends a run on day 30
  terminationGracePeriod: 24h                 # losing one node stops every rank: time for the next checkpoint
  disruption:
    consolidationPolicy: WhenEmpty            # (training)
    consolidateAfter: 1h                      # a job's pods arrive slowly, and large instances are hard to
                                              # get back
    budgets:
      - {nodes: 0, reasons: [Drifted, Underutilized]}  # (training) with a grace period set, drift evicts even
                                                       # a do-not-disrupt pod
      - {nodes: 100%, reasons: [Empty]}       # (training) an idle GPU costs as much as a busy one
nodeClass:
  instanceStorePolicy: RAID0                  # (training) images, pods and scratch space on the NVMe that
                                              # every eight-GPU type has
  disk:
    size: 200Gi                               # logs and host-path caches of runs that last for weeks
"""
    )


def test_a_page_of_ones_own_marks_what_comes_from_below(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(BASE, encoding="utf-8")
    ours = tmp_path / "ours.yaml"
    ours.write_text(OURS, encoding="utf-8")
    shown = show(str(ours))
    assert (shown.name, shown.extends) == ("ours", ("base",))
    assert (
        render_settings(shown)
        == """\
pool:
  taints: null                                # none here
  instances: {gpus: {min: 1, max: 4}}         # (base) a word that is longer than the column leaves room for,
                                              # so it goes on below
  disruption:
    consolidateAfter: 1h                      # short
    budgets:
      - {nodes: 1, reasons: [Drifted]}        # (base) all year
      - {nodes: 100%, reasons: [Empty]}       # (base)
  annotations: {note: "a # b", paid: "yes", version: "1.30"}  # who pays
  limits: {cpu: 8}
nodeClass:
  disk:
    size: 300Gi
    iops: 6000                                # (base)
  userData: "#!/bin/bash\\necho one\\n"
"""
    )


def test_a_mistake_in_a_profile_of_ones_own_is_an_error(tmp_path: Path) -> None:
    ours = tmp_path / "ours.yaml"
    ours.write_text(BASE.replace("consolidateAfter", "consolidateafter"), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        show(str(ours))
    assert [(finding.at.line, finding.fix) for finding in caught.value.findings] == [
        (10, "did you mean `consolidateAfter`?")
    ]


def test_a_name_that_nobody_has_is_an_error_that_names_the_nearest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = gpupool(capsys, "profiles", "training-ef")
    assert (shown.code, shown.out) == (1, "")
    assert "did you mean `training-efa`?" in shown.err


def test_prose_keeps_its_paragraphs() -> None:
    paragraphs = render_page(show("training-static")).split("\n\n")
    assert paragraphs[0] == "training-static: A fixed number of EFA nodes, whether or not pods need them."
    assert paragraphs[3] == "Extends training-efa, which extends training."
    assert max(map(len, "\n".join(paragraphs[:4]).splitlines())) <= 100


def test_a_profile_of_others_does_not_steer_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    unseen = "\\e[2J\\u202e\\u200b"
    text = OURS.replace("extends: ./base.yaml\n", "").replace("Ours.", f'"{unseen}"')
    text = (
        text.replace("As the team wants it.", f'"{unseen}"')
        .replace("as the team", unseen)
        .replace("who pays", "who\u200bpays")
    )
    Path("ours.yaml").write_text(text, "utf-8")

    shown = gpupool(capsys, "profiles", "./ours.yaml")

    assert shown.code == 0, shown.err
    assert [each for each in "\x1b\u202e\u200b" if each in shown.out] == []
    assert "\\x1b[2J\\u202e\\u200b" in shown.out
