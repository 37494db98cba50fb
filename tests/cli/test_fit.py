"""`gpupool fit`: where pools and DaemonSets come from, how it ends, and where the result goes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import Outcome, gpupool
from tests.test_readme import as_pattern, run, steps

GUIDE = (Path(__file__).parents[2] / "docs" / "how-to" / "check-a-workload.md").read_text("utf-8")


def files() -> dict[str, str]:
    """The files that the guide shows, each named in its first line."""
    blocks = re.findall(r"```yaml\n# (\S+\.yaml)\n(.*?)```", GUIDE, re.DOTALL)
    return {name: f"# {name}\n{text}" for name, text in blocks}


POOL = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}
      requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6]}]
"""
POD = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c}]}}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {**files(), "pool.yaml": POOL, "pod.yaml": POD}.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def test_the_guide_shows_what_is_printed(folder: Path) -> None:
    tour = [
        step for session in re.findall(r"```console\n(.*?)```", GUIDE, re.DOTALL) for step in steps(session)
    ]
    assert len(tour) >= 6

    for command, shown in tour:
        printed = run(command, folder).rstrip("\n")
        assert re.fullmatch(as_pattern(shown), printed, re.DOTALL), f"$ {command}\n{printed}"


def fit(capsys: pytest.CaptureFixture[str], *arguments: str) -> Outcome:
    return gpupool(capsys, "fit", *arguments)


def result(said: Outcome) -> Any:  # noqa: ANN401 - JSON
    return json.loads(said.out)


