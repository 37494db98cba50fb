"""A blueprint that nothing else on the server has to do with, and gpupool's command line for it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import yaml

from gpupool.planning.foreign_fields import PART_OF
from gpupool.rollout.inventory.store import InventoryRef
from tests.cli.run import SECONDS, Outcome, gpupool
from tests.rig.fault_proxy import Rule
from tests.server import leases, statuses
from tests.server.statuses import SERVED

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest

    from tests.rig.fault_proxy import FaultProxy, Match, Seen
    from tests.rig.faults import Fault
    from tests.rig.forwarding import Answered
    from tests.rig.server import ApiServer

NAMESPACE: Final = "kube-system"
TOP: Final = """\
apiVersion: gpupool.dev/v1alpha1
kind: Blueprint
metadata: {name: NAME}
cluster: {name: my-cluster, region: us-east-1, timezone: UTC}
defaults: {nodeClass: {ami: al2023@v20260810}}
"""
Pools = dict[str, dict[str, Any]]
Clean = Callable[[Pools], dict[str, Any]]
"""Gives the specs that pools come to where nothing goes wrong."""

KEEP: Final[Pools] = {"keep": {"accelerator": "h100"}}
CHANGE: Final[Pools] = {"change": {"accelerator": "a100", "weight": 10, "nodeClass": {"tags": {"v": "1"}}}}
CHANGED: Final[Pools] = {"change": {"accelerator": "a100", "weight": 20, "nodeClass": {"tags": {"v": "2"}}}}

FIRST: Final[Pools] = KEEP | CHANGE | {"gone": {"accelerator": "l4"}}
SECOND: Final[Pools] = KEEP | CHANGED | {"new": {"accelerator": "l40s"}}
"""Of `FIRST` it updates two objects, deletes two, and creates two; each pool has a class of its own."""

THIRD: Final[Pools] = KEEP | CHANGED
"""Neither what the first had alone, nor what the second did."""

SECOND_WRITES: Final = (
    "POST leases", "PATCH configmaps",
    "PATCH EC2NodeClass/change", "PATCH EC2NodeClass/new", "PATCH NodePool/change", "PATCH NodePool/new",
    "DELETE NodePool/gone", "DELETE EC2NodeClass/gone",
    "PATCH configmaps", "DELETE leases",
)  # fmt: skip
"""What an apply of the second writes where the first is, one after the other."""

TAKE, RELEASE, INVENTORY = "POST leases", "DELETE leases", "PATCH configmaps"
CREATE, UPDATE, DELETE = "PATCH EC2NodeClass/new", "PATCH NodePool/change", "DELETE NodePool/gone"
READING: Final = ("GET kube-system", "GET NodePool", "GET configmaps", "dry NodePool/change")
WRITING: Final = (TAKE, INVENTORY, CREATE, UPDATE, DELETE, RELEASE)
"""One request of each kind that such an apply sends."""

ONE_BY_ONE: Final = ("--concurrency", "1")


@dataclass
class Scene:
    """A blueprint's name, and what there is on the server of that name."""

    server: ApiServer
    faulty: FaultProxy
    folder: Path
    name: str
    capsys: pytest.CaptureFixture[str]
    children: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def lock(self) -> str:
        """Return the name of the lock, and of the inventory."""
        return f"gpupool-{self.name}"

    # The command line.

    def words(self, command: str, pools: Pools, *more: str) -> list[str]:
        """Return the words after `gpupool`; the way to the server is the one on which things go wrong."""
        named = {f"{self.name}-{pool}": words for pool, words in pools.items()}
        file = self.folder / f"{'-'.join(pools)}-{len(json.dumps(pools))}.yaml"
        file.write_text(TOP.replace("NAME", self.name) + yaml.safe_dump({"pools": named}), "utf-8")
        kubeconfig = self.faulty.kubeconfig(self.folder)
        flags = ["--yes", "--prune", "--wait", "none"] if command == "apply" else []
        return [
            command, *flags, "-f", str(file), "--kubeconfig", str(kubeconfig), "--context", "rig", *more,
        ]  # fmt: skip

    def run(self, command: str, pools: Pools, *more: str) -> Outcome:
        """Run a command in this process, which is the quickest way."""
        return gpupool(self.capsys, *self.words(command, pools, *more))

    def start(self, command: str, pools: Pools, *more: str) -> subprocess.Popen[str]:
        """Run a command in a process of its own, which may be killed."""
        return self.start_words(*self.words(command, pools, *more))

    def start_words(self, *words: str) -> subprocess.Popen[str]:
        """Run any command in a process of its own."""
        child = subprocess.Popen(
            [sys.executable, "-m", "gpupool", *words],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.children.append(child)
        return child

    def end(self) -> None:
        """End what still runs, and delete what is there: every list would grow by it."""
        for child in self.children:
            child.kill()
            child.communicate()
        for address in self.live():
            kind, _, pool = address.partition("/")
            statuses.delete(self.server, kind, f"{self.name}-{pool}")

    # What is on the server.

    def live(self) -> dict[str, dict[str, Any]]:
        """Return the objects that belong to this blueprint, or are named as if they did."""
        own = InventoryRef(NAMESPACE, self.lock).id
        found = {}
        for kind, path in SERVED.items():
            for each in self.server.request("GET", path).body["items"]:
                name = each["metadata"]["name"]
                labels = each["metadata"].get("labels", {})
                if name.startswith(f"{self.name}-") or labels.get(PART_OF) == own:
                    found[f"{kind}/{name.removeprefix(f'{self.name}-')}"] = each
        return found

    def specs(self) -> dict[str, Any]:
        """Return what those objects say, as if the blueprint had no name of its own."""
        specs = {address: each["spec"] for address, each in self.live().items()}
        found: dict[str, Any] = json.loads(json.dumps(specs).replace(self.name, "NAME"))
        return found

    def versions(self) -> dict[str, str]:
        """Return the resourceVersion of each of those objects."""
        return {address: each["metadata"]["resourceVersion"] for address, each in self.live().items()}

    def inventory(self) -> dict[str, Any]:
        """Return the data of the inventory, read; empty where there is none."""
        path = f"/api/v1/namespaces/{NAMESPACE}/configmaps/{self.lock}"
        answer = self.server.request("GET", path)
        if answer.status == 404:
            return {}
        return {key: json.loads(text) for key, text in answer.body["data"].items()}

    def listed(self, part: str = "current") -> dict[str, tuple[str, int]]:
        """Return uid and generation of each object that the inventory lists."""
        said = self.inventory().get(part, [])
        return {
            f"{each['kind']}/{each['name'].removeprefix(f'{self.name}-')}": (each["uid"], each["generation"])
            for each in (said if part == "current" else said["entries"])
        }

    def put(self, name: str, kind: str = "NodePool", **spec: object) -> None:
        """Change an object as somebody else would."""
        body = json.dumps({"spec": spec}).encode()
        path = f"{SERVED[kind]}/{self.name}-{name}"
        assert self.server.request("PATCH", path, body, "application/merge-patch+json").status == 200

    # What went over the way.

    def unlock(self) -> None:
        """Delete the lock of a dead run, if there is one, as its message says."""
        if holder := leases.holder(self.server, self.lock):
            said = self.run("unlock", KEEP, holder.split("/")[2])
            assert (said.code, said.err) == (0, "")

    def written(self) -> list[str]:
        """Return each write that the server stored, as in `PATCH NodePool/keep`."""
        return [self.short(each) for each in self.faulty.seen if each.is_committed]

    def tries(self, words: str) -> int:
        """Count the requests that begin with these words."""
        return sum(self.short(each).startswith(words) for each in self.faulty.seen)

    def strike(self, words: str, fault: Fault, times: int | None = 1, skip: int = 0) -> Rule:
        """Let a fault happen to requests that begin with these words."""
        self.faulty.rules.append(Rule(self.matching(words), fault, times, skip))
        return self.faulty.rules[-1]

    def short(self, seen: Seen) -> str:
        """Return a request in few words, as in `PATCH NodePool/keep`, `dry NodePool/keep` or `GET leases`."""
        return self._short(seen.method, seen.path, seen.query)

    def matching(self, words: str) -> Match:
        """Fit requests that begin with these words."""
        return lambda method, path, query, _nth: self._short(method, path, query).startswith(words)

    def _short(self, method: str, path: str, query: Mapping[str, str]) -> str:
        kinds = {path: kind for kind, path in SERVED.items()}
        word = "dry" if query.get("dryRun") == "All" else method
        if path in kinds:
            return f"{word} {kinds[path]}"
        collection, _, name = path.rpartition("/")
        if collection in kinds:
            return f"{word} {kinds[collection]}/{name.removeprefix(f'{self.name}-')}"
        return f"{word} {path.removesuffix(f'/{self.lock}').rpartition('/')[2]}"


def at_write(nth: int, strike: Callable[[], None]) -> Callable[[int, Seen, Answered], None]:
    """Return a hook that strikes at the nth write."""

    def hook(count: int, _seen: Seen, _answered: Answered) -> None:
        if count == nth:
            strike()

    return hook


def ended(child: subprocess.Popen[str]) -> Outcome:
    """Wait for a process."""
    out, err = child.communicate(timeout=SECONDS)
    return Outcome(child.returncode, out, err)


def killed(child: subprocess.Popen[str]) -> None:
    """Kill a process, and see it end."""
    child.kill()
    child.wait()
