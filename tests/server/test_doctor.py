"""`gpupool doctor` on a real cluster: what it says of one that is well, and of each thing that is not."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from gpupool.cluster.crds import CRDS, NEEDED
from gpupool.cluster.resources import (
    EC2_NODE_CLASS,
    EVENTS,
    KINDS,
    NODE_POOL,
    config_map_path,
    crd_path,
    lease_path,
)
from gpupool.rendering.roles import RoleScope, Subject, build_rights
from gpupool.rollout.inventory.store import InventoryRef as Kept
from tests.cli.blueprints import HEAD
from tests.cli.run import gpupool
from tests.rig import older
from tests.rig.fault_proxy import FaultProxy, Rule, fault_proxy
from tests.rig.faults import Instead, Reset, failing_webhook
from tests.rig.forwarding import Answered
from tests.rig.server import ApiServer, api_server
from tests.rig.sources import crd_folder
from tests.server.identities import granted, path_of
from tests.server.objects import NODE_POOL as POOL
from tests.server.test_plan_only_identity import until, until_in_force

NAME, NAMESPACE = "sound", "default"
PLACE = RoleScope(NAME, NAMESPACE)
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
RBAC = "rbac.authorization.k8s.io"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "doctor.md"
CHECKS = [
    "kubeconfig", "cluster", "API server", "CRDs", "Karpenter", "rights to plan", "rights to apply", "inventory",
    "lock", "webhooks",
]  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[ApiServer]:
    """A server of this module's own: its CRDs are replaced, and webhooks look at it."""
    with api_server() as found:
        yield found


@pytest.fixture
def way(server: ApiServer) -> Iterator[FaultProxy]:
    """A way to it that remembers what was asked."""
    with fault_proxy(server.access) as found:
        yield found


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gpupool.rollout.doctor.doctor._PATIENCE_SECONDS", 0.5)


class Found(NamedTuple):
    """What doctor said."""

    code: int
    json: dict[str, Any]

    def check(self, name: str) -> dict[str, Any]:
        """Return a check by its name."""
        (found,) = (each for each in self.json["checks"] if each["name"] == name)
        return dict(found)

    @property
    def states(self) -> dict[str, str]:
        """Return the state of each check, by its name."""
        return {each["name"]: each["state"] for each in self.json["checks"]}


def uid(server: ApiServer) -> str:
    """The uid that says which cluster it is."""
    return str(server.request("GET", "/api/v1/namespaces/kube-system").body["metadata"]["uid"])


def write_blueprint(cluster: str = "") -> None:
    """Write a blueprint of no pools to speak of, with some more words about its cluster."""
    text = f"""\
{HEAD}metadata: {{name: {NAME}}}
cluster: {{name: my-cluster, region: us-east-1, timezone: UTC{cluster}}}
inventory: {{namespace: {NAMESPACE}}}
defaults: {{nodeClass: {{ami: al2023@v20260810}}}}
pools:
  train: {{profile: training, accelerator: h100}}
"""
    Path("gpupool.yaml").write_text(text, "utf-8")


def doctor(capsys: pytest.CaptureFixture[str], kubeconfig: Path | str, *arguments: str) -> Found:
    """Run it, and read what it prints as JSON."""
    said = gpupool(capsys, "doctor", "--kubeconfig", kubeconfig, "-o", "json", *arguments)
    assert said.err == ""
    return Found(said.code, json.loads(said.out))


