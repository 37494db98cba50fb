"""Secrets stay where they are: in the blueprint and in the cluster, and in nothing that gpupool says or keeps."""

import hashlib
import hmac
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gpupool import objects
from gpupool.rendering.roles import RoleScope
from gpupool.rollout.desired_state import load_desired_state
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
    "annotation": "xq-9d-zk-55-b7",
    "label": "label-auth-2468",
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
    labels: {{example.com/auth: {label}}}
    nodeClass:
      userData: {user_data}
      context: {context}
      tags: {{team: platform, api-token: {token}, vault-path: {vault}{more}}}
"""
POOLS, CLASSES = "/apis/karpenter.sh/v1/nodepools", "/apis/karpenter.k8s.aws/v1/ec2nodeclasses"
CONFIG_MAP = f"/api/v1/namespaces/kube-system/configmaps/gpupool-{NAME}"
FORMATS = ("text", "patch", "json", "markdown", "github")


def text(gpus: int = 8, more: str = "", token: str = SECRETS["token"], user_data: str = USER_DATA) -> str:
    """Return the blueprint."""
    said = {
        "token": token, "vault": SECRETS["vault"], "context": SECRETS["context"],
        "annotation": SECRETS["annotation"], "user_data": user_data, "label": SECRETS["label"],
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


def partial_leaks(said: str) -> list[str]:
    """Return the secrets of which a part, of eight characters or more, appears in a text."""
    secrets = {**SECRETS, "other": OTHER}
    quoted = {name: {secret, json.dumps(secret)[1:-1]} for name, secret in secrets.items()}
    return [
        name
        for name, forms in quoted.items()
        if any(form[at : at + 8] in said for form in forms for at in range(len(form) - 7))
    ]


def leaks(said: str) -> list[str]:
    """Return the secrets that stand in a text, as they are or as JSON writes them."""
    forms = {name: {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
             for name, secret in SECRETS.items()}  # fmt: skip
    return [name for name, each in forms.items() if any(form in said for form in each)]


def everything(ended: Outcome) -> str:
    """Return all that a command said or wrote."""
    files = [each.read_text("utf-8") for each in Path().iterdir() if each.name != "gpupool.yaml"]
    return "\n".join([ended.out, ended.err, *files])


def in_every_format() -> list[str]:
    return [word for name in FORMATS for word in ("-o", f"{name}=out.{name}")]


def test_the_check_finds_what_is_there() -> None:
    assert leaks(text()) == [*SECRETS]
    assert partial_leaks(text(token=OTHER[:8])) == [*(each for each in SECRETS if each != "token"), "other"]


def test_nothing_that_is_printed_or_saved_has_them(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    new = gpupool(capsys, "plan", *in_every_format(), "-o", "text")
    assert (new.code, partial_leaks(everything(new))) == (0, [])

    applied = gpupool(capsys, "apply", "--yes", "--wait", "none", *in_every_format())
    assert (applied.code, partial_leaks(everything(applied))) == (0, [])
    kept = json.dumps(api_server.request("GET", CONFIG_MAP).body, ensure_ascii=False)
    assert (leaks(kept), partial_leaks(kept)) == ([], [])

    Path("gpupool.yaml").write_text(text(gpus=16, token=OTHER), "utf-8")
    for command in (("plan",), ("diff", "--exit-zero"), ("status",), ("apply", "--yes", "--wait", "none")):
        outputs = () if command == ("status",) else in_every_format()
        changed = gpupool(capsys, *command, *outputs)
        assert (changed.code, partial_leaks(everything(changed))) == (0, []), command


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
    assert "the blueprint has changed since the plan was made" in refused.err
    assert api_server.request("GET", f"{CLASSES}/{NAME}").status == 404


def test_without_the_blueprint_it_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert gpupool(capsys, "plan", "-o", "json=plan.json").code == 0
    Path("gpupool.yaml").unlink()

    refused = gpupool(capsys, "apply", "plan.json", "--wait", "none")

    assert refused.code == 1
    assert "gpupool.yaml" in refused.err


QUOTING = "'no: ' + object.spec.context + object.spec.tags['api-token'] + object.spec.tags['vault-path']"
QUOTING_PARTS = (
    "'no: ' + object.spec.userData.substring(15, 31) + ', ' + object.spec.tags['api-token'].substring(2, 11) + ', '"
    " + object.spec.context.substring(0, 8)"
)


@contextmanager
def _refusing(
    server: ApiServer, quoting: str = QUOTING, operation: str = "CREATE", resource: str = "ec2nodeclasses"
) -> Iterator[None]:
    """Have every new class of this name refused, in words that quote what nobody is to see."""
    policy = f"refuses-{NAME}"
    group = {"nodepools": "karpenter.sh", "ec2nodeclasses": "karpenter.k8s.aws"}.get(resource, "")
    rules = [{"apiGroups": [group], "apiVersions": ["*"], "operations": [operation], "resources": [resource]}]
    this = "oldObject" if operation == "DELETE" else "object"
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": rules},
        "matchConditions": [{"name": "ours", "expression": f"{this}.metadata.name.endsWith('{NAME}')"}],
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
        _until(server, resource, policy, counts=True)
        yield
    finally:
        for plural in bodies:
            server.request("DELETE", f"{admission}/{plural}/{policy}")
        _until(server, resource, policy, counts=False)


def _until(server: ApiServer, resource: str, policy: str, *, counts: bool) -> None:
    """A policy counts once the server has compiled it, and for a moment after it is gone."""
    label = b'{"metadata": {"labels": {"a": "b"}}}'
    merge = "application/merge-patch+json"
    for _ in range(400):
        if resource == "ec2nodeclasses":
            found = load_desired_state(["gpupool.yaml"]).manifests
            (body,) = [each.data for each in found if each.ref.kind == "EC2NodeClass"]
            said = server.request("POST", f"{CLASSES}?dryRun=All", json.dumps(body).encode())
        elif resource == "nodepools":
            said = server.request("DELETE", f"{POOLS}/{NAME}?dryRun=All")
        else:
            said = server.request("PATCH", f"{CONFIG_MAP}?dryRun=All", label, merge)
        if (policy in json.dumps(said.body)) == counts:
            return
        time.sleep(0.02)
    pytest.fail(f"the policy {'never' if counts else 'always'} counts")


def test_what_the_server_refuses_is_quoted_without_them(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with _refusing(api_server):
        refused = gpupool(capsys, "diff", *in_every_format(), "-o", "text")

    assert refused.code == 1
    assert "(sensitive)" in refused.out + refused.err
    assert leaks(everything(refused)) == []


def test_what_is_tried_again_at_apply_is_quoted_without_them(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """A plan made by somebody who may not try is tried by whoever applies it; then it is refused, in words."""
    place = RoleScope(NAME, "kube-system")
    with granted_but(api_server, "plan", place, ("ec2nodeclasses", "patch")) as user:
        planned = gpupool(capsys, "plan", "--as", user, "-o", "json=plan.json")
    assert planned.code == 0, planned.err

    with _refusing(api_server):
        refused = gpupool(capsys, "apply", "plan.json", "--wait", "none")

    assert refused.code == 5, refused.err
    assert f"the API server rejects EC2NodeClass/{NAME} now" in refused.err
    assert "(sensitive)" in refused.err
    assert leaks(everything(refused)) == []


def test_parts_that_the_server_quotes_are_cut_out(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with _refusing(api_server, QUOTING_PARTS):
        refused = gpupool(capsys, "diff", *in_every_format(), "-o", "text")

    assert refused.code == 1
    assert "no: (sensitive), (sensitive), (sensitive)" in refused.out
    assert partial_leaks(everything(refused)) == []


def test_a_refused_deletion_quotes_no_part(api_server: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    """A server that refuses to delete shows the object as it is."""
    way = ("--prune", "--allow-empty", "--yes", "--wait", "none")
    assert gpupool(capsys, "apply", "--yes", "--wait", "none").code == 0
    Path("gpupool.yaml").write_text(text().partition("pools:")[0], "utf-8")
    quoting = (
        "'no: ' + oldObject.spec.template.metadata.annotations['example.com/db-password'].substring(0, 12)"
    )

    with _refusing(api_server, quoting, "DELETE", "nodepools"):
        refused = gpupool(capsys, "apply", *way, *in_every_format())

    assert refused.code == 7, refused.err
    assert "no: (sensitive)" in refused.err
    assert partial_leaks(everything(refused)) == []


def test_a_refused_inventory_quotes_no_key(api_server: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert gpupool(capsys, "apply", "--yes", "--wait", "none").code == 0
    key = json.loads(api_server.request("GET", CONFIG_MAP).body["data"]["key"])
    Path("gpupool.yaml").write_text(text(gpus=16), "utf-8")

    with _refusing(api_server, "'no: ' + object.data.key", "UPDATE", "configmaps"):
        refused = gpupool(capsys, "apply", "--yes", "--wait", "none")

    assert (refused.code, "no: (sensitive)" in refused.err or 'no: "(sensitive)"' in refused.err) == (
        1,
        True,
    ), refused.err
    assert key[:8] not in everything(refused)


# What a plan tells whoever has nothing else.


def _tried(plan: dict[str, Any], word: str) -> set[str]:
    """Return digests of a word by all that a plan file itself holds: anybody can make these."""
    uid, address = plan["target"]["uid"], f"EC2NodeClass/{NAME}"
    path = ["spec", "tags", "api-token"]
    salts = [uid, plan["inventory"]["uid"], plan["inventory"]["key"], plan["id"], ""]
    said = [json.dumps([salt, address, path, word], sort_keys=True) for salt in salts]
    said += [json.dumps([uid, address, path, word], sort_keys=True)]
    found = {hashlib.sha256(each.encode()).hexdigest() for each in said}
    for salt in salts:
        found |= {hmac.digest(salt.encode(), each.encode(), "sha256").hex() for each in said}
    found.add(hashlib.sha256(Path("gpupool.yaml").read_bytes()).hexdigest())
    found.add(objects.digest([each.data for each in load_desired_state(["gpupool.yaml"]).manifests]))
    return found


@pytest.mark.parametrize("is_applied", [False, True])
def test_nobody_finds_a_word_by_a_plan(capsys: pytest.CaptureFixture[str], is_applied: bool) -> None:
    """Who has the plan file, and knows all of the blueprint but a secret, can't try words until one fits."""
    if is_applied:
        assert gpupool(capsys, "apply", "--yes", "--wait", "none").code == 0
        Path("gpupool.yaml").write_text(text(gpus=16, token=OTHER), "utf-8")
    word = OTHER if is_applied else SECRETS["token"]
    planned = gpupool(capsys, "plan", *in_every_format())
    assert planned.code == 0, planned.err

    said = everything(planned)
    plan = json.loads(Path("out.json").read_text("utf-8"))
    (change,) = [each for each in plan["changes"] if each["address"] == f"EC2NodeClass/{NAME}"]
    assert change["body"]["spec"]["tags"]["api-token"]["$sensitive"].startswith("sha256:")
    assert {each for each in _tried(plan, word) if each in said} == set()


