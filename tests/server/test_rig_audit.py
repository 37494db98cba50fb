"""The audit log tells real writes from dry runs, whoever asks."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.rig.access import NOBODY
from tests.rig.audit import Audit
from tests.rig.client import Client
from tests.rig.errors import RigError
from tests.rig.server import ApiServer
from tests.server.objects import NODE_POOL, changed


def test_writes_dry_runs_and_deletions_are_told_apart(api_server: ApiServer) -> None:
    pool = changed(NODE_POOL, b"name: rig\nspec", b"name: audited\nspec")
    path = "/apis/karpenter.sh/v1/nodepools/audited"
    mark = api_server.audit.mark()

    assert api_server.dry_run(pool).accepted
    assert api_server.apply(pool).accepted
    assert api_server.request("GET", path).status == 200
    assert api_server.request("DELETE", f"{path}?dryRun=All").status == 200
    assert api_server.request("DELETE", path).status == 200
    assert api_server.request("DELETE", path).status == 404

    seen = [each for each in api_server.audit.since(mark) if each.name == "audited"]
    assert [(each.verb, each.code, each.dry_run, each.is_done) for each in seen] == [
        ("patch", 201, True, False),
        ("patch", 201, False, True),
        ("delete", 200, True, False),
        ("delete", 200, False, True),
        ("delete", 404, False, False),
    ]
    assert {(each.resource, each.user) for each in seen} == {("nodepools", "admin")}
    assert [each.at for each in seen] == sorted(each.at for each in seen)


def test_it_says_who_asked_and_in_which_namespace(api_server: ApiServer) -> None:
    found = json.loads(api_server.kubeconfig_nobody.read_text())["users"][0]["user"]["token"]
    path = "/api/v1/namespaces/default/configmaps/audited"
    mark = api_server.audit.mark()

    with Client(replace(api_server.access, token=found)) as nobody:
        assert nobody.request("DELETE", path).status == 403

    (seen,) = [each for each in api_server.audit.since(mark) if each.name == "audited"]
    assert (seen.user, seen.verb, seen.resource, seen.namespace) == (
        NOBODY,
        "delete",
        "configmaps",
        "default",
    )
    assert (seen.code, seen.is_done, seen.uri) == (403, False, path)


def test_deletions_of_whole_collections_are_seen(api_server: ApiServer) -> None:
    path = "/apis/karpenter.sh/v1alpha1/nodeoverlays?labelSelector=no%3Dbody"
    mark = api_server.audit.mark()

    assert api_server.request("DELETE", path).status == 200

    (seen,) = [each for each in api_server.audit.since(mark) if each.uri == path]
    assert (seen.verb, seen.resource, seen.name, seen.is_done) == (
        "deletecollection",
        "nodeoverlays",
        "",
        True,
    )


def test_whatever_is_written_is_seen(api_server: ApiServer) -> None:
    role = b'{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "audited"}}'
    mark = api_server.audit.mark()

    assert api_server.post_dry_run(role, "ClusterRole").accepted

    assert "clusterroles" in {each.resource for each in api_server.audit.since(mark) if each.dry_run}


def test_a_log_that_was_begun_anew_is_no_witness(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_bytes(b"x" * 10)
    found = Audit(log)
    mark = found.mark()
    log.write_bytes(b"")

    with pytest.raises(RigError, match=r"audit\.log was cut off"):
        found.since(mark)


def test_half_a_line_waits_for_its_end(api_server: ApiServer, tmp_path: Path) -> None:
    mark = api_server.audit.mark()
    api_server.request("DELETE", "/apis/karpenter.sh/v1/nodepools/not-there")
    log = tmp_path / "audit.log"
    whole = api_server.audit.since(mark)
    raw = Path(api_server.kubeconfig.with_name("audit.log")).read_bytes()[mark:]
    log.write_bytes(raw + raw[:50])

    assert Audit(log).since(0) == whole