class TestWell:
    """A cluster where all is as it should be."""

    def test_every_check_is_ok(self, server: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
        write_blueprint(f", uid: {uid(server)}")

        found = doctor(capsys, server.kubeconfig)

        assert (found.code, found.states) == (0, dict.fromkeys(CHECKS, "ok"))
        assert found.check("API server")["message"].startswith("v1.")
        assert found.check("CRDs")["message"] == "of Karpenter 1.14"

    def test_json_has_the_keys_that_its_page_says(
        self, server: ApiServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_blueprint(f", uid: {uid(server)}")

        found = doctor(capsys, server.kubeconfig).json

        checks = found.pop("checks")
        assert found == {
            "failed": False,
            "context": "rig",
            "server": server.url,
            "uid": uid(server),
            "blueprint": NAME,
            "karpenter": ["1.14"],
        }
        written = re.findall(r"^\| `(\w+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
        assert written == [*found, "checks", *checks[0]]
        assert {tuple(each) for each in checks} == {tuple(checks[0])}
        named = re.findall(r"^\| ([\w ]+?) \|", PAGE.read_text("utf-8"), re.MULTILINE)
        assert [*CHECKS, "plan only"] == [each for each in named if each not in {"check", "key"}]

    def test_text_has_a_line_for_each(self, server: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
        write_blueprint(f", uid: {uid(server)}")

        said = gpupool(capsys, "doctor", "--kubeconfig", server.kubeconfig)

        *lines, last = said.out.splitlines()
        assert [re.split(r"  +", line)[:2] for line in lines] == [["ok", name] for name in CHECKS]
        assert (said.code, said.err, last) == (0, "", "10 checks: 10 ok")

    def test_nothing_is_written(
        self, way: FaultProxy, tmp_path: Path, server: ApiServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_blueprint(f", uid: {uid(server)}")

        assert doctor(capsys, way.kubeconfig(tmp_path)).code == 0

        asked = {(each.method, each.path if each.method != "GET" else "") for each in way.seen}
        assert asked == {("GET", ""), ("POST", REVIEWS)}
        assert len(way.seen) < 50

    def test_without_a_blueprint_it_looks_at_the_cluster_alone(
        self, server: ApiServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        found = doctor(capsys, server.kubeconfig)

        wanted = [name for name in CHECKS if name not in {"Karpenter", "inventory", "lock"}]
        assert (found.code, found.states) == (0, dict.fromkeys(wanted, "ok"))
        assert found.json["blueprint"] is None


class TestCluster:
    """Which cluster it is, and whether it answers."""

    def test_another_cluster_ends_it_before_anything_else_is_asked(
        self, way: FaultProxy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_blueprint(", uid: 00000000-0000-0000-0000-000000000000")

        said = gpupool(capsys, "doctor", "--kubeconfig", way.kubeconfig(tmp_path), "--prove-plan-only")

        assert (said.code, said.out) == (3, "")
        assert said.err.startswith("error: wrong cluster: its uid is `")
        assert [(each.method, each.path) for each in way.seen] == [("GET", "/api/v1/namespaces/kube-system")]

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ([], "neither the blueprint nor --context names it"),
            (["--context", "rig"], "the blueprint does not say"),
        ],
    )
    def test_a_blueprint_should_name_it(
        self, arguments: list[str], words: str, server: ApiServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_blueprint()

        found = doctor(capsys, server.kubeconfig, *arguments)

        check = found.check("cluster")
        assert (found.code, check["state"]) == (0, "warning")
        assert words in check["message"]
        assert f"`cluster: {{uid: {uid(server)}}}`" in check["fix"]

    def test_a_kubeconfig_that_names_no_cluster(
        self, server: ApiServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for arguments in (["none.yaml"], [str(server.kubeconfig), "--context", "elsewhere"]):
            found = doctor(capsys, *arguments)

            assert (found.code, found.states) == (1, {"kubeconfig": "failed"})
            assert "--context" in found.check("kubeconfig")["fix"]

    def test_a_server_that_does_not_answer(
        self, way: FaultProxy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        kubeconfig = way.kubeconfig(tmp_path)
        way.end()

        found = doctor(capsys, kubeconfig, "--timeout", "2s")

        assert (found.code, found.states) == (1, {"kubeconfig": "ok", "cluster": "failed"})
        assert "Connection refused" in found.check("cluster")["message"]

    def test_credentials_that_are_not_taken(
        self, server: ApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(server.kubeconfig.read_text().replace(server.access.token, "expired"))

        found = doctor(capsys, kubeconfig)

        assert (found.code, found.states) == (1, {"kubeconfig": "ok", "cluster": "failed"})
        assert "does not take the credentials: Unauthorized" in found.check("cluster")["message"]

    @pytest.mark.parametrize(
        ("version", "expected"),
        [
            (
                {"gitVersion": "v1.29.8-eks-2f46c53", "minor": "29+"},
                (
                    "warning",
                    "v1.29.8-eks-2f46c53: too old for the admission policy that `gpupool rbac plan` prints",
                ),
            ),
            ({"gitVersion": "v1.30.4-eks-a18cd3a", "minor": "30+"}, ("ok", "v1.30.4-eks-a18cd3a")),
            ({"message": "eh?"}, ("not checked", "it does not tell its version: eh?")),
        ],
        ids=["old", "new enough", "none"],
    )
    def test_an_old_server_has_no_admission_policies(
        self,
        version: dict[str, str],
        expected: tuple[str, str],
        way: FaultProxy,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        answered = Answered(200, (("Content-Type", "application/json"),), json.dumps(version).encode())
        way.rules = [Rule(lambda _method, path, _query, _nth: path == "/version", Instead(answered))]

        found = doctor(capsys, way.kubeconfig(tmp_path))

        check = found.check("API server")
        assert (found.code, (check["state"], check["message"])) == (0, expected)

    def test_a_blueprint_with_mistakes_is_not_held_against_any(
        self, server: ApiServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_blueprint(", karpenter: 1.14.1")

        said = gpupool(capsys, "doctor", "--kubeconfig", server.kubeconfig)

        assert (said.code, said.out) == (1, "")
        assert said.err.startswith("gpupool.yaml:4:")


def words_of(purpose: str) -> dict[str, set[str]]:
    """The verbs that a purpose needs, by what they are on, as doctor writes it."""
    found: dict[str, set[str]] = {}
    granted_rights = build_rights("plan" if purpose == "plan" else "apply", PLACE)
    for within, rules in (
        ("", granted_rights.cluster_scoped),
        (f" in {NAMESPACE}", granted_rights.in_namespace),
        (" in default", granted_rights.optional),
    ):
        for rule in rules:
            for resource in rule.resources:
                on = f"{resource}.{rule.group}" if rule.group else resource
                for name in rule.names or ("",):
                    found.setdefault(f"{on}{'/' * bool(name)}{name}{within}", set()).update(rule.verbs)
    return found


class TestRights:
    """What the user may do."""

    def test_every_right_that_a_user_without_any_lacks_is_named(
        self, server: ApiServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_blueprint()

        found = doctor(capsys, server.kubeconfig, "--as", "nobody")

        named: dict[str, set[str]] = {}
        for check in ("rights to plan", "rights to apply"):
            for item in found.check(check)["items"]:
                *verbs, last = item.split(", ")
                verb, on = last.split(" ", 1)
                named.setdefault(on, set()).update([*verbs, verb])
        assert named == words_of("apply")
        assert found.code == 1
        assert found.states == {
            **dict.fromkeys(CHECKS, "not checked"),
            **dict.fromkeys(("cluster", "rights to plan", "rights to apply"), "failed"),
            **dict.fromkeys(("kubeconfig", "API server"), "ok"),
        }
        assert found.json["uid"] is None

    def test_to_be_able_to_plan_alone_is_no_failure(
        self, server: ApiServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_blueprint(f", uid: {uid(server)}")
        with granted(server, "plan", PLACE, Subject("User", "planner")) as planner:
            until(lambda: planner.request("GET", NODE_POOL.path).status == 200)

            found = doctor(capsys, server.kubeconfig, "--as", "planner")

        assert (found.code, found.states["rights to plan"], found.states["inventory"]) == (0, "ok", "ok")
        assert found.check("rights to apply")["state"] == "warning"
        assert "this user can only plan" in found.check("rights to apply")["message"]
        assert (found.states["lock"], found.states["webhooks"]) == ("not checked", "not checked")

    def test_what_rbac_apply_prints_is_enough(
        self, server: ApiServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_blueprint(f", uid: {uid(server)}")
        with granted(server, "apply", PLACE, Subject("User", "applier")) as applier:
            until(lambda: applier.request("GET", NODE_POOL.path).status == 200)

            found = doctor(capsys, server.kubeconfig, "--as", "applier")

        assert found.code == 0
        assert found.states == {**dict.fromkeys(CHECKS, "ok"), "webhooks": "not checked"}

    @pytest.mark.parametrize(
        ("taken", "check", "missing"),
        [
            (
                ("ClusterRole", 0, "patch"),
                "rights to plan",
                ["patch nodepools.karpenter.sh", "patch nodeoverlays.karpenter.sh"],
            ),
            (("ClusterRole", 1, "delete"), "rights to apply", ["delete ec2nodeclasses.karpenter.k8s.aws"]),
            (("ClusterRole", 2, "list"), "rights to plan", ["list nodeclaims.karpenter.sh"]),
            (("Role", 1, "create"), "rights to apply", ["create configmaps in default"]),
            (
                ("Role", 2, "update"),
                "rights to apply",
                ["update leases.coordination.k8s.io/gpupool-sound in default"],
            ),
        ],
    )
    def test_one_right_less_is_named(
        self,
        taken: tuple[str, int, str],
        check: str,
        missing: list[str],
        server: ApiServer,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        write_blueprint()
        role, rule, verb = taken
        with granted(server, "apply", PLACE, Subject("User", "applier")):
            metadata = {"name": "gpupool-sound-apply", "namespace": NAMESPACE}
            path = path_of(server, {"apiVersion": f"{RBAC}/v1", "kind": role, "metadata": metadata})
            body = server.request("GET", path).body
            body["rules"][rule]["verbs"].remove(verb)
            body["rules"] = [each for each in body["rules"] if each["verbs"]]
            assert server.request("PUT", path, json.dumps(body).encode()).status == 200
            until(
                lambda: doctor(capsys, server.kubeconfig, "--as", "applier").check(check)["items"] == missing
            )

            found = doctor(capsys, server.kubeconfig, "--as", "applier")

        assert (found.code, found.states[check]) == (1, "failed")
        others = {"rights to plan", "rights to apply"} - {check}
        assert {found.states[other] for other in others} == {"ok"}

    def test_what_gpupool_goes_on_without_is_no_failure(
        self, server: ApiServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_blueprint()
        with granted(server, "plan", PLACE, Subject("User", "planner")) as planner:
            metadata = {"name": "gpupool-sound-plan", "namespace": NAMESPACE}
            path = path_of(server, {"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": metadata})
            body = server.request("GET", path).body
            body["rules"] = [each for each in body["rules"] if each["resources"] != ["events"]]
            assert server.request("PUT", path, json.dumps(body).encode()).status == 200
            until(lambda: planner.request("GET", EVENTS).status == 403)
            until(lambda: planner.request("GET", NODE_POOL.path).status == 200)

            found = doctor(capsys, server.kubeconfig, "--as", "planner")

        right = found.check("rights to plan")
        assert (found.code, right["state"], right["items"]) == (0, "warning", ["list events in default"])
        assert "this user can only plan" in found.check("rights to apply")["message"]


@pytest.fixture
def crds(server: ApiServer) -> Iterator[ApiServer]:
    """The server, whose CRDs are put back afterwards."""
    yield server
    for file in sorted(crd_folder().glob("*.yaml")):
        assert server.apply(file.read_bytes()).accepted
    for name in CRDS:
        until(lambda name=name: is_established(server, name))  # type: ignore[misc]
    until(lambda: all(server.request("GET", kind.path).status == 200 for kind in KINDS.values()))


def is_established(server: ApiServer, name: str) -> bool:
    """Whether a CRD's objects are served."""
    conditions = server.request("GET", crd_path(name)).body.get("status", {}).get("conditions") or ()
    return any((each["type"], each["status"]) == ("Established", "True") for each in conditions)


class TestCrds:
    """Which Karpenter they are of."""

    def test_none_is_installed(self, crds: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
        for name in CRDS:
            assert crds.request("DELETE", crd_path(name)).status == 200
        until(lambda: all(crds.request("GET", crd_path(name)).status == 404 for name in CRDS))
        write_blueprint()

        found = doctor(capsys, crds.kubeconfig)

        check = found.check("CRDs")
        assert (found.code, check["state"], check["items"]) == (1, "failed", [*NEEDED])
        assert check["fix"] == "install the chart karpenter-crd"
        assert found.check("Karpenter")["state"] == "not checked"

    def test_one_with_another_field(self, crds: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
        body = shipped(EC2_NODE_CLASS.crd)
        spec = body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        spec["ours"] = {"type": "string"}
        put(crds, body)

        found = doctor(capsys, crds.kubeconfig)

        check = found.check("CRDs")
        assert (found.code, check["state"], found.json["karpenter"]) == (0, "warning", [])
        assert "not of any Karpenter that gpupool knows" in check["message"]
        assert check["message"].endswith(f": {EC2_NODE_CLASS.crd}")

    def test_one_without_a_rule(self, crds: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
        body = shipped(NODE_POOL.crd)
        root = body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        assert root["properties"]["spec"].pop("x-kubernetes-validations")
        put(crds, body)

        found = doctor(capsys, crds.kubeconfig)

        check = found.check("CRDs")
        assert (found.code, check["state"], found.json["karpenter"]) == (0, "warning", ["1.14"])
        assert check["message"] == f"not the rules that Karpenter 1.14 for AWS has: {NODE_POOL.crd}"

    def test_what_no_object_is_held_against_does_not_count(
        self, crds: ApiServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        body = shipped(NODE_POOL.crd)
        (version,) = body["spec"]["versions"]
        version["schema"]["openAPIV3Schema"]["description"] = "Another text."
        version["additionalPrinterColumns"] = version["additionalPrinterColumns"][:1]
        body["metadata"].setdefault("annotations", {})["ours"] = "yes"
        put(crds, body)

        found = doctor(capsys, crds.kubeconfig)

        assert (found.states["CRDs"], found.json["karpenter"]) == ("ok", ["1.14"])

    def test_they_are_of_an_older_release(self, crds: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
        serve_all(crds, "aws v1.9.3")

        write_blueprint()
        newer = doctor(capsys, crds.kubeconfig)
        write_blueprint(', karpenter: "1.9"')
        same = doctor(capsys, crds.kubeconfig)

        assert (newer.json["karpenter"], newer.states["CRDs"]) == (["1.9"], "ok")
        assert (newer.code, newer.states["Karpenter"]) == (1, "failed")
        assert newer.check("Karpenter")["fix"].startswith('say `cluster: {karpenter: "1.9"}`')
        assert (same.code, same.states["Karpenter"]) == (0, "ok")

    def test_they_are_of_different_releases(
        self, crds: ApiServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """As after an upgrade of the chart alone, whose folder crds/ Helm passes over."""
        serve_all(crds, "core v1.12.1")

        found = doctor(capsys, crds.kubeconfig)

        check = found.check("CRDs")
        assert (found.code, check["state"], found.json["karpenter"]) == (0, "warning", [])
        assert f"{NODE_POOL.crd}: 1.9, 1.10, 1.11 or 1.12" in check["items"]
        assert f"{EC2_NODE_CLASS.crd}: 1.13 or 1.14" in check["items"]

    def test_a_blueprint_for_an_older_one_gets_a_warning(
        self, server: ApiServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_blueprint(', karpenter: "1.12"')

        found = doctor(capsys, server.kubeconfig)

        assert (found.code, found.states["Karpenter"]) == (0, "warning")
        assert found.check("Karpenter")["fix"] == 'say `cluster: {karpenter: "1.14"}`'


def shipped(name: str) -> dict[str, Any]:
    """A CRD as Karpenter ships it."""
    group, plural = name.partition(".")[2], name.partition(".")[0]
    text = (crd_folder() / f"{group}_{plural}.yaml").read_bytes()
    found: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
    return found


def put(server: ApiServer, crd: dict[str, Any]) -> None:
    """Put a CRD in place of the one that is there."""
    verdict = server.apply(json.dumps(crd).encode())
    assert verdict.accepted, verdict.message


def serve_all(server: ApiServer, name: str) -> None:
    """Put the CRDs of an older release in place of the server's own."""
    (release,) = (each for each in older.releases() if str(each) == name)
    for kind in older.crds(release):
        older.serve(server, release, kind)


class TestKept:
    """The inventory and the lock."""

    def test_an_inventory_says_what_it_lists(
        self, server: ApiServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_blueprint()
        kept = Kept(NAMESPACE, PLACE.inventory)
        entry = {
            "group": NODE_POOL.group,
            "kind": "NodePool",
            "name": "a",
            "uid": "1",
            "generation": 1,
            "sha256": "2",
        }
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": kept.name, "labels": {"applyset.kubernetes.io/id": kept.id}},
            "data": {"serial": "7", "current": json.dumps([entry])},
        }
        pending = deepcopy(body)
        pending["data"] = {
            "serial": "8",
            "pending": json.dumps({"plan": "p", "entries": [entry, entry | {"name": "b"}]}),
        }
        foreign = {**body, "metadata": {"name": kept.name}}
        found = []
        path = config_map_path(NAMESPACE)
        for each in (body, pending, foreign):
            assert server.request("POST", path, json.dumps(each).encode()).status == 201
            found.append(doctor(capsys, server.kubeconfig))
            assert server.request("DELETE", f"{path}/{kept.name}").status == 200

        checks = [each.check("inventory") for each in found]
        assert [each.code for each in found] == [0, 0, 1]
        assert [each["state"] for each in checks] == ["ok", "warning", "failed"]
        assert checks[0]["message"] == "default/gpupool-sound, serial 7, lists 1 object"
        assert "an apply of 2 objects is in progress or was interrupted" in checks[1]["message"]
        assert "is not a valid inventory" in checks[2]["message"]

    def test_the_lock_says_who_holds_it(self, server: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
        write_blueprint()
        now = datetime.now(UTC)
        found = []
        for renewed in (now, now - timedelta(hours=1)):
            stamp = renewed.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
            lease = {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {"name": PLACE.inventory},
                "spec": {
                    "holderIdentity": "jane@host/42/1f8a77c2",
                    "leaseDurationSeconds": 60,
                    "acquireTime": stamp,
                    "renewTime": stamp,
                },
            }
            path = lease_path(NAMESPACE)
            assert server.request("POST", path, json.dumps(lease).encode()).status == 201
            found.append(doctor(capsys, server.kubeconfig))
            assert server.request("DELETE", f"{path}/{PLACE.inventory}").status == 200

        live, dead = (each.check("lock") for each in found)
        assert [each.code for each in found] == [0, 0]
        assert (live["state"], dead["state"]) == ("warning", "warning")
        assert live["message"].startswith("held by jane@host, process 42, since ")
        assert "expired" not in live["message"]
        assert dead["message"].endswith(", and has expired")
        assert "gpupool unlock 1f8a77c2 -f gpupool.yaml --kubeconfig" in dead["fix"]


RULE = {"operations": ["CREATE", "UPDATE"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}
PODS = {**RULE, "apiGroups": [""], "resources": ["pods"]}


class TestWebhooks:
    """What looks at Karpenter's objects on their way."""

    @pytest.mark.parametrize(
        ("sort", "rule", "state", "items"),
        [
            ("Mutating", RULE, "warning", ["mutating rig: all.rig.invalid (failurePolicy Ignore)"]),
            ("Validating", RULE, "ok", ["validating rig: all.rig.invalid (failurePolicy Ignore)"]),
            ("Mutating", PODS, "ok", []),
            ("Validating", {**RULE, "scope": "Namespaced"}, "ok", []),
            (
                "Mutating", {**RULE, "apiGroups": ["karpenter.sh"], "resources": ["nodepools"]}, "warning",
                ["mutating rig: all.rig.invalid (failurePolicy Ignore)"],
            ),
            ("Mutating", {**RULE, "apiGroups": ["karpenter.sh"], "resources": ["nodeclaims"]}, "ok", []),
        ],
    )  # fmt: skip
    def test_those_that_see_them_are_named(
        self, sort: str, rule: dict[str, Any], state: str, items: list[str], server: ApiServer,
        capsys: pytest.CaptureFixture[str],
    ) -> None:  # fmt: skip
        webhook = {
            "name": "all.rig.invalid",
            "clientConfig": {"url": "https://127.0.0.1:1/"},
            "rules": [rule],
            "failurePolicy": "Ignore",
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "matchConditions": [{"name": "never", "expression": "false"}],
        }
        body = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": f"{sort}WebhookConfiguration",
            "metadata": {"name": "rig"},
            "webhooks": [webhook],
        }
        assert server.apply(json.dumps(body).encode()).accepted
        try:
            found = doctor(capsys, server.kubeconfig)
        finally:
            assert server.request("DELETE", path_of(server, body)).status == 200

        check = found.check("webhooks")
        assert (found.code, check["state"], check["items"]) == (0, state, items)


@pytest.fixture
def pool(server: ApiServer) -> Iterator[str]:
    """The path of a NodePool that is there."""
    assert server.apply(POOL).accepted
    path = NODE_POOL.path_of(yaml.safe_load(POOL)["metadata"]["name"])
    yield path
    assert server.request("DELETE", path).status == 200


class TestPlanOnly:
    """`--prove-plan-only`."""

    def test_who_can_only_plan_passes(
        self, server: ApiServer, pool: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_blueprint(f", uid: {uid(server)}")
        before = server.request("GET", pool).body
        with granted(server, "plan", PLACE, Subject("User", "planner")) as planner:
            until_in_force(server, planner, "gpupool-sound-plan")

            found = doctor(capsys, server.kubeconfig, "--as", "planner", "--prove-plan-only")

        check = found.check("plan only")
        assert (found.code, check["state"]) == (0, "ok")
        assert check["message"] == "a create and an update were denied by gpupool-sound-plan"
        assert server.request("GET", pool).body == before

    def test_who_can_write_does_not_and_nothing_is_changed(
        self, server: ApiServer, pool: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = server.request("GET", pool).body

        found = doctor(capsys, server.kubeconfig, "--prove-plan-only")

        check = found.check("plan only")
        assert (found.code, check["state"], check["items"]) == (1, "failed", [])
        assert "a create and an update were not denied: this user can write" in check["message"]
        assert server.request("GET", pool).body == before
        assert names(server) == ["rig"]

    def test_what_it_made_is_deleted_again(
        self, way: FaultProxy, server: ApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        found = doctor(capsys, way.kubeconfig(tmp_path), "--prove-plan-only")

        check = found.check("plan only")
        assert (found.code, check["state"], check["items"]) == (1, "failed", [])
        assert [each.method for each in way.writes if each.path != REVIEWS] == ["POST", "DELETE"]
        assert names(server) == []

    def test_what_it_made_is_deleted_though_the_answer_was_lost(
        self, way: FaultProxy, server: ApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        way.rules = [Rule(creates_a_pool, Reset(after_answer=True))]

        found = doctor(capsys, way.kubeconfig(tmp_path), "--prove-plan-only")

        assert (found.code, found.states["plan only"]) == (1, "failed")
        assert [each.method for each in way.writes if each.path != REVIEWS] == ["POST", "POST", "DELETE"]
        assert names(server) == []

    def test_what_it_made_is_deleted_though_no_answer_ever_comes(
        self, way: FaultProxy, server: ApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        way.rules = [Rule(creates_a_pool, Reset(after_answer=True), times=None)]
        kubeconfig = way.kubeconfig(tmp_path)

        said = gpupool(capsys, "doctor", "--kubeconfig", kubeconfig, "--prove-plan-only", "--timeout", "3s")

        assert (said.code, said.out) == (1, "")
        assert said.err.startswith(f"error: POST {NODE_POOL.path} on ")
        assert way.writes[-1].method == "DELETE"
        assert names(server) == []

    def test_another_refusal_proves_nothing(
        self, way: FaultProxy, server: ApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        way.rules = [Rule(creates_a_pool, failing_webhook(), times=None)]

        found = doctor(capsys, way.kubeconfig(tmp_path), "--prove-plan-only")

        check = found.check("plan only")
        assert (found.code, check["state"]) == (1, "failed")
        assert check["message"].startswith("a create was refused, but not denied: Internal error occurred")
        assert names(server) == []

    def test_what_it_can_t_delete_is_named(
        self, server: ApiServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The roles alone, without their policy: who has them could write, and can't delete."""
        with granted(server, "plan", PLACE, Subject("User", "unbound"), with_policy=False) as planner:
            until(lambda: planner.request("GET", NODE_POOL.path).status == 200)

            found = doctor(capsys, server.kubeconfig, "--as", "unbound", "--prove-plan-only")

        (left,) = names(server)
        assert server.request("DELETE", NODE_POOL.path_of(left)).status == 200
        check = found.check("plan only")
        assert (found.code, check["state"]) == (1, "failed")
        assert check["items"] == [f"delete NodePool/{left}: it was created"]
        assert left.startswith("gpupool-doctor-probe-")

    def test_whose_writes_are_no_right_at_all_passes_but_can_t_plan(
        self, server: ApiServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        found = doctor(capsys, server.kubeconfig, "--as", "nobody", "--prove-plan-only")

        assert (found.code, found.states["plan only"], found.states["rights to plan"]) == (1, "ok", "failed")
        assert "for want of the right" in found.check("plan only")["message"]


def creates_a_pool(method: str, path: str, _query: object, _nth: int) -> bool:
    """Fit the attempt to create."""
    return (method, path) == ("POST", NODE_POOL.path)


def names(server: ApiServer) -> list[str]:
    """The NodePools that there are."""
    return [each["metadata"]["name"] for each in server.request("GET", NODE_POOL.path).body["items"]]
