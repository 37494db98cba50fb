"""A server in memory, and gpupool's own steps on it from blueprint to result, with a clock that needs no waiting."""

from __future__ import annotations

import json
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

from gpupool.cluster import deadline, kube, parallel, partner
from gpupool.cluster.client import APPLY, MERGE, Request
from gpupool.cluster.deadline import Deadline
from gpupool.cluster.resources import KINDS, NODE_CLAIM, config_map_path, lease_path
from gpupool.planning import file
from gpupool.planning.plan import Consent
from gpupool.rollout import commit, session
from gpupool.rollout.applying.apply import ApplyOptions
from gpupool.rollout.applying.results import ensure_complete
from gpupool.rollout.connection import ClusterOptions
from gpupool.rollout.inventory.store import InventoryRef
from gpupool.rollout.lock import lock
from gpupool.rollout.watch import nodeclaims, waiting
from gpupool.yamlio.located import plain_map
from tests.memory.server import MemoryServer
from tests.memory.values import copy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pytest

    from gpupool.cluster.client import Connection, Response
    from gpupool.planning.plan import Plan
    from gpupool.rollout.applying.apply import Wait
    from gpupool.rollout.applying.results import Outcome, Result
    from gpupool.rollout.desired_state import DesiredState
    from gpupool.rollout.session import Session
    from tests.memory.schemas import Body

NAMESPACE: Final = "kube-system"
PLURALS: Final = {kind.plural: kind.name for kind in KINDS.values()}


class VirtualTime:
    """Time that goes on only while somebody sleeps, and so takes none."""

    def __init__(self) -> None:
        self.now = self._told = 1000.0
        self.each_second: list[Callable[[], None]] = []
        """Called once a second while somebody sleeps: what others do meanwhile."""

    def monotonic(self) -> float:
        """Return the seconds since some moment."""
        return self.now

    def clock_gettime(self, _clock: int) -> float:
        """Return the same for any clock."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time go on."""
        self.now += seconds
        if self.now - self._told >= 1:
            self._told = self.now
            for call in self.each_second:
                call()


class InTurn:
    """An executor that does each task when it is submitted, so that a case is the same each time."""

    def __init__(self, workers: int) -> None:
        assert workers > 0

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:  # noqa: ANN401 - any task
        """Do a task."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as problem:  # noqa: BLE001 - raised where it is waited for
            future.set_exception(problem)
        return future

    def map(self, function: Callable[..., Any], items: Iterable[Any]) -> Iterator[Any]:
        """Do a task for each item."""
        return iter([function(item) for item in items])

    def shutdown(self, **_: bool) -> None:
        """End; nothing is under way."""


def _ask(connection: Connection, request: Request, limit: Deadline, _grace: float) -> Response:
    """Ask in this thread: no answer is ever late here."""
    return connection.ask(request, limit.left)


class Kept:
    """What a world needs of the test that it is in: patches that end with it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = VirtualTime()
        self.servers: WeakValueDictionary[str, MemoryServer] = WeakValueDictionary()
        self.numbers = count()
        self.blueprints: dict[str, DesiredState] = {}
        times = SimpleNamespace(
            **{name: getattr(self.clock, name) for name in ("monotonic", "sleep", "clock_gettime")},
            CLOCK_MONOTONIC=time.CLOCK_MONOTONIC,
        )
        for module in (deadline, nodeclaims, waiting):
            # Not that of the lock, which a thread renews in real time: it would be lost while others sleep here.
            monkeypatch.setattr(module, "time", times)
        self._monkeypatch, self._times = monkeypatch, times
        monkeypatch.setattr(parallel, "ThreadPoolExecutor", InTurn)
        monkeypatch.setattr(partner, "ask", _ask)
        monkeypatch.setattr(kube, "connect", lambda way, _deadline: self.servers[str(way.context)])
        monkeypatch.setattr(session, "load_desired_state", lambda files, **_: self.blueprints[files[0]])
        monkeypatch.setattr(commit, "find_commit", lambda _: "")

    def for_locks_too(self) -> None:
        """Let locks be renewed, and run out, by the same clock; no thread renews them then."""
        self._monkeypatch.setattr(lock, "time", self._times)


