"""`gpupool init --from-context` pins the cluster that it asks."""

from pathlib import Path

from gpupool.yamlio.quoting import format_string
from tests.cli.run import process
from tests.rig.server import ApiServer


def test_it_writes_the_context_and_the_uid(api_server: ApiServer, tmp_path: Path) -> None:
    uid = api_server.request("GET", "/api/v1/namespaces/kube-system").body["metadata"]["uid"]
    environment = {"KUBECONFIG": str(api_server.kubeconfig)}

    made = process("init", "--from-context", "rig", folder=tmp_path, environment=environment)

    assert made.code == 0, made.err
    text = (tmp_path / "gpupool.yaml").read_text()
    assert f"\n  context: rig         # of the kubeconfig\n  uid: {format_string(uid)} " in text
    assert process("diff", "--exit-zero", folder=tmp_path, environment=environment).code == 0


def test_another_cluster_is_refused(api_server: ApiServer, tmp_path: Path) -> None:
    environment = {"KUBECONFIG": str(api_server.kubeconfig)}
    process("init", "--from-context", "rig", folder=tmp_path, environment=environment)
    file = tmp_path / "gpupool.yaml"
    file.write_text(file.read_text().replace("\n  uid: ", "\n  uid: another  # "))

    refused = process("diff", folder=tmp_path, environment=environment)

    assert refused.code == 3
    assert "error: wrong cluster: its uid is" in refused.err


def test_a_context_that_nobody_knows(api_server: ApiServer, tmp_path: Path) -> None:
    environment = {"KUBECONFIG": str(api_server.kubeconfig)}

    failed = process("init", "--from-context", "nope", folder=tmp_path, environment=environment)

    assert failed.code == 1
    assert "it has no context `nope`" in failed.err
    assert not (tmp_path / "gpupool.yaml").exists()