def test_a_plan_holds_no_key(api_server: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ec2nodeclasses.karpenter.k8s.aws"
    uid = api_server.request("GET", crd).body["metadata"]["uid"]
    first = gpupool(capsys, "plan", *in_every_format())
    assert uid not in everything(first)

    applied = gpupool(capsys, "apply", "--yes", "--wait", "none", *in_every_format())
    key = json.loads(api_server.request("GET", CONFIG_MAP).body["data"]["key"])
    Path("gpupool.yaml").write_text(text(gpus=16, token=OTHER), "utf-8")
    commands = ("plan", *in_every_format()), ("status",), ("doctor",), ("apply", "--yes", "--wait", "none")
    said = [everything(applied), *(everything(gpupool(capsys, *command)) for command in commands)]

    assert len(key) == 64
    assert [each for each in said if key in each or uid in each] == []
    assert json.loads(api_server.request("GET", CONFIG_MAP).body["data"]["key"]) == key


def test_the_same_plan_twice(capsys: pytest.CaptureFixture[str]) -> None:
    """Before the first apply and after it; a digest of a value that did not change stays too."""
    for is_applied in (False, True):
        bodies = []
        for _ in range(2):
            assert gpupool(capsys, "plan", "-o", "json=out.json").code == 0
            bodies.append(json.loads(Path("out.json").read_text("utf-8"))["changes"])
        assert bodies[0] == bodies[1]
        if not is_applied:
            assert gpupool(capsys, "apply", "--yes", "--wait", "none").code == 0


def test_an_inventory_tells_nothing_of_a_secret(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Many may read ConfigMaps who may not read node classes; its digests are the same for any secret."""
    found = []
    for token in (SECRETS["token"], OTHER):
        Path("gpupool.yaml").write_text(text(token=token), "utf-8")
        assert gpupool(capsys, "apply", "--yes", "--wait", "none").code == 0
        current = json.loads(api_server.request("GET", CONFIG_MAP).body["data"]["current"])
        found.append({each["name"] + each["kind"]: each["sha256"] for each in current})
    assert found[0] == found[1]
    assert gpupool(capsys, "diff").code == 0


def test_who_changed_a_secret_is_told_all_the_same(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    path = f"{CLASSES}/{NAME}"
    assert gpupool(capsys, "apply", "--yes", "--wait", "none").code == 0
    Path("gpupool.yaml").write_text(text(token=OTHER), "utf-8")
    assert "drift" not in gpupool(capsys, "diff").out
    Path("gpupool.yaml").write_text(text(), "utf-8")
    patch = json.dumps({"spec": {"tags": {"api-token": OTHER}}}).encode()
    merge = "application/merge-patch+json"
    assert api_server.request("PATCH", f"{path}?fieldManager=kubectl-edit", patch, merge).status == 200

    drifted = gpupool(capsys, "plan", "--on-conflict", "take")

    assert "drift: by kubectl-edit" in drifted.out
    assert OTHER not in drifted.out + drifted.err


def _apply_saved(capsys: pytest.CaptureFixture[str]) -> Outcome:
    return gpupool(capsys, "apply", "plan.json", "--wait", "none")


def test_a_plan_of_the_second_apply_is_verified(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gpupool(capsys, "apply", "--yes", "--wait", "none").code == 0
    Path("gpupool.yaml").write_text(text(token=OTHER), "utf-8")
    assert gpupool(capsys, "plan", "-o", "json=plan.json").code == 0
    Path("gpupool.yaml").write_text(text(gpus=24), "utf-8")
    other = _apply_saved(capsys)
    Path("gpupool.yaml").write_text(text(token=OTHER), "utf-8")

    said = _apply_saved(capsys)

    assert (other.code, "the blueprint has changed since the plan was made" in other.err) == (5, True)
    assert said.code == 0, said.err
    assert api_server.request("GET", f"{CLASSES}/{NAME}").body["spec"]["tags"]["api-token"] == OTHER


def test_a_first_plan_after_somebody_else_applied(capsys: pytest.CaptureFixture[str]) -> None:
    """Its key is still found, so that it is refused for what it is: overtaken."""
    assert gpupool(capsys, "plan", "-o", "json=plan.json").code == 0
    assert gpupool(capsys, "apply", "--yes", "--wait", "none").code == 0

    said = _apply_saved(capsys)

    assert (said.code, "another run applied this blueprint since" in said.err) == (5, True), said.err


def test_a_key_that_is_gone(api_server: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert gpupool(capsys, "apply", "--yes", "--wait", "none").code == 0
    Path("gpupool.yaml").write_text(text(token=OTHER), "utf-8")
    assert gpupool(capsys, "plan", "-o", "json=plan.json").code == 0
    api_server.request("DELETE", CONFIG_MAP)

    said = _apply_saved(capsys)

    assert (said.code, "the key of the plan's sensitive values is gone" in said.err) == (5, True), said.err
    assert api_server.request("GET", f"{CLASSES}/{NAME}").body["spec"]["tags"]["api-token"] != OTHER


def test_a_plan_by_somebody_who_finds_no_key(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """The digests are of chance then: nothing can be tried against them, and nothing be compared with them."""
    place = RoleScope(NAME, "kube-system")
    with granted_but(api_server, "plan", place, ("customresourcedefinitions", "get")) as user:
        planned = gpupool(capsys, "plan", "--as", user, "-o", "json=plan.json", "-o", "text")
    assert (planned.code, "`gpupool apply` will refuse this plan" in planned.out) == (0, True), planned.err

    said = _apply_saved(capsys)

    assert (said.code, "the plan has no key for its sensitive values" in said.err) == (5, True), said.err
    assert api_server.request("GET", f"{CLASSES}/{NAME}").status == 404


def test_what_others_show_stays_hidden_where_a_plan_is_stale(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """A plan without secrets needs no blueprint, and still knows what the blueprint calls sensitive."""
    with_path = PLAIN.replace("{team: platform}", f"{{team: platform, vault-path: {SECRETS['token']}}}")
    Path("gpupool.yaml").write_text(with_path, "utf-8")
    assert gpupool(capsys, "apply", "--yes", "--wait", "none").code == 0
    Path("gpupool.yaml").write_text(PLAIN.replace("platform", "other"), "utf-8")
    assert gpupool(capsys, "plan", "-o", "json=plan.json").code == 0
    patch = json.dumps({"spec": {"tags": {"team": "mine"}}}).encode()
    path, merge = f"{CLASSES}/{NAME}?fieldManager=kubectl-edit", "application/merge-patch+json"
    assert api_server.request("PATCH", path, patch, merge).status == 200

    said = _apply_saved(capsys)

    assert said.code == 5, said.err
    assert "vault-path: (sensitive, sha256:" in said.err
    assert leaks(everything(said)) == []


PLAIN = f"""\
apiVersion: gpupool.dev/v1alpha1
kind: Blueprint
metadata: {{name: {NAME}}}
cluster: {{name: c, region: us-east-1, context: rig}}
sensitive: ["vault-*"]
defaults: {{nodeClass: {{ami: al2023@v20260810}}}}
pools:
  {NAME}:
    profile: training
    accelerator: h100
    limits: {{gpus: 8}}
    nodeClass: {{tags: {{team: platform}}}}
"""


# Who may read the files.


def test_plans_are_their_owner_s_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever the umask, and whatever mode a file of that name had; so are folders that are made for them."""
    Path("out.json").write_text("old", "utf-8")
    Path("out.json").chmod(0o666)
    Path("linked").write_text("old", "utf-8")
    Path("linked").chmod(0o644)
    Path("link").symlink_to("linked")
    Path("there").mkdir(mode=0o755)
    before = os.umask(0)
    try:
        said = gpupool(
            capsys, "plan", *in_every_format(), "-o", "json=new/deep/plan.json", "-o", "json=there/plan.json",
            "-o", "json=link", "-o", "json=/dev/null",
        )  # fmt: skip
    finally:
        os.umask(before)

    assert said.code == 0, said.err
    private = [*(f"out.{name}" for name in FORMATS), "new/deep/plan.json", "there/plan.json", "linked"]
    assert {name: oct(Path(name).stat().st_mode & 0o777) for name in private} == dict.fromkeys(
        private, "0o600"
    )
    folders = {name: oct(Path(name).stat().st_mode & 0o777) for name in ("new", "new/deep", "there")}
    assert folders == {"new": "0o700", "new/deep": "0o700", "there": "0o755"}
    assert Path("link").is_symlink()
    assert Path("/dev/null").stat().st_mode & 0o777 == 0o666
