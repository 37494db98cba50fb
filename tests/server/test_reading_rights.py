"""Status, the lock and unlock do with what `gpupool rbac` prints; one right less, and they name the one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gpupool.cluster.deadline import Deadline
from gpupool.errors import ClusterError
from gpupool.rendering.roles import Purpose, RoleScope
from gpupool.rollout.connection import ClusterOptions, Pins, reach
from gpupool.rollout.lock.lock import hold_lock
from tests.cli.blueprints import SMALL
from tests.cli.run import gpupool
from tests.rig.server import ApiServer
from tests.server import leases, statuses
from tests.server.identities import granted_but

NAME = "rights-test"
LOCK = f"gpupool-{NAME}"


@pytest.fixture(autouse=True)
def _folder(api_server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The current folder, with a blueprint and the way to the server; what it names is there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(api_server.kubeconfig))
    (tmp_path / "gpupool.yaml").write_text(SMALL.replace("name: demo", f"name: {NAME}"), "utf-8")
    statuses.delete_all(api_server)
    statuses.create_pair(api_server, "train")
    yield
    statuses.delete_all(api_server)
    leases.delete(api_server, LOCK)


@contextmanager
def allowed(server: ApiServer, purpose: Purpose, without: tuple[str, str] | None = None) -> Iterator[str]:
    """Grant what is printed to a user, but for one verb on one resource; give the user's name."""
    with granted_but(server, purpose, RoleScope(NAME, "kube-system"), without) as user:
        yield user


@pytest.mark.parametrize("purpose", ["plan", "apply"])
def test_status_does_with_what_is_printed(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str], purpose: Purpose
) -> None:
    with allowed(api_server, purpose) as user:
        said = gpupool(capsys, "status", "--as", user)
        waited = gpupool(capsys, "status", "--as", user, "--wait", "ready", "--timeout", "2s")

    assert (said.code, said.err) == (0, "")
    assert "note: " not in said.out
    assert waited.code == 6


@pytest.mark.parametrize(
    ("resource", "verb"),
    [("nodepools", "list"), ("ec2nodeclasses", "list"), ("nodeclaims", "list"), ("namespaces", "get")],
)
def test_status_names_the_right_that_it_lacks(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str], resource: str, verb: str
) -> None:
    with allowed(api_server, "plan", without=(resource, verb)) as user:
        said = gpupool(capsys, "status", "--as", user)

    assert (said.code, said.out) == (1, "")
    assert f'cannot {verb} resource "{resource}"' in said.err
    assert f"the permission to {verb} is missing: see `gpupool rbac`" in said.err


def test_status_goes_on_without_the_inventory(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with allowed(api_server, "apply", without=("configmaps", "get")) as user:
        said = gpupool(capsys, "status", "--as", user)

    assert said.code == 0
    assert 'cannot get resource "configmaps"' in said.out
    assert "NodePool/train: not Ready" in said.out


def test_unlock_does_with_what_is_printed(api_server: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    leases.held_by_another(api_server, LOCK)

    with allowed(api_server, "apply") as user:
        said = gpupool(capsys, "unlock", "0ther1d0", "--as", user)

    assert (said.code, said.err) == (0, "")
    assert leases.read(api_server, LOCK) is None


@pytest.mark.parametrize(("verb", "act"), [("get", "read"), ("delete", "delete")])
def test_unlock_names_the_right_that_it_lacks(
    api_server: ApiServer, capsys: pytest.CaptureFixture[str], verb: str, act: str
) -> None:
    leases.held_by_another(api_server, LOCK)

    with allowed(api_server, "apply", without=("leases", verb)) as user:
        said = gpupool(capsys, "unlock", "0ther1d0", "--as", user)

    assert (said.code, said.out) == (1, "")
    assert f"can't {act} the lock kube-system/{LOCK}: the API server answers 403" in said.err
    assert f"the permission to {verb} is missing" in said.err
    assert leases.holder(api_server, LOCK) == leases.OTHER


def test_the_lock_does_with_what_is_printed(api_server: ApiServer) -> None:
    leases.held_by_another(api_server, LOCK, renewed=-3600)

    with allowed(api_server, "apply") as user, _held(api_server, user):
        assert leases.holder(api_server, LOCK) != leases.OTHER

    assert leases.read(api_server, LOCK) is None


@pytest.mark.parametrize("verb", ["create", "get", "update"])
def test_the_lock_names_the_right_that_it_lacks(api_server: ApiServer, verb: str) -> None:
    if verb != "create":
        leases.held_by_another(api_server, LOCK, renewed=-3600)
    without = ("leases", verb) if verb != "create" else None
    purpose: Purpose = "apply" if without else "plan"

    with (
        allowed(api_server, purpose, without) as user,
        pytest.raises(ClusterError) as refused,
        _held(api_server, user),
    ):
        pytest.fail("it may not")

    assert f'cannot {verb} resource "leases"' in str(refused.value)
    assert f"the permission to {verb} is missing" in str(refused.value)


@contextmanager
def _held(server: ApiServer, user: str) -> Iterator[None]:
    way = ClusterOptions(kubeconfig=str(server.kubeconfig), user=user)
    reached = reach(way, Pins(), Deadline(30.0))
    with hold_lock(reached, "kube-system", LOCK, lock_timeout=1, say=pytest.fail):
        yield
