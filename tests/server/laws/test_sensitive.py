"""Secrets stay where they are: in the blueprint and in the cluster, and in nothing that gpupool says or keeps."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gpupool.rendering.roles import Place
from tests.cli.run import Outcome, gpupool
from tests.rig.server import ApiServer
from tests.server.identities import granted_but

NAME = "keeps-secrets"
USER_DATA = "#!/bin/sh\necho 'S3cret-in-user-data \\\\ \"quoted\" é'\n"
SECRETS = {
    "userData": USER_DATA.strip().splitlines()[1],
    "token": "tag-token-7f3a",
    "vault": 'vault "quoted" \\\\ é pässword',
    "context": "ctx-9d81-context",
    "annotation": "annotation-password-55",
}
OTHER = "another-token-11"
TEXT = """\
apiVersion: gpupool.dev/v1alpha1
kind: Blueprint
metadata: {{name: {name}}}
cluster: {{name: c, region: us-east-1, context: rig}}
sensitive: ["vault-*", context]
defaults: {{nodeClass: {{ami: al2023@v20260810}}}}
pools:
  {name}:
    profile: training
    accelerator: h100
    limits: {{gpus: {gpus}}}
    annotations: {{example.com/db-password: {annotation}}}
    nodeClass:
      userData: {user_data}
      context: {context}
      tags: {{team: platform, api-token: {token}, vault-path: {vault}{more}}}
