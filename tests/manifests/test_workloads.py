"""Which pods manifests bring about: of each kind, how many, and what is said where there are none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from gpupool.manifests.workloads import read_workloads
from gpupool.yamlio.located import find, items, text_at

if TYPE_CHECKING:
    from gpupool.manifests.workloads import Workloads


def template(name: str) -> dict[str, Any]:
    return {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": name}]}}


def read(*objects: dict[str, Any]) -> Workloads:
    text = "\n---\n".join(json.dumps(each) for each in objects)
    return read_workloads(["-"], f"# YAML\n{text}".encode)


def made(api_version: str, kind: str, spec: object, **rest: object) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "w"}, "spec": spec, **rest}


REPLICAS = {
    "Master": {"replicas": 1, "template": template("m")},
    "Worker": {"replicas": 3, "template": template("k")},
}
MASTER_AND_WORKERS: list[tuple[str, int | None, str]] = [("master", 1, "m"), ("worker", 3, "k")]
WORKERS = {"size": 4, "workerTemplate": template("k")}
LED = {**WORKERS, "leaderTemplate": template("m")}
JOBS = [
    {"name": "a", "replicas": 2, "template": {"spec": {"parallelism": 3, "template": template("m")}}},
    {"name": "b", "template": {"spec": {"template": template("k")}}},
]
RAY = {
    "headGroupSpec": {"template": template("m")},
    "workerGroupSpecs": [{"groupName": "gpu", "replicas": 2, "numOfHosts": 4, "template": template("k")}],
}
KINDS: list[tuple[str, str, object, list[tuple[str, int | None, str]]]] = [
    ("v1", "Pod", template("m")["spec"], [("", 1, "m")]),
    ("v1", "ReplicationController", {"replicas": 2, "template": template("m")}, [("", 2, "m")]),
    ("apps/v1", "Deployment", {"template": template("m")}, [("", 1, "m")]),
    ("apps/v1", "Deployment", {"replicas": 0, "template": template("m")}, [("", 0, "m")]),
    ("apps/v1", "ReplicaSet", {"replicas": 5, "template": template("m")}, [("", 5, "m")]),
    ("apps/v1", "StatefulSet", {"replicas": 2, "template": template("m")}, [("", 2, "m")]),
    ("apps/v1", "DaemonSet", {"template": template("m")}, [("", None, "m")]),
    ("batch/v1", "Job", {"template": template("m")}, [("", 1, "m")]),
    ("batch/v1", "Job", {"parallelism": 4, "completions": 9, "template": template("m")}, [("", 4, "m")]),
    ("batch/v1", "Job", {"parallelism": 4, "completions": 2, "template": template("m")}, [("", 2, "m")]),
    ("batch/v1", "Job", {"completions": 9, "template": template("m")}, [("", 1, "m")]),
    (
        "batch/v1",
        "CronJob",
        {"jobTemplate": {"spec": {"parallelism": 2, "template": template("m")}}},
        [("", 2, "m")],
    ),
    ("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": REPLICAS}, MASTER_AND_WORKERS),
    ("kubeflow.org/v1", "TFJob", {"tfReplicaSpecs": REPLICAS}, MASTER_AND_WORKERS),
    ("kubeflow.org/v1", "XGBoostJob", {"xgbReplicaSpecs": REPLICAS}, MASTER_AND_WORKERS),
    ("kubeflow.org/v1", "PaddleJob", {"paddleReplicaSpecs": REPLICAS}, MASTER_AND_WORKERS),
    ("kubeflow.org/v1", "JAXJob", {"jaxReplicaSpecs": REPLICAS}, MASTER_AND_WORKERS),
    ("kubeflow.org/v2beta1", "MPIJob", {"mpiReplicaSpecs": REPLICAS}, MASTER_AND_WORKERS),
    (
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        {"replicas": 2, "leaderWorkerTemplate": WORKERS},
        [("worker", 8, "k")],
    ),
    (
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        {"replicas": 2, "leaderWorkerTemplate": LED},
        [("leader", 2, "m"), ("worker", 6, "k")],
    ),
    ("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": JOBS}, [("a", 6, "m"), ("b", 1, "k")]),
    (
        "trainer.kubeflow.org/v1alpha1",
        "ClusterTrainingRuntime",
        {"template": {"spec": {"replicatedJobs": JOBS}}},
        [("a", 6, "m"), ("b", 1, "k")],
    ),
    ("ray.io/v1", "RayCluster", RAY, [("head", 1, "m"), ("gpu", 8, "k")]),
    ("ray.io/v1", "RayJob", {"rayClusterSpec": RAY}, [("head", 1, "m"), ("gpu", 8, "k")]),
    ("ray.io/v1", "RayService", {"rayClusterConfig": RAY}, [("head", 1, "m"), ("gpu", 8, "k")]),
    (
        "batch.volcano.sh/v1alpha1",
        "Job",
        {"tasks": [{"name": "ps", "replicas": 2, "template": template("m")}]},
        [("ps", 2, "m")],
    ),
    (
        "serving.kserve.io/v1beta1",
        "InferenceService",
        {"predictor": {"minReplicas": 2, "model": {"name": "m"}}},
        [("predictor", 2, "m")],
    ),
    (
        "serving.kserve.io/v1beta1",
        "InferenceService",
        {"predictor": {"containers": [{"name": "m"}]}},
        [("predictor", 1, "m")],
    ),
    ("argoproj.io/v1alpha1", "Rollout", {"replicas": 3, "template": template("m")}, [("", 3, "m")]),
    ("kubeflow.org/v1", "Notebook", {"template": template("m")}, [("", 1, "m")]),
]


@pytest.mark.parametrize(
    ("api_version", "kind", "spec", "expected"),
    KINDS,
    ids=[f"{index}-{case[1]}" for index, case in enumerate(KINDS)],
)
def test_every_kind_gives_its_pods(
    api_version: str, kind: str, spec: object, expected: list[tuple[str, int | None, str]]
) -> None:
    found = read(made(api_version, kind, spec))

    assert found.findings == ()
    assert [
        (each.role, each.pods, text_at(items(find(each.spec, "containers"))[0], "name"))
        for each in found.templates
    ] == expected
    assert {each.object for each in found.templates} == {f"{kind}/w"}
    assert {each.name for each in found.templates} == {f"{kind}/w {role}".rstrip() for role, _, _ in expected}


def test_labels_namespace_and_place_come_along() -> None:
    body = made("apps/v1", "Deployment", {"template": template("m")})
    body["metadata"]["namespace"] = "ml"
    found = read(body).templates[0]

    assert (found.labels, found.namespace, found.path) == ({"app": "m"}, "ml", "spec.template.spec")
    assert (found.at.file, found.at.line) == ("-", 2)


def test_lists_are_opened_and_other_objects_counted() -> None:
    pod = made("v1", "Pod", template("m")["spec"])
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    pool = made("karpenter.sh/v1", "NodePool", {"template": {"spec": {"containers": []}}})
    old = {"apiVersion": "karpenter.sh/v1beta1", "kind": "NodePool", "metadata": {"name": "c"}}
    found = read({"apiVersion": "v1", "kind": "List", "items": [pod, config]}, pool, old)

    assert [each.name for each in found.templates] == ["Pod/w"]
    assert (found.skipped_kinds, found.findings) == ({"ConfigMap": 1, "NodePool": 2}, ())


def messages(found: Workloads) -> list[tuple[str, str]]:
    return [(str(each.severity), each.message) for each in found.findings]


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet", "StatefulSet", "ReplicaSet"])
@pytest.mark.parametrize(
    "spec", ["nothing", [], {}, {"template": None}, {"template": []}, {"template": {"spec": None}}]
)
def test_a_kind_without_the_pods_that_it_makes_is_an_error(kind: str, spec: object) -> None:
    found = read(made("apps/v1", kind, spec))

    assert [each.severity for each in found.findings] == ["error"]
    assert found.templates == ()


def test_pods_that_stand_elsewhere_are_said_to_be_left_out() -> None:
    pod = made("v1", "Pod", template("m")["spec"])
    found = read(pod, made("trainer.kubeflow.org/v1alpha1", "TrainJob", {"runtimeRef": {"name": "t"}}))

    assert messages(found) == [
        (
            "warning",
            "the pods of a TrainJob are not checked: they are created from its TrainingRuntime; pass that file",
        )
    ]


def test_a_service_with_a_model_of_an_older_form_is_said_to_be_left_out() -> None:
    found = read(made("serving.kserve.io/v1beta1", "InferenceService", {"predictor": {"sklearn": {}}}))

    assert sorted(each[0] for each in messages(found)) == ["error", "warning"]


@pytest.mark.parametrize("count", ["two", -1, 1.5, True, [2], {}])
def test_a_number_of_pods_that_is_none_is_an_error(count: object) -> None:
    found = read(made("apps/v1", "Deployment", {"replicas": count, "template": template("m")}))

    assert messages(found) == [("error", "the number of pods must be a whole number, 0 or more")]


def test_nothing_that_makes_pods_is_an_error() -> None:
    found = read({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}})

    assert messages(found) == [("error", "no object in these files creates pods")]
