"""`gpupool diff --helm` against Secrets as Helm writes them."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import Outcome, process
from tests.rig.server import ApiServer

BLUEPRINT = """\
apiVersion: gpupool.dev/v1alpha1
kind: Blueprint
metadata: {{name: {name}}}
cluster: {{name: c, region: us-east-1, context: rig}}
defaults: {{nodeClass: {{ami: al2023@v20260810}}}}
pools:
  {name}: {{profile: batch-spot, accelerator: l4, limits: {{gpus: 4}}}}
stack:
  nvidia-device-plugin: {{namespace: default, release: {name}, version: 0.20.0}}
"""


def released(values: dict[str, Any], version: str) -> str:
    """Return what Helm 3 writes under `data.release`."""
    said = {"config": values, "chart": {"metadata": {"name": "nvidia-device-plugin", "version": version}}}
    packed = base64.b64encode(gzip.compress(json.dumps(said).encode()))
    return base64.b64encode(packed).decode()


def install(server: ApiServer, name: str, revision: int, release: str, status: str = "deployed") -> None:
    labels = {"owner": "helm", "name": name, "status": status, "version": str(revision)}
    metadata = {"name": f"sh.helm.release.v1.{name}.v{revision}", "labels": labels}
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"release": release}}
    answer = server.request("POST", "/api/v1/namespaces/default/secrets", json.dumps(body).encode())
    assert answer.status == 201, answer.body


@pytest.fixture
def blueprint(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    name = request.node.name.replace("_", "-").removeprefix("test-")[:40].strip("-")
    file = tmp_path / "gpupool.yaml"
    file.write_text(BLUEPRINT.format(name=name), "utf-8")
    return file


def diff(server: ApiServer, blueprint: Path, *more: str) -> Outcome:
    return process(
        "diff",
        "-f",
        str(blueprint),
        "--helm",
        "--kubeconfig",
        str(server.kubeconfig),
        *more,
        folder=blueprint.parent,
    )


def rendered(blueprint: Path) -> dict[str, Any]:
    import yaml

    text = process(
        "render", "-f", str(blueprint), "--values", "nvidia-device-plugin", folder=blueprint.parent
    ).out
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def test_nothing_installed(api_server: ApiServer, blueprint: Path) -> None:
    found = diff(api_server, blueprint)

    assert found.code == 2
    assert "not installed, 0.20.0 is wanted" in found.out


def test_the_same_values(api_server: ApiServer, blueprint: Path) -> None:
    values = rendered(blueprint)
    install(api_server, "the-same-values", 1, released({**values, "more": 1}, "0.19.0"), "superseded")
    install(api_server, "the-same-values", 10, released(values, "0.20.0"))

    found = diff(api_server, blueprint)

    assert "0.20.0, with the values that the blueprint renders" in found.out


def test_other_values_and_version(api_server: ApiServer, blueprint: Path) -> None:
    values = {**rendered(blueprint), "apiToken": "hunter2-hunter2", "extra": {"level": 3}}
    install(api_server, "other-values-and-version", 2, released(values, "0.19.3"))

    found = diff(api_server, blueprint)

    assert found.code == 2
    assert ": 0.19.3, 0.20.0 is wanted, values differ" in found.out
    assert "extra.level: 3 -> null" in found.out
    assert 'apiToken: "(sensitive)" -> null' in found.out
    assert "hunter2" not in found.out + found.err


def test_beside_json_it_goes_to_standard_error(api_server: ApiServer, blueprint: Path) -> None:
    found = diff(api_server, blueprint, "-o", "json")

    assert json.loads(found.out)["formatVersion"]
    assert "not installed" in found.err


@pytest.mark.parametrize("data", ["", "bm90IGJhc2U2NA==", base64.b64encode(b"aGVsbG8=").decode()])
def test_what_can_not_be_read(api_server: ApiServer, tmp_path: Path, data: str) -> None:
    name = f"unreadable-{len(data)}"
    blueprint = tmp_path / "gpupool.yaml"
    blueprint.write_text(BLUEPRINT.format(name=name), "utf-8")
    install(api_server, name, 1, data)

    found = diff(api_server, blueprint)

    assert found.code == 1
    assert f"error: can't read the Helm release default/{name}" in found.err


def test_without_the_right_to_read_secrets(api_server: ApiServer, blueprint: Path) -> None:
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "no-secrets"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "no-secrets"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "no-secrets"}],
    }
    rules = [
        {"apiGroups": ["karpenter.sh", "karpenter.k8s.aws"], "resources": ["*"], "verbs": ["*"]},
        {"apiGroups": [""], "resources": ["namespaces", "configmaps"], "verbs": ["get"]},
    ]
    cluster_role = {**role, "kind": "ClusterRole", "rules": rules}
    for key in ("roleRef", "subjects"):
        del cluster_role[key]
    for plural, body in (("clusterroles", cluster_role), ("clusterrolebindings", role)):
        path = f"/apis/rbac.authorization.k8s.io/v1/{plural}"
        assert api_server.request("POST", path, json.dumps(body).encode()).status == 201

    found = diff(api_server, blueprint, "--as", "no-secrets")

    assert found.code == 1
    assert "can't read the Secrets of Helm in default" in found.err
    assert "the permission to" in found.err
