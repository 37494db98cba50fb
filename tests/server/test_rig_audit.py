"""The audit log tells real writes from dry runs, whoever asks."""

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
