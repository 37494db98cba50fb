"""Pods of manifests as a scheduler gets them; whatever stands in a file, it is read or it is a finding."""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from gpupool.blueprint.model import BlueprintCluster
from gpupool.errors import InputError
from gpupool.manifests.workloads import read_workloads
from gpupool.scheduling.nodepool import read_pool
from gpupool.scheduling.pods.fit import build_sites
from gpupool.scheduling.pods.pending import read_daemon_overhead, read_daemons, read_pending_pods
from gpupool.scheduling.pods.verdicts import judge_pod
from gpupool.yamlio.documents import read_documents
from tests.manifests.test_workloads import KINDS, made
from tests.scheduling.classes import CLASSES
from tests.scheduling.scenes import pod, pool
from tests.scheduling.worlds import market

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.findings import Finding
    from gpupool.manifests.workloads import Workloads
    from gpupool.scheduling.pods.fit import PoolSite

SEED = 20_261_121
MUTANTS = 1_000
JUNK: list[Any] = [None, True, -1, 10**30, 1.5, "", "x", "1e9999999", "${HOME}", [], [None], [[]], ["x"], {}, {"x": None}, {"": {}}]  # fmt: skip


def read(*objects: object) -> Workloads:
    text = "\n---\n".join(json.dumps(each) for each in objects)
    return read_workloads(["-"], f"# YAML\n{text}".encode)


def places(value: object) -> Iterator[tuple[Any, Any]]:
    """Yield each map and list inside with each of its keys."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


def test_no_mutant_of_a_workload_is_a_traceback() -> None:
    chance, refused = Random(SEED), 0  # noqa: S311 - the same sequence each time
    gpus = market(CLASSES["al2023"])
    found = build_sites([read_pool(pool(chance, f"p{index}"), gpus) for index in range(5)])
    for number in range(MUTANTS):
        body = workload(chance)
        for _ in range(chance.choice([1, 1, 2, 4])):
            holder, key = chance.choice([*places(body)])
            holder[key] = copy.deepcopy(chance.choice(JUNK))
        findings = judged(body, found)
        refused += bool(findings)
        where = f"seed {SEED}, mutant {number}: {json.dumps(body)}"
        assert all(each.at.line for each in findings if each.code != "GP1020"), where

    assert MUTANTS / 4 < refused < MUTANTS * 9 / 10


def judged(body: object, found: list[PoolSite]) -> tuple[Finding, ...]:
    """Judge the pods of an object, or give what is wrong with them."""
    try:
        pods = read_pending_pods(read(body))
    except InputError as problem:
        return problem.findings
    for each in pods:
        judge_pod(each.pod, found)
    return ()


def workload(chance: Random) -> dict[str, Any]:
    """Make an object of any kind, with a pod that says a lot."""
    api_version, kind, spec, _ = chance.choice(KINDS)
    text = json.dumps(spec)
    body = made(api_version, kind, json.loads(text))
    said = pod(chance, pool(chance, "gpu"))["spec"]
    for holder, key in [*places(body)]:
        if key == "containers":
            holder.update(said)
            break
    return body


def test_all_mistakes_of_all_files_are_told_at_once() -> None:
    bad = {"containers": [{"name": "c", "resources": {"limits": {"cpu": "x"}}}], "tolerations": {}}
    with pytest.raises(InputError) as caught:
        read_pending_pods(
            read(
                made("v1", "Pod", bad),
                made("apps/v1", "Deployment", {"replicas": -1, "template": {"spec": bad}}),
            )
        )

    assert [finding.code for finding in caught.value.findings] == ["GP1021"] * 5


def test_only_daemon_sets_count_on_nodes() -> None:
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "500m"}}}]}
    found = read_daemons(
        read(made("v1", "Pod", spec), made("apps/v1", "DaemonSet", {"template": {"spec": spec}}))
    )

    assert [(each.name, each.pod.requests) for each in found] == [
        ("DaemonSet/w", {"cpu": Decimal("0.5"), "pods": 1})
    ]


@pytest.mark.parametrize(
    ("cluster", "expected"),
    [
        ("{}", None),
        ("{daemonOverhead: null}", None),
        ("{daemonOverhead: {}}", {}),
        ("{daemonOverhead: {cpu: 500m, memory: 2Gi, pods: 3, nvidia.com/gpu: null}}", {"cpu": Decimal("0.5"), "memory": 2 << 30, "pods": 3}),
    ],
)  # fmt: skip
def test_the_sum_that_a_blueprint_says(cluster: str, expected: dict[str, object] | None) -> None:
    fields = BlueprintCluster(next(read_documents(cluster.encode(), "gpupool.yaml")).node)
    assert read_daemon_overhead(fields.daemon_overhead) == expected
