"""Pod templates in workload objects, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.yamlio.located import Located, find, items, mapping, text_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ELSEWHERE = {
    "TrainJob": "they are created from its TrainingRuntime; pass that file",
    "Workflow": "its templates are filled in at run time",
    "CronWorkflow": "its templates are filled in at run time",
}
"""Kinds whose pod templates are not in their own file, with an explanation."""

_VOLCANO = "batch.volcano.sh"
_REPLICA_SPECS = "ReplicaSpecs"


class TemplatePart(NamedTuple):
    """One pod template of an object."""

    role: str
    counts: tuple[Located | None, ...]
    """Numbers of pods that are multiplied; an absent one counts as 1."""

    spec: Located
    """The spec of the pod."""

    labels: Located | None
    path: str
    less: int = 0
    """The number of pods in each group that are created from another template."""

    note: str = ""


def is_workload_kind(kind: str) -> bool:
    """Return whether objects of a kind always create pods."""
    return kind in _KINDS


def read_templates(kind: str, group: str, body: Located) -> Iterator[TemplatePart]:
    """Read the pod templates of an object; nothing for one that creates no pods."""
    if kind == "Job" and group == _VOLCANO:
        yield from _read_tasks(body)
        return
    yield from _KINDS.get(kind, _read_by_shape)(body)


def _read_template(
    holder: Located | None, path: str, role: str = "", *counts: Located | None
) -> Iterator[TemplatePart]:
    """Yield the pod template at the `template` field."""
    template = find(holder, "template")
    spec = find(template, "spec")
    if spec is not None:
        labels = find(template, "metadata", "labels")
        yield TemplatePart(role, counts, spec, labels, f"{path}.template.spec".removeprefix("."))


def _read_pod(body: Located) -> Iterator[TemplatePart]:
    spec = find(body, "spec")
    if spec is not None:
        yield TemplatePart("", (), spec, find(body, "metadata", "labels"), "spec")


def _read_pod_template(body: Located) -> Iterator[TemplatePart]:
    yield from _read_template(body, "")


def _read_job(body: Located) -> Iterator[TemplatePart]:
    yield from _read_job_spec(find(body, "spec"), "spec")


def _read_job_spec(
    spec: Located | None, path: str, role: str = "", *counts: Located | None
) -> Iterator[TemplatePart]:
    yield from _read_template(spec, path, role, *counts, _find_parallelism(spec))


def _find_parallelism(spec: Located | None) -> Located | None:
    """Return the number of pods of a job that run at once, at most its completions."""
    parallelism, completions = find(spec, "parallelism"), find(spec, "completions")
    numbers = [node for node in (parallelism, completions) if node is not None and type(node.value) is int]
    if parallelism is None or len(numbers) < 2:  # noqa: PLR2004 - both
        return parallelism
    return min(numbers, key=lambda node: node.value if isinstance(node.value, int) else 0)


def _read_cron_job(body: Located) -> Iterator[TemplatePart]:
    yield from _read_job_spec(find(body, "spec", "jobTemplate", "spec"), "spec.jobTemplate.spec")


def _read_by_shape(body: Located) -> Iterator[TemplatePart]:
    """Yield templates of any kind with a Deployment's `template` field or Kubeflow's replica specs."""
    spec = find(body, "spec")
    if find(spec, "template", "spec", "containers") is not None:
        yield from _read_template(spec, "spec", "", find(spec, "replicas"))
    for key, replicas in mapping(spec).items():
        if key.endswith(_REPLICA_SPECS):
            for role, replica_spec in mapping(replicas).items():
                path = f"spec.{key}.{role}"
                yield from _read_template(replica_spec, path, role.lower(), find(replica_spec, "replicas"))


def _read_scaled(body: Located) -> Iterator[TemplatePart]:
    spec = find(body, "spec")
    yield from _read_template(spec, "spec", "", find(spec, "replicas"))


def _read_leader_worker_set(body: Located) -> Iterator[TemplatePart]:
    """Yield the templates of groups of `size` pods, one of which is the leader."""
    spec = find(body, "spec")
    groups, inner = find(spec, "replicas"), find(spec, "leaderWorkerTemplate")
    leader, worker = find(inner, "leaderTemplate"), find(inner, "workerTemplate")
    path = "spec.leaderWorkerTemplate"
    size = find(inner, "size")
    if (leader_spec := find(leader, "spec")) is not None:
        labels = find(leader, "metadata", "labels")
        yield TemplatePart("leader", (groups,), leader_spec, labels, f"{path}.leaderTemplate.spec")
    if (worker_spec := find(worker, "spec")) is not None:
        labels, less = find(worker, "metadata", "labels"), 0 if leader_spec is None else 1
        yield TemplatePart("worker", (groups, size), worker_spec, labels, f"{path}.workerTemplate.spec", less)


def _read_job_set(body: Located) -> Iterator[TemplatePart]:
    yield from _read_replicated_jobs(find(body, "spec"), "spec")


def _read_training_runtime(body: Located) -> Iterator[TemplatePart]:
    """Yield the templates of the JobSet from which Kubeflow creates TrainJobs."""
    yield from _read_replicated_jobs(find(body, "spec", "template", "spec"), "spec.template.spec")


def _read_replicated_jobs(spec: Located | None, path: str) -> Iterator[TemplatePart]:
    for index, job in enumerate(items(find(spec, "replicatedJobs"))):
        inner = find(job, "template", "spec")
        at = f"{path}.replicatedJobs[{index}].template.spec"
        yield from _read_job_spec(inner, at, text_at(job, "name"), find(job, "replicas"))


def _read_ray_cluster(body: Located) -> Iterator[TemplatePart]:
    yield from _read_ray(find(body, "spec"), "spec")


def _read_ray_job(body: Located) -> Iterator[TemplatePart]:
    yield from _read_ray(find(body, "spec", "rayClusterSpec"), "spec.rayClusterSpec")
    template = find(body, "spec", "submitterPodTemplate")
    if (spec := find(template, "spec")) is not None:
        yield TemplatePart(
            "submitter", (), spec, find(template, "metadata", "labels"), "spec.submitterPodTemplate.spec"
        )


def _read_ray_service(body: Located) -> Iterator[TemplatePart]:
    yield from _read_ray(find(body, "spec", "rayClusterConfig"), "spec.rayClusterConfig")


def _read_ray(spec: Located | None, path: str) -> Iterator[TemplatePart]:
    yield from _read_template(find(spec, "headGroupSpec"), f"{path}.headGroupSpec", "head")
    for index, group in enumerate(items(find(spec, "workerGroupSpecs"))):
        role = text_at(group, "groupName") or "worker"
        counts = (find(group, "replicas"), find(group, "numOfHosts"))
        yield from _read_template(group, f"{path}.workerGroupSpecs[{index}]", role, *counts)


def _read_tasks(body: Located) -> Iterator[TemplatePart]:
    for index, task in enumerate(items(find(body, "spec", "tasks"))):
        yield from _read_template(task, f"spec.tasks[{index}]", text_at(task, "name"), find(task, "replicas"))


def _read_inference_service(body: Located) -> Iterator[TemplatePart]:
    """Yield KServe's predictor, a pod spec with additional fields; a model is one of its containers."""
    predictor = find(body, "spec", "predictor")
    model = find(predictor, "model")
    if predictor is None or (find(predictor, "containers") is None and model is None):
        return
    spec, note = predictor, ""
    if find(predictor, "containers") is None and model is not None:
        spec = Located(
            {**mapping(predictor), "containers": Located([model], model.at, model.key)},
            predictor.at,
            predictor.key,
        )
        note = "what its ServingRuntime adds"
    labels = find(body, "metadata", "labels")
    yield TemplatePart(
        "predictor", (find(predictor, "minReplicas"),), spec, labels, "spec.predictor", note=note
    )


_KINDS: dict[str, Callable[[Located], Iterator[TemplatePart]]] = {
    "Pod": _read_pod,
    "PodTemplate": _read_pod_template,
    "Job": _read_job,
    "CronJob": _read_cron_job,
    "Deployment": _read_scaled,
    "ReplicaSet": _read_scaled,
    "StatefulSet": _read_scaled,
    "ReplicationController": _read_scaled,
    "DaemonSet": _read_scaled,
    "LeaderWorkerSet": _read_leader_worker_set,
    "JobSet": _read_job_set,
    "TrainingRuntime": _read_training_runtime,
    "ClusterTrainingRuntime": _read_training_runtime,
    "RayCluster": _read_ray_cluster,
    "RayJob": _read_ray_job,
    "RayService": _read_ray_service,
    "InferenceService": _read_inference_service,
}
"""Kinds with their own template fields, or that always create pods."""