"""
POOLS, CLASSES = "/apis/karpenter.sh/v1/nodepools", "/apis/karpenter.k8s.aws/v1/ec2nodeclasses"
CONFIG_MAP = f"/api/v1/namespaces/kube-system/configmaps/gpupool-{NAME}"
FORMATS = ("text", "patch", "json", "markdown", "github")


def text(gpus: int = 8, more: str = "", token: str = SECRETS["token"], user_data: str = USER_DATA) -> str:
    """Give the blueprint."""
    said = {
        "token": token, "vault": SECRETS["vault"], "context": SECRETS["context"],
        "annotation": SECRETS["annotation"], "user_data": user_data,
    }  # fmt: skip
    return TEXT.format(
        name=NAME, gpus=gpus, more=more, **{key: json.dumps(each) for key, each in said.items()}
    )


@pytest.fixture(autouse=True)
def _here(api_server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(api_server.kubeconfig))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "outputs"))
    Path("gpupool.yaml").write_text(text(), "utf-8")
    yield
    for path in (POOLS, CLASSES):
        api_server.request("DELETE", f"{path}/{NAME}")
    api_server.request("DELETE", CONFIG_MAP)


def leaks(said: str) -> list[str]:
    """Give the secrets that stand in a text, as they are or as JSON writes them."""
    forms = {name: {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
             for name, secret in SECRETS.items()}  # fmt: skip
    return [name for name, each in forms.items() if any(form in said for form in each)]


def everything(ended: Outcome) -> str:
    """Give all that a command said or wrote."""
    files = [each.read_text("utf-8") for each in Path().iterdir() if each.name != "gpupool.yaml"]
    return "\n".join([ended.out, ended.err, *files])


def in_every_format() -> list[str]:
    return [word for name in FORMATS for word in ("-o", f"{name}=out.{name}")]


def test_the_check_finds_what_is_there() -> None:
    assert leaks(text()) == [*SECRETS]


def test_nothing_that_is_printed_or_saved_has_them(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    new = gpupool(capsys, "plan", *in_every_format(), "-o", "text")
    assert (new.code, leaks(everything(new))) == (0, [])

    applied = gpupool(capsys, "apply", "--yes", "--wait", "none", *in_every_format())
    assert (applied.code, leaks(everything(applied))) == (0, [])
    assert leaks(json.dumps(api_server.request("GET", CONFIG_MAP).body, ensure_ascii=False)) == []

    Path("gpupool.yaml").write_text(text(gpus=16, token=OTHER), "utf-8")
    for command in (("plan",), ("diff", "--exit-zero"), ("status",), ("apply", "--yes", "--wait", "none")):
        outputs = () if command == ("status",) else in_every_format()
        changed = gpupool(capsys, *command, *outputs)
        said = everything(changed)
        assert (changed.code, leaks(said), OTHER in said) == (0, [], False), command


def test_a_changed_secret_is_seen_as_changed(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gpupool(capsys, "apply", "--yes", "--wait", "none").code == 0
    Path("gpupool.yaml").write_text(text(token=OTHER), "utf-8")

    found = gpupool(capsys, "diff")

    assert found.code == 2
    assert "spec.tags.api-token: (sensitive, sha256:" in found.out
    assert (
        api_server.request("GET", f"{CLASSES}/{NAME}").body["spec"]["tags"]["api-token"] == SECRETS["token"]
    )


def test_a_saved_plan_gets_them_back_from_the_blueprint(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gpupool(capsys, "plan", "-o", "json=plan.json").code == 0

    applied = gpupool(capsys, "apply", "plan.json", "--wait", "none")

    spec = api_server.request("GET", f"{CLASSES}/{NAME}").body["spec"]
    assert applied.code == 0, applied.err
    assert (spec["userData"], spec["context"]) == (USER_DATA, SECRETS["context"])
    assert (spec["tags"]["api-token"], spec["tags"]["vault-path"]) == (SECRETS["token"], SECRETS["vault"])
    assert gpupool(capsys, "diff").code == 0


@pytest.mark.parametrize(
    "changed", [{"token": "another"}, {"user_data": "#!/bin/sh\necho other\n"}, {"gpus": 9 * 8}]
)
def test_a_blueprint_that_changed_since_is_another_one(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str], changed: dict[str, str]
) -> None:
    assert gpupool(capsys, "plan", "-o", "json=plan.json").code == 0
    Path("gpupool.yaml").write_text(text(**changed), "utf-8")  # type: ignore[arg-type] # words of its own

    refused = gpupool(capsys, "apply", "plan.json", "--wait", "none")

    assert refused.code == 5, refused.err
    assert "the blueprint is not the one that was planned" in refused.err
    assert api_server.request("GET", f"{CLASSES}/{NAME}").status == 404


def test_without_the_blueprint_it_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert gpupool(capsys, "plan", "-o", "json=plan.json").code == 0
    Path("gpupool.yaml").unlink()

    refused = gpupool(capsys, "apply", "plan.json", "--wait", "none")

    assert refused.code == 1
    assert "gpupool.yaml" in refused.err


@contextmanager
def _refusing(server: ApiServer) -> Iterator[None]:
    """Have every new class of this name refused, in words that quote what nobody is to see."""
    policy = f"refuses-{NAME}"
    rules = [{"apiGroups": ["karpenter.k8s.aws"], "apiVersions": ["*"], "operations": ["CREATE"],
              "resources": ["ec2nodeclasses"]}]  # fmt: skip
    quoting = "'no: ' + object.spec.context + object.spec.tags['api-token'] + object.spec.tags['vault-path']"
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": rules},
        "matchConditions": [{"name": "ours", "expression": f"object.metadata.name == '{NAME}'"}],
        "validations": [{"expression": "false", "messageExpression": quoting}],
    }
    admission = "/apis/admissionregistration.k8s.io/v1"
    bodies = {
        "validatingadmissionpolicies": {"kind": "ValidatingAdmissionPolicy", "spec": spec},
        "validatingadmissionpolicybindings": {
            "kind": "ValidatingAdmissionPolicyBinding",
            "spec": {"policyName": policy, "validationActions": ["Deny"]},
        },
    }
    for plural, body in bodies.items():
        whole = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": policy}, **body}
        assert server.request("POST", f"{admission}/{plural}", json.dumps(whole).encode()).status == 201
    try:
        yield
    finally:
        for plural in bodies:
            server.request("DELETE", f"{admission}/{plural}/{policy}")


def _wait_for_the_policy(capsys: pytest.CaptureFixture[str]) -> None:
    """A policy counts once the server has compiled it."""
    for _ in range(100):
        if gpupool(capsys, "diff").code == 1:
            return
    pytest.fail("the policy never counts")


def test_what_the_server_refuses_is_quoted_without_them(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with _refusing(api_server):
        _wait_for_the_policy(capsys)
        refused = gpupool(capsys, "diff", *in_every_format(), "-o", "text")

    assert refused.code == 1
    assert "(sensitive)" in refused.out + refused.err
    assert leaks(everything(refused)) == []


def test_what_is_tried_again_at_apply_is_quoted_without_them(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """A plan made by somebody who may not try is tried by whoever applies it; then it is refused, in words."""
    place = Place(NAME, "kube-system")
    with granted_but(api_server, "plan", place, ("ec2nodeclasses", "patch")) as user:
        planned = gpupool(capsys, "plan", "--as", user, "-o", "json=plan.json")
    assert planned.code == 0, planned.err

    with _refusing(api_server):
        _wait_for_the_policy(capsys)
        refused = gpupool(capsys, "apply", "plan.json", "--wait", "none")

    assert refused.code == 5, refused.err
    assert f"the API server would refuse EC2NodeClass/{NAME} now" in refused.err
    assert "(sensitive)" in refused.err
    assert leaks(everything(refused)) == []
