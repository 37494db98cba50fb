"""A move that is killed, refused or raced at any of its writes: the next one finishes it, and nothing is lost."""

from __future__ import annotations

import json
import signal
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from tests.cli.run import gpupool
from tests.rig.faults import Instead, Reset, conflict
from tests.rig.forwarding import Answered
from tests.server import leases, statuses
from tests.server.applying.scenes import FIRST, TAKE, TOP, at_write, ended, killed

if TYPE_CHECKING:
    import subprocess

    from tests.cli.run import Outcome
    from tests.rig.fault_proxy import Seen
    from tests.rig.faults import Fault
    from tests.server.applying.scenes import Pools, Scene

OBJECTS: Final = [f"{kind}/{pool}" for kind in ("EC2NodeClass", "NodePool") for pool in FIRST]
WRITES: Final = (
    "POST leases", "POST leases", "POST configmaps", *(f"PATCH {each}" for each in sorted(OBJECTS)),
    "PATCH configmaps", "PATCH configmaps", "DELETE leases", "DELETE leases",
)  # fmt: skip
MOMENTS: Final = [
    *((nth, "committed") for nth in range(1, len(WRITES) + 1)),
    *((nth, "delivered") for nth in (3, 6, 10, 11, len(WRITES))),
]
"""Those at which a move is killed, counted from 1."""

SCRIPTED: Final = "Xk29-ffp1-0z7q-TTr4"


def renamed(scene: Scene) -> Scene:
    """Return the same pools under another name of the blueprint."""
    return replace(scene, name=f"{scene.name}-new")


def words(scene: Scene, command: str, pools: Pools, *more: str) -> list[str]:
    """Return a command line for the renamed blueprint; its pools have the names that they had."""
    new = renamed(scene)
    file = scene.folder / "renamed.yaml"
    pools = {f"{scene.name}-{pool}": each for pool, each in pools.items()}
    file.write_text(TOP.replace("NAME", new.name) + yaml.safe_dump({"pools": pools}), "utf-8")
    kubeconfig = str(scene.faulty.kubeconfig(scene.folder))
    return [command, "-f", str(file), "--kubeconfig", kubeconfig, "--context", "rig", *more]


def move(scene: Scene) -> list[str]:
    return words(scene, "move", FIRST, "--from", scene.name, "--yes", "--concurrency", "1")


def run(scene: Scene, command: list[str]) -> Outcome:
    return gpupool(scene.capsys, *command)


def unlock(scene: Scene) -> None:
    """Delete the locks that a dead move left."""
    for each in (scene, renamed(scene)):
        leases.delete(scene.server, each.lock)


def listed(scene: Scene) -> list[str]:
    """Return the addresses that an inventory lists, in any of its parts."""
    said = scene.inventory()
    entries = [*said.get("current", []), *said.get("pending", {}).get("entries", [])]
    return sorted({f"{each['kind']}/{each['name']}" for each in entries})


def stripped(scene: Scene) -> dict[str, Any]:
    """Return the objects beside their labels."""
    return {
        address: (each["spec"], each["metadata"]["uid"], each["metadata"]["generation"])
        for address, each in scene.live().items()
    }


def ensure_moved(scene: Scene, before: dict[str, Any]) -> None:
    """Ensure that all is the new blueprint's, and as it was; an apply of it finds nothing to do."""
    new = renamed(scene)
    assert stripped(scene) == before
    assert (len(listed(new)), listed(scene)) == (len(OBJECTS), [])
    assert "pending" not in new.inventory()
    assert [leases.read(scene.server, each.lock) for each in (scene, new)] == [None, None]
    said = run(scene, words(scene, "apply", FIRST, "--yes", "--wait", "none", "--prune"))
    assert (said.code, said.err.endswith("nothing to do\n")) == (0, True), said


def written(scene: Scene) -> list[str]:
    """Return each write that the server stored, be it of the old blueprint's or of the new one's."""
    new = renamed(scene)
    return [
        (new if each.path.endswith(f"/{new.lock}") else scene).short(each)
        for each in scene.faulty.seen
        if each.is_committed
    ]


def test_all_its_writes(first: Scene) -> None:
    """The faults below are at each of these."""
    before = stripped(first)

    said = ended(first.start_words(*move(first)))

    assert said.code == 0, said.err
    assert written(first) == list(WRITES)
    ensure_moved(first, before)


