"""How a scene has to end: what is there, what the inventory says of it, and what was written on the way."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.server import leases
from tests.server.applying.scenes import FIRST, NAMESPACE, SECOND, THIRD
from tests.server.statuses import SERVED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.cli.run import Outcome
    from tests.server.applying.scenes import Pools, Scene


def assert_said(said: Outcome, words: str) -> None:
    """Ensure that the end is told in words for people."""
    assert words in said.err
    assert "Traceback" not in said.err
    assert "('" not in said.err


def finish(scene: Scene, specs: Mapping[str, Any]) -> None:
    """Run an apply of the second blueprint on which nothing goes wrong, and ensure that it is there."""
    scene.faulty.rules = []
    scene.faulty.committed = scene.faulty.delivered = None
    scene.unlock()
    said = scene.run("apply", SECOND)
    assert said.code == 0, said.err
    ensure_converged(scene, SECOND, specs)


def is_true(scene: Scene) -> bool:
    """Return whether the inventory lists what is there, and nothing is pending."""
    there = {
        address: (each["metadata"]["uid"], each["metadata"]["generation"])
        for address, each in scene.live().items()
    }
    return scene.listed() == there and "pending" not in scene.inventory()


def ensure_converged(scene: Scene, pools: Pools, specs: Mapping[str, Any]) -> None:
    """Ensure that a blueprint, and nothing else, is on the server, and that the inventory says so.

    `specs` are those of the same pools where nothing went wrong.
    """
    assert scene.specs() == specs
    assert set(scene.live()) == {f"{kind}/{pool}" for kind in ("EC2NodeClass", "NodePool") for pool in pools}
    assert is_true(scene)
    assert leases.read(scene.server, scene.lock) is None
    ensure_own(scene)
    said = scene.run("diff", pools)
    assert (said.code, said.err) == (0, "")


def ensure_own(scene: Scene) -> None:
    """Ensure that nothing was written but this blueprint's own, and nothing was deleted twice."""
    ours = {f"{SERVED[kind]}/{scene.name}-{pool}" for kind in SERVED for pool in _pools()}
    ours |= {path + end for path in _kept_in(NAMESPACE) for end in ("", f"/{scene.lock}")}
    committed = [each for each in scene.faulty.seen if each.is_committed]
    assert {each.path for each in committed} <= ours
    deleted = [json.loads(each.body)["preconditions"]["uid"] for each in committed if each.method == "DELETE"]
    assert len(deleted) == len(set(deleted))


def _pools() -> Iterable[str]:
    return {*FIRST, *SECOND, *THIRD}


def _kept_in(namespace: str) -> tuple[str, str]:
    return f"/api/v1/namespaces/{namespace}/configmaps", leases.COLLECTION