@dataclass
class World:
    """A cluster and what happens to it."""

    kept: Kept
    server: MemoryServer = field(default_factory=lambda: MemoryServer(missing_crds=True))
    timeout: float = 600.0
    concurrency: int = 1
    said: list[str] = field(default_factory=list)
    done: list[Outcome] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.context = f"memory-{next(self.kept.numbers)}"
        self.kept.servers[self.context] = self.server

    # gpupool's own steps.

    @property
    def way(self) -> ClusterOptions:
        """Return a command line's way to the server."""
        return ClusterOptions(context=self.context, concurrency=self.concurrency, timeout=self.timeout)

    def look(self, wanted: DesiredState, consent: Consent | None = None) -> Session:
        """Plan, as `gpupool diff` does."""
        self.kept.blueprints["look"] = wanted
        return session.prepare_session(["look"], self.way, consent or Consent())

    def saved(self, wanted: DesiredState, consent: Consent | None = None) -> Plan:
        """Plan, as `gpupool plan -o json=FILE` does, and read the file."""
        self.kept.blueprints["look"] = wanted
        plan = session.prepare_saved_session(["look"], self.way, consent or Consent()).plan
        return file.parse_plan(file.render_plan(plan).encode(), "plan.json")

    def apply(self, wanted: DesiredState, consent: Consent | None = None) -> Result | None:
        """Plan and apply, as `gpupool apply --yes` does; None where there was nothing to do."""
        found = self.look(wanted, consent)
        session.ensure_applicable(found.plan)
        if session.is_settled(found):
            return None
        result = self.carry_out(found)
        ensure_complete(result)
        return result

    def carry_out(self, found: Session, wait: Wait = "none", lock_timeout: float = 0.0) -> Result:
        """Do what was planned."""
        return session.carry_out(found, self.how(wait, lock_timeout))

    def carry_out_saved(self, plan: Plan) -> Result:
        """Do what a saved plan says."""
        return session.carry_out_saved(plan, ["look"], self.way, Deadline(600.0), self.how())

    def how(self, wait: Wait = "none", lock_timeout: float = 0.0) -> ApplyOptions:
        """Return how a plan is carried out."""
        return ApplyOptions(
            wait=wait,
            lock_timeout=lock_timeout,
            tooling="gpupool/test",
            who={"by": "a test", "commit": ""},
            is_overlay_gate_on=True,
            files=(),
            say=self.said.append,
            done=self.done.append,
            waits=lambda _: None,
        )

    # What is there.

    def objects(self) -> dict[str, Body]:
        """Return every object of the kinds that gpupool writes, by `KIND/NAME`; not copies, so change none of them."""
        return {
            f"{PLURALS[plural]}/{name}": body
            for (plural, _, name), body in self.server.state[0].items()
            if plural in PLURALS
        }

    def specs(self) -> dict[str, Any]:
        """Return what those objects say."""
        return {address: body["spec"] for address, body in self.objects().items()}

    def uids(self) -> dict[str, str]:
        """Return the uid of each of those objects."""
        return {address: body["metadata"]["uid"] for address, body in self.objects().items()}

    def inventory(self, part: str = "current") -> dict[str, tuple[str, int]]:
        """Return uid and generation of each object that an inventory lists."""
        data = next(iter(self.server.objects("configmaps").values()), {}).get("data", {})
        listed = json.loads(data.get(part, "[]"))
        entries = listed if part == "current" else listed and listed["entries"]
        return {f"{each['kind']}/{each['name']}": (each["uid"], each["generation"]) for each in entries}

    def is_recorded(self) -> bool:
        """Return whether the inventory lists what is there, and nothing else."""
        live = {
            address: (body["metadata"]["uid"], body["metadata"]["generation"])
            for address, body in self.objects().items()
        }
        return self.inventory() == live and not self.inventory("pending")

    def writes(self, since: int = 0) -> list[Request]:
        """Return what was sent to be stored, after so many requests."""
        return [each for each in self.server.requests[since:] if not each.is_dry_run]

    def written(self, since: int = 0) -> list[str]:
        """Return each write to Karpenter's objects, as in `PATCH NodePool/a`."""
        return [f"{each.method} {address}" for each in self.writes(since) if (address := address_of(each))]

    # What others do.

    def send(self, request: Request) -> Response:
        """Ask as somebody else: no hook of the test is called, and nothing is counted."""
        hooks, requests = self.server.hooks, self.server.requests
        self.server.hooks, self.server.requests = [], []
        try:
            return self.server.ask(request)
        finally:
            self.server.hooks, self.server.requests = hooks, requests

    def change(self, address: str, patch: Body, manager: str = "kubectl-edit", below: str = "") -> Response:
        """Merge something into an object."""
        return self.send(Request("PATCH", path_of(address) + below, {"fieldManager": manager}, patch, MERGE))

    def replace(self, address: str, body: Body, manager: str = "kubectl-edit") -> Response:
        """Replace an object by a body, whatever version it is of."""
        metadata = {
            **body["metadata"],
            "resourceVersion": self.objects()[address]["metadata"]["resourceVersion"],
        }
        del metadata["managedFields"]
        new = {**body, "metadata": metadata}
        return self.send(Request("PUT", path_of(address), {"fieldManager": manager}, new))

    def impose(self, address: str, spec: Body, manager: str = "argocd-controller") -> Response:
        """Apply some fields of an object, as another tool does."""
        kind = KINDS[address.partition("/")[0]]
        body: Body = {"apiVersion": kind.api_version, "kind": kind.name, "spec": spec}
        body["metadata"] = {"name": address.partition("/")[2]}
        query = {"fieldManager": manager, "force": "true"}
        return self.send(Request("PATCH", path_of(address), query, body, APPLY))

    def delete(self, address: str) -> None:
        """Delete an object."""
        assert self.send(Request("DELETE", path_of(address))).ok

    def create(self, address: str, body: Body, manager: str = "kubectl-create") -> Body:
        """Create an object with the spec and labels of a body."""
        kind = KINDS[address.partition("/")[0]]
        metadata = {"name": address.partition("/")[2], "labels": copy(body["metadata"].get("labels", {}))}
        new = {
            "apiVersion": kind.api_version,
            "kind": kind.name,
            "metadata": metadata,
            "spec": copy(body["spec"]),
        }
        answer = self.send(Request("POST", kind.path, {"fieldManager": manager}, new))
        assert answer.ok, answer
        return dict(answer.body)

    def claim(self, pool: str, count: int) -> None:
        """Return a pool so many NodeClaims, launched from its class."""
        template = self.objects()[f"NodePool/{pool}"]["spec"]["template"]["spec"]
        spec = {"nodeClassRef": copy(template["nodeClassRef"])}
        for number in range(count):
            body: Body = {"apiVersion": NODE_CLAIM.api_version, "kind": NODE_CLAIM.name, "spec": copy(spec)}
            body["metadata"] = {"name": f"{pool}-{number}", "labels": {"karpenter.sh/nodepool": pool}}
            assert self.send(Request("POST", NODE_CLAIM.path, {"fieldManager": "karpenter"}, body)).ok

    def make_ready(self, address: str, state: str = "True") -> None:
        """Write a status, as Karpenter does once it has looked at an object."""
        live = self.objects()[address]["metadata"]
        ready = {"type": "Ready", "status": state, "reason": "Ready", "message": "", "observedGeneration": live["generation"],
                 "lastTransitionTime": "2026-11-21T08:00:00Z"}  # fmt: skip
        assert self.change(address, {"status": {"conditions": [ready]}}, "karpenter", "/status").ok

    def unlock(self) -> None:
        """Delete the lock of a run that is dead, as its message says."""
        for name in self.server.objects("leases"):
            assert self.send(Request("DELETE", lease_path(NAMESPACE, name))).ok

    def is_locked(self) -> bool:
        """Return whether there is a lock."""
        return bool(self.server.objects("leases"))


def path_of(address: str) -> str:
    """Return the path of `KIND/NAME`."""
    kind, _, name = address.partition("/")
    return KINDS[kind].path_of(name)


def address_of(request: Request) -> str:
    """Return `KIND/NAME` of the object that a request is about; empty for others."""
    collection, _, name = request.path.rpartition("/")
    return f"{PLURALS[plural]}/{name}" if (plural := collection.rpartition("/")[2]) in PLURALS else ""


def own_set(wanted: DesiredState) -> str:
    """Return the label by which a blueprint's objects are known."""
    return InventoryRef(wanted.namespace, wanted.inventory).id


def inventory_path(wanted: DesiredState) -> str:
    """Return the path of a blueprint's inventory."""
    return config_map_path(wanted.namespace, wanted.inventory)


def missing_leaves(body: Any, live: Any, path: str = "") -> Iterator[str]:  # noqa: ANN401 - any part of an object
    """Return the path of each leaf of a body that the live object has not, or has with another value."""
    if isinstance(body, dict):
        for key, item in body.items():
            yield from missing_leaves(item, plain_map(live).get(key), f"{path}.{key}")
    elif body != live:
        yield path
