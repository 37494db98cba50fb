"""The rig itself: the components are the real ones, at the versions we name, and they say no as well as yes."""

import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.rig import programs
from tests.rig.conformance import Kubeconform
from tests.rig.errors import RigError
from tests.rig.programs import Program
from tests.rig.server import CHECKOUT, ApiServer
from tests.server.objects import EC2_NODE_CLASS, NODE_POOL, changed

GPU_COUNT = b'operator: Gt, values: ["0"]'


def test_server_is_the_version_we_name(api_server: ApiServer) -> None:
    assert api_server.request("GET", "/version").body["gitVersion"] == "v1.36.3"


@pytest.mark.parametrize("text", [NODE_POOL, EC2_NODE_CLASS], ids=["NodePool", "EC2NodeClass"])
def test_server_accepts_a_good_object_and_keeps_nothing(api_server: ApiServer, text: bytes) -> None:
    verdict = api_server.dry_run(text)

    assert (verdict.accepted, verdict.message) == (True, "")
    kind = verdict.stored["kind"]
    assert api_server.post_dry_run(text, kind).accepted
    assert api_server.request("GET", api_server.resource(kind).path("", "rig")).status == 404


def test_server_fills_in_its_defaults(api_server: ApiServer) -> None:
    stored = api_server.dry_run(NODE_POOL).stored

    assert stored["spec"]["disruption"]["budgets"] == [{"nodes": "10%"}]
    assert stored["spec"]["template"]["spec"]["expireAfter"] == "720h"


def test_server_refuses_a_misspelt_field(api_server: ApiServer) -> None:
    text = changed(NODE_POOL, b"limits:", b"limit:")

    by_apply, by_post = api_server.dry_run(text), api_server.post_dry_run(text, "NodePool")

    assert (by_apply.accepted, by_post.accepted) == (False, False)
    assert ".spec.limit: field not declared in schema" in by_apply.message
    assert 'unknown field "spec.limit"' in by_post.message


def test_server_answers_a_body_that_is_no_object(api_server: ApiServer) -> None:
    verdict = api_server.post_dry_run(b"[1, 2", "NodePool")

    assert (verdict.accepted, verdict.status) == (False, 400)


@pytest.mark.parametrize(
    ("text", "field", "word"),
    [
        (
            changed(EC2_NODE_CLASS, b"role: KarpenterNodeRole", b"role: r\n  instanceProfile: p"),
            "spec",
            "role",
        ),
        (
            changed(NODE_POOL, GPU_COUNT, b'operator: Gt, values: ["0", "1"]'),
            "spec.template.spec.requirements",
            "must have a single positive integer value",
        ),
    ],
    ids=["role and instanceProfile", "Gt with two values"],
)
def test_cel_rules_fire(api_server: ApiServer, text: bytes, field: str, word: str) -> None:
    verdict = api_server.dry_run(text)

    assert (verdict.accepted, verdict.status) == (False, 422)
    assert [cause.field for cause in verdict.causes] == [field]
    assert word in verdict.causes[0].message


def test_server_stores_only_what_is_applied_for_good(api_server: ApiServer) -> None:
    text = changed(NODE_POOL, b"  name: rig\n", b"  name: rig-kept\n")
    path = api_server.resource("NodePool").path("", "rig-kept")
    assert api_server.apply(text).accepted
    try:
        assert api_server.request("GET", path).body["spec"]["limits"] == {"nvidia.com/gpu": 8, "cpu": "64"}
    finally:
        assert api_server.request("DELETE", path).status == 200


def test_a_user_without_rights_has_a_kubeconfig_of_its_own(api_server: ApiServer) -> None:
    assert api_server.kubeconfig.read_text() != api_server.kubeconfig_nobody.read_text()
    assert api_server.url in api_server.kubeconfig_nobody.read_text()


def test_kubeconform_accepts_the_good_and_refuses_the_misspelt(
    kubeconform: Kubeconform, tmp_path: Path
) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "misspelt.yaml"
    good.write_bytes(NODE_POOL + b"---\n" + EC2_NODE_CLASS)
    bad.write_bytes(changed(NODE_POOL, b"taints", b"taint"))

    node_class, pool, refused = kubeconform([good, bad])

    assert (node_class.kind, node_class.valid, node_class.message) == ("EC2NodeClass", True, "")
    assert (pool.kind, pool.name, pool.valid) == ("NodePool", "rig", True)
    assert (refused.file, refused.valid) == (bad, False)
    assert "taint" in refused.message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'cpu: "64"', b"cpu: true"),
        (b'values: ["0"]', b"values: [0]"),
        (b"effect: NoSchedule", b"effect: NoScheduling"),
        (b"karpenter.sh/v1", b"karpenter.sh/v1beta1"),
        (b"name: rig\nspec", b"name: rig\n  labels: {a: 1}\nspec"),
    ],
    ids=["int or string", "string", "enum", "no schema", "metadata"],
)
def test_kubeconform_refuses(kubeconform: Kubeconform, tmp_path: Path, old: bytes, new: bytes) -> None:
    file = tmp_path / "bad.yaml"
    file.write_bytes(changed(NODE_POOL, old, new))

    (verdict,) = kubeconform([file])

    assert not verdict.valid
    assert verdict.message


def test_a_program_that_cannot_be_built_is_an_error_and_leaves_nothing() -> None:
    absent = Program(
        "absent", "kubeconform", "github.com/yannh/kubeconform/cmd/absent", "github.com/yannh/kubeconform"
    )

    with pytest.raises(RigError, match="cmd/absent"):
        programs.build(absent)

    assert [file.name for file in programs.home(absent).iterdir()] == [".absent.lock"]


KILLED_IN_THE_MIDDLE = """
import os, signal
from tests.rig.server import api_server
with api_server() as found:
    print(found.kubeconfig, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_run_leaves_no_server_and_no_folder() -> None:
    command = [sys.executable, "-c", KILLED_IN_THE_MIDDLE]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    folder = Path(done.stdout.strip()).parent

    assert done.returncode == -signal.SIGKILL
    assert folder.name.startswith("gpupool-rig-")
    deadline = time.monotonic() + 30
    while folder.exists() or _processes_in(folder):
        assert time.monotonic() < deadline, f"{folder} or a process in it still stands"
        time.sleep(0.1)


def _processes_in(folder: Path) -> list[str]:
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended since
            found.append(file.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return [command for command in found if str(folder) in command]