@pytest.mark.usefixtures("folder")
class TestFit:
    def test_it_ends_well_where_every_pod_fits_some_pool(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = fit(capsys, "jobs.yaml")

        assert (said.code, said.err) == (0, "")
        assert said.out.endswith("\n2 of 2 workloads fit.\n")

    def test_it_fails_where_a_pod_fits_none(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("pod.yaml").write_text(
            POD.replace("name: c", "name: c, resources: {limits: {nvidia.com/gpu: 9}}")
        )
        said = fit(capsys, "pod.yaml")

        assert (said.code, said.err) == (1, "")
        assert "  => fits no pool; the pod stays Pending\n" in said.out
        assert said.out.endswith("\n0 of 1 workload fit.\n")

    def test_json_says_all_that_text_does(self, capsys: pytest.CaptureFixture[str]) -> None:
        found = result(fit(capsys, "jobs.yaml", "--daemonsets", "agents.yaml", "-o", "json"))
        worker, chat = found["workloads"]

        assert (found["region"], found["offeringsJudged"]) == ("us-east-1", True)
        assert found["prices"] == {"region": "us-east-1", "currency": "USD", "date": "2026-07-06"}
        assert (found["daemonSets"], found["daemonOverhead"]) == (["DaemonSet/agent"], None)
        assert (worker["name"], worker["object"], worker["role"], worker["pods"]) == (
            "PyTorchJob/train worker", "PyTorchJob/train", "worker", 4,
        )  # fmt: skip
        assert worker["requests"] == {
            "cpu": 150, "memory": 1850 << 30, "nvidia.com/gpu": 8, "pods": 1, "vpc.amazonaws.com/efa": 32,
        }  # fmt: skip
        assert (worker["fits"], worker["chosen"]) == (False, None)
        assert worker["pools"][0] == {
            "pool": "pretrain",
            "fits": False,
            "rule": "resources",
            "message": "requests 1850Gi memory; the only candidate, p5.48xlarge, has 1843Gi left after 50Gi "
                       "for DaemonSets",
            "at": {"file": "jobs.yaml", "line": 11, "column": 11},
        }  # fmt: skip
        machine = {"instanceType": "p5.48xlarge", "price": 55.04}
        assert chat["chosen"] == {
            "pool": "pretrain",
            "capacityType": "on-demand",
            "first": machine,
            "dearest": machine,
            "instanceTypes": ["p5.48xlarge"],
        }

    def test_several_results_go_each_to_its_place(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = fit(capsys, "jobs.yaml", "-o", "text", "-o", "json=fit.json")

        assert said.out.startswith("PyTorchJob/train worker: ")
        assert len(json.loads(Path("fit.json").read_text())["workloads"]) == 2

    def test_plain_manifests_stand_in_for_a_blueprint(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = fit(capsys, "pod.yaml", "--manifests", "pool.yaml", "--region", "us-west-2")

        assert (said.code, said.err) == (0, "")
        assert (
            "  gpu  fits  8 types, g6.xlarge first, 0.8048 USD/h, up to g6.48xlarge, 13.3504 USD/h\n"
            in said.out
        )
        assert "The node class of gpu is not in the files; AL2023 defaults are assumed.\n" in said.out

    def test_without_a_region_the_output_says_what_is_not_judged(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        said = fit(capsys, "pod.yaml", "--manifests", "pool.yaml")

        assert "  gpu  fits  8 types, g6.xlarge first\n  => Karpenter launches a node of gpu\n" in said.out
        assert (
            "\nNo region is set (cluster.region or --region): zones, offerings and prices are not checked.\n"
            in said.out
        )

    def test_a_region_that_the_catalogue_lacks_is_said(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = fit(capsys, "pod.yaml", "--manifests", "pool.yaml", "--region", "mx-central-1")

        assert (
            "\nRegion mx-central-1 is not in the catalogue: zones, offerings and prices are not checked.\n"
            in said.out
        )

    def test_the_sum_of_daemon_sets_may_stand_in_the_blueprint(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        text = files()["gpupool.yaml"].replace(
            "timezone: UTC}", "timezone: UTC, daemonOverhead: {memory: 50Gi, cpu: 500m}}"
        )
        Path("gpupool.yaml").write_text(text)
        said = fit(capsys, "jobs.yaml")

        assert said.code == 1
        assert (
            "\nCounted for DaemonSets on each node (cluster.daemonOverhead): 0.5 cpu, 50Gi memory.\n"
            in said.out
        )
        assert result(fit(capsys, "jobs.yaml", "-o", "json"))["daemonOverhead"] == {
            "cpu": 0.5,
            "memory": 50 << 30,
        }

    def test_daemon_sets_count_instead_of_their_sum(self, capsys: pytest.CaptureFixture[str]) -> None:
        text = files()["gpupool.yaml"].replace(
            "timezone: UTC}", "timezone: UTC, daemonOverhead: {memory: 500Gi}}"
        )
        Path("gpupool.yaml").write_text(text)
        found = result(fit(capsys, "jobs.yaml", "--daemonsets", "agents.yaml", "-o", "json"))

        assert found["daemonOverhead"] is None
        assert "after 50Gi for DaemonSets" in found["workloads"][0]["pools"][0]["message"]

    def test_workloads_come_from_folders_too(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("w").mkdir()
        Path("w/pod.yaml").write_text(f"{POD}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x}}\n")
        Path("w/notes.txt").write_text("nothing")
        said = fit(capsys, "w", "--manifests", "pool.yaml", "--region", "us-east-1")

        assert (
            "\nSkipped objects without pods: ConfigMap (1).\nSkipped files: not .yaml, .yml or .json (1).\n1 of 1 workload fits.\n"
        ) in said.out

    def test_a_daemon_set_runs_on_pools_and_launches_nothing(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        said = fit(capsys, "agents.yaml", "--manifests", "pool.yaml", "--region", "us-east-1")

        assert said.code == 0
        assert said.out.startswith(
            "DaemonSet/agent: a pod on every node, which requests 0.5 cpu, 50Gi memory\n"
        )
        assert "  gpu  fits  on 6 of its 8 instance types\n  => runs on the nodes of gpu\n" in said.out

    def test_static_pools_and_overlays_are_told_apart(self, capsys: pytest.CaptureFixture[str]) -> None:
        overlay = (
            "---\napiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: shared}\n"
            "spec: {requirements: [], capacity: {example.com/x: 4}}\n"
        )
        Path("pool.yaml").write_text(
            POOL.replace("spec:\n  template", "spec:\n  replicas: 2\n  template") + overlay
        )
        said = fit(capsys, "pod.yaml", "--manifests", "pool.yaml", "--region", "us-east-1")

        assert said.code == 0
        assert "  gpu  fits  its fixed nodes (2); none is launched for a pod\n" in said.out
        assert "  => waits for room in gpu\n" in said.out
        assert "\nNodeOverlays are used as if their feature gate were on: shared.\n" in said.out

    def test_what_is_not_judged_is_named(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("pod.yaml").write_text(POD.replace("{containers", "{schedulerName: volcano, containers"))
        said = fit(capsys, "pod.yaml", "--manifests", "pool.yaml")

        assert "  not checked: what scheduler 'volcano' requires\n" in said.out

    @pytest.mark.parametrize(
        ("text", "error"),
        [
            (POD.replace("{name: c}", "{name: c, resources: {limits: {cpu: lots}}}"), "error GP1021 [structural] `containers[0].resources.limits.cpu`: 'lots' must be a quantity such as 4, 500m or 64Gi"),
            ("kind: [", "error GP1002 [structural]"),
            ("apiVersion: v1\nkind: ConfigMap\n", "error GP1020 [structural] no object in these files creates pods"),
        ],
        ids=["quantity", "YAML", "nothing"],
    )  # fmt: skip
    def test_bad_workloads_are_findings(
        self, capsys: pytest.CaptureFixture[str], text: str, error: str
    ) -> None:
        Path("pod.yaml").write_text(text)
        said = fit(capsys, "pod.yaml", "--manifests", "pool.yaml")

        assert (said.code, said.out) == (1, "")
        assert error in said.err

    def test_bad_daemon_sets_are_findings(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("agents.yaml").write_text(files()["agents.yaml"].replace("500m", "half"))
        said = fit(capsys, "pod.yaml", "--daemonsets", "agents.yaml")

        assert (said.code, said.out, said.codes) == (1, "", ["GP1021"])

    def test_bad_pools_are_findings(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("pool.yaml").write_text(POOL.replace("operator: In", "operator: in"))
        said = fit(capsys, "pod.yaml", "--manifests", "pool.yaml")

        assert (said.code, said.out, said.codes) == (1, "", ["GP1013"])

    def test_manifests_without_pools_are_an_error(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = fit(capsys, "pod.yaml", "--manifests", "pod.yaml")

        assert (said.code, said.out, said.codes) == (1, "", ["GP1008"])

    @pytest.mark.parametrize(
        "arguments",
        [
            [],
            ["pod.yaml", "-f", "gpupool.yaml", "--manifests", "pool.yaml"],
            ["-", "-f", "-"],
            ["-", "--daemonsets", "-"],
            ["pod.yaml", "-o", "sarif"],
            ["pod.yaml", "-o", "json", "-o", "text"],
        ],
        ids=lambda arguments: " ".join(arguments) or "nothing",
    )
    def test_a_command_line_that_makes_no_sense(
        self, capsys: pytest.CaptureFixture[str], arguments: list[str]
    ) -> None:
        assert fit(capsys, *arguments).code == 64
