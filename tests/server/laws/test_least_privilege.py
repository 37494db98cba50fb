"""diff, plan and apply do with what `gpupool rbac` prints; with one right less they name it, or say what they left."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupool.rendering.roles import RoleScope
from tests.cli.run import Outcome, gpupool
from tests.rig.server import ApiServer
from tests.server.identities import granted_but

NAME = "least-rights"
PLACE = RoleScope(NAME, "kube-system")
HEAD = f"""\
apiVersion: gpupool.dev/v1alpha1
kind: Blueprint
metadata: {{name: {NAME}}}
cluster: {{name: c, region: us-east-1, context: rig, features: [NodeOverlay]}}
defaults: {{nodeClass: {{ami: al2023@v20260810}}}}
"""
OVERLAY = """\
nodeOverlays:
  least-{0}:
    requirements: [{{key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge]}}]
    price: "{1}"
"""
POOL = "  least-{0}: {{profile: training, accelerator: h100, limits: {{gpus: {1}}}}}\n"
BEFORE = HEAD + "pools:\n" + POOL.format("kept", 8) + POOL.format("gone", 8) + OVERLAY.format("kept", 1)
AFTER = HEAD + "pools:\n" + POOL.format("kept", 16) + POOL.format("new", 8) + OVERLAY.format("kept", 2)
"""One pool and its class is to be deleted, one to be created, one to be changed, and the overlay too."""

APPLY = ("apply", "--yes", "--prune", "--wait", "none", "-o", "json")
KINDS = ("nodepools", "nodeoverlays", "ec2nodeclasses")


@pytest.fixture(autouse=True)
def _before(
    api_server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(api_server.kubeconfig))
    (tmp_path / "gpupool.yaml").write_text(BEFORE, "utf-8")
    assert gpupool(capsys, *APPLY).code == 0
    (tmp_path / "gpupool.yaml").write_text(AFTER, "utf-8")
    yield
    for kind in (
        "karpenter.sh/v1/nodepools",
        "karpenter.sh/v1alpha1/nodeoverlays",
        "karpenter.k8s.aws/v1/ec2nodeclasses",
    ):
        for name in ("kept", "gone", "new"):
            api_server.request("DELETE", f"/apis/{kind}/least-{name}")
    api_server.request("DELETE", f"/api/v1/namespaces/kube-system/configmaps/gpupool-{NAME}")


def lacks(said: Outcome, resource: str, verb: str) -> bool:
    """Return whether the message names the right that is missing."""
    return f'cannot {verb} resource "{resource}"' in said.err


def test_what_is_printed_suffices(api_server: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    with granted_but(api_server, "plan", PLACE, None) as user:
        looked = gpupool(capsys, "diff", "--as", user, "-o", "json")
        planned = gpupool(capsys, "plan", "--prune", "--as", user, "-o", "json=plan.json", "-o", "text")
    with granted_but(api_server, "apply", PLACE, None) as user:
        applied = gpupool(capsys, "apply", "plan.json", "--wait", "none", "--as", user)

    assert (looked.code, planned.code) == (2, 0)
    assert {each["verified"] for each in json.loads(looked.out)["changes"]} == {"server"}
    assert applied.code == 0, applied.err


@pytest.mark.parametrize(
    ("resource", "verb"),
    [
        ("namespaces", "get"),
        ("configmaps", "get"),
        ("nodeclaims", "list"),
        *((kind, "list") for kind in KINDS),
    ],
)
def test_plan_names_the_right_that_it_lacks(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str], resource: str, verb: str
) -> None:
    with granted_but(api_server, "plan", PLACE, (resource, verb)) as user:
        said = gpupool(capsys, "plan", "--prune", "--as", user)

    assert said.code == 1
    assert lacks(said, resource, verb), said.err
    assert "see `gpupool rbac`" in said.err


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", ["patch", "create"])
def test_without_the_right_to_try_it_is_worked_out_here_and_said(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str], kind: str, verb: str
) -> None:
    with granted_but(api_server, "plan", PLACE, (kind, verb)) as user:
        text = gpupool(capsys, "diff", "--as", user)
        plan = gpupool(capsys, "diff", "--as", user, "-o", "json")

    address = {"nodepools": "NodePool/", "nodeoverlays": "NodeOverlay/", "ec2nodeclasses": "EC2NodeClass/"}[
        kind
    ]
    changes = json.loads(plan.out)["changes"]
    tried = {
        each["address"]: each["verified"] for each in changes if each["actions"] in (["create"], ["update"])
    }
    lacking = {name for name, verified in tried.items() if verified == "read-only"}
    wanted = {name for name in tried if name.startswith(address)}
    if verb == "create":
        # To apply an object that is there, the server asks for no right to create one.
        wanted = {name for name in wanted if name.endswith("-new")}
    assert lacking == wanted
    assert text.code == plan.code == 2
    assert ("Not checked by the API server in a dry run" in text.out) == bool(wanted), text.out


@pytest.mark.parametrize("resource", ["customresourcedefinitions"])
def test_without_the_crds_a_plan_is_not_held_against_them(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str], resource: str
) -> None:
    with granted_but(api_server, "plan", PLACE, (resource, "get")) as user:
        said = gpupool(capsys, "plan", "--as", user, "-o", "json")

    assert said.code == 0
    assert json.loads(said.out)["target"]["crds"] == {}


@pytest.mark.parametrize(
    ("resource", "verb"),
    [
        ("configmaps", "get"), ("configmaps", "patch"), ("leases", "create"),
        *((kind, verb) for kind in KINDS for verb in ("list", "patch")),
        ("nodepools", "create"), ("ec2nodeclasses", "create"), ("nodepools", "delete"), ("ec2nodeclasses", "delete"),
        ("nodeclaims", "list"),
    ],
)  # fmt: skip
def test_apply_names_the_right_that_it_lacks(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str], resource: str, verb: str
) -> None:
    with granted_but(api_server, "apply", PLACE, (resource, verb)) as user:
        said = gpupool(capsys, *APPLY, "--as", user)

    assert said.code in {1, 7}, said.err
    assert lacks(said, resource, verb), said.err


def test_the_lock_that_can_not_be_given_back_is_said(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with granted_but(api_server, "apply", PLACE, ("leases", "delete")) as user:
        said = gpupool(capsys, *APPLY, "--as", user)

    api_server.request("DELETE", f"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/gpupool-{NAME}")
    assert lacks(said, "leases", "delete"), said.err


def test_the_first_apply_needs_to_create_the_inventory(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    api_server.request("DELETE", f"/api/v1/namespaces/kube-system/configmaps/gpupool-{NAME}")

    with granted_but(api_server, "apply", PLACE, ("configmaps", "create")) as user:
        said = gpupool(capsys, *APPLY, "--as", user)

    assert said.code == 1
    assert lacks(said, "configmaps", "create"), said.err