@pytest.mark.parametrize(("nth", "moment"), MOMENTS)
def test_killed_at_a_write_and_run_again(first: Scene, nth: int, moment: str) -> None:
    before = stripped(first)
    child = first.start_words(*move(first))
    setattr(first.faulty, moment, at_write(nth + len(first.written()), partial(killed, child)))
    code = ended(child).code
    assert code == -signal.SIGKILL or (code == 0 and (nth, moment) == (len(WRITES), "delivered"))
    first.faulty.committed = first.faulty.delivered = None
    # Each object is in one of the two lists, whatever was written by then.
    assert {*listed(first), *listed(renamed(first))} == {
        each.replace("/", f"/{first.name}-") for each in OBJECTS
    }
    unlock(first)

    said = run(first, move(first))

    assert said.code == 0, said.err
    ensure_moved(first, before)


@pytest.mark.parametrize("struck", [*WRITES[2:3], "PATCH NodePool/change", "PATCH configmaps"])
def test_a_refusal_shows_no_secret_and_the_next_run_goes_on(scene: Scene, struck: str) -> None:
    script = f"#!/bin/bash\nexport LICENSE={SCRIPTED}\n"
    pools = FIRST | {"keep": {"accelerator": "h100", "nodeClass": {"userData": script}}}
    assert scene.run("apply", pools).code == 0
    before = stripped(scene)
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": 422,
        "message": f"no: {SCRIPTED}",
    }
    answer = Answered(422, (("Content-Type", "application/json"),), json.dumps(status).encode())
    rule = scene.strike(struck, Instead(answer))
    command = words(scene, "move", pools, "--from", scene.name, "--yes")

    said = run(scene, command)

    assert (rule.struck, said.code) == (1, 1 if struck == WRITES[2] else 7), said
    assert "no: (sensitive)" in said.err
    assert SCRIPTED[:8] not in said.out + said.err
    again = run(scene, command)
    assert again.code == 0, again
    assert stripped(scene) == before
    assert (len(listed(renamed(scene))), listed(scene)) == (len(OBJECTS), [])


@pytest.mark.parametrize("fault", [conflict(), Reset(after_answer=True)], ids=["conflict", "lost answer"])
@pytest.mark.parametrize("struck", ["PATCH EC2NodeClass/keep", "POST configmaps", "PATCH configmaps"])
def test_what_went_wrong_once_is_tried_again(first: Scene, struck: str, fault: Fault) -> None:
    before = stripped(first)
    rule = first.strike(struck, fault)

    said = run(first, move(first))

    assert (rule.struck, said.code) == (1, 0), said
    ensure_moved(first, before)


def test_a_status_that_is_written_meanwhile_is_kept(first: Scene) -> None:
    """Karpenter writes it between the listing and the relabelling."""

    def look(_count: int, seen: Seen, _answered: Answered) -> None:
        if first.short(seen) == WRITES[2]:
            statuses.make_ready(first.server, f"{first.name}-keep")

    first.faulty.committed = look

    said = run(first, move(first))

    assert said.code == 0, said
    assert first.tries("PATCH EC2NodeClass/keep") == 2
    conditions = first.live()["EC2NodeClass/keep"]["status"]["conditions"]
    assert ("Ready", "True") in [(each["type"], each["status"]) for each in conditions]


def test_a_signal_ends_it_in_good_order(first: Scene) -> None:
    before = stripped(first)
    child = first.start_words(*move(first))
    first.faulty.committed = at_write(len(first.written()) + 5, lambda: child.send_signal(signal.SIGTERM))

    said = ended(child)

    assert said.code == 143, said
    assert "Run the same command again to continue" in said.err
    assert leases.read(first.server, first.lock) is None
    assert run(first, move(first)).code == 0
    ensure_moved(first, before)


def test_an_apply_of_the_old_one_meanwhile_waits_for_its_end(first: Scene) -> None:
    """It finds then that nothing is its own any more, and writes nothing."""
    before = stripped(first)
    late: list[subprocess.Popen[str]] = []

    def apply(_count: int, seen: Seen, _answered: Answered) -> None:
        if not late and first.short(seen) == WRITES[3]:
            late.append(first.start("apply", FIRST))
            time.sleep(1)

    first.faulty.committed = apply

    assert run(first, move(first)).code == 0

    said = ended(late[0])
    assert said.code in {3, 4, 5}, said
    ensure_moved(first, before)


def test_others_than_those_that_were_shown_are_not_moved(first: Scene) -> None:
    """Somebody deletes one while the move waits for its lock."""

    def delete(_count: int, seen: Seen, _answered: Answered) -> None:
        if first.short(seen) == TAKE and not first.tries("DELETE leases"):
            statuses.delete(first.server, "NodePool", f"{first.name}-gone")

    first.faulty.committed = delete

    said = run(first, move(first))

    assert said.code == 5, said
    assert "the objects to move have changed since they were shown: run the command again" in said.err
    assert {each.partition(" ")[2] for each in written(first)} == {"leases"}
    assert run(first, move(first)).code == 0
