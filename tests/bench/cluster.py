"""gpupool beside kubectl on one API server; it prints figures and asserts nothing.

Objects come in pairs, an EC2NodeClass and a NodePool each. Whole processes in turns, so that both meet the
same machine; requests are counted in a run of their own, on a way that remembers them.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.bench.measure import HEADER, Figures, of_gpupool, once
from tests.rig import programs
from tests.rig.fault_proxy import FaultProxy, Rule, everything, fault_proxy
from tests.rig.faults import Late
from tests.rig.server import ApiServer, api_server

SIZES = (10, 100, 500)
KINDS = ("karpenter.sh/v1/nodepools", "karpenter.k8s.aws/v1/ec2nodeclasses")
HEAD = """\
apiVersion: gpupool.dev/v1alpha1
kind: Blueprint
metadata: {name: bench}
cluster: {name: bench, region: us-east-1, context: rig}
defaults: {nodeClass: {ami: al2023@v20260810, tags: {team: platform}}}
pools:
"""
POOL = (
    "  pool-{0:05}: {{profile: training, accelerator: h100, labels: {{team: t{0}}}, limits: {{gpus: {1}}},"
    " nodeClass: {{tags: {{edition: {2}}}}}}}\n"
)
RATIOS = (
    ("gpupool apply", "kubectl apply"),
    ("gpupool diff, no change", "kubectl diff, no change"),
    ("gpupool apply, all changed", "kubectl apply, all changed"),
    ("gpupool apply --prune, one pool left", "kubectl delete"),
)


class Case(NamedTuple):
    """One line of a table: what is run, and in front of which cluster."""

    name: str
    command: list[str]
    is_first: bool
    """Whether the cluster is emptied before it."""


def main() -> None:
    """Print one table for each size."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.cluster", description=__doc__)
    parser.add_argument("runs", type=int, nargs="?", default=5)
    parser.add_argument("--size", type=int, action="append", help="objects; repeat it for more tables")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds that each answer takes longer")
    wanted = parser.parse_args()
    _say(f"Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    with (
        tempfile.TemporaryDirectory() as name,
        api_server() as server,
        fault_proxy(server.access) as way,
    ):
        for size in wanted.size or SIZES:
            bench = Bench(Path(name), size, server, way, wanted.delay)
            _say("", *bench.compared(wanted.runs))


class Bench:
    """One size: its blueprints and manifests, and the commands on them."""

    def __init__(self, folder: Path, size: int, server: ApiServer, way: FaultProxy, delay: float) -> None:
        self.folder, self.size, self.server, self.way, self.delay = folder, size, server, way, delay
        self.first = self._written("first", size // 2, 0)
        self.changed = self._written("changed", size // 2, 1)
        self.rest = self._written("rest", 1, 1)

    def compared(self, runs: int) -> Iterator[str]:
        """Run all commands in turns, and yield the lines of the table."""
        found: dict[str, list[tuple[float, float, float]]] = {}
        proxied = str(self.way.kubeconfig(self.folder))
        os.environ["KUBECONFIG"] = proxied if self.delay else str(self.server.kubeconfig)
        for _ in range(runs + 1):
            for case in self.cases():
                if case.is_first:
                    _empty(self.server)
                self._forget()
                found.setdefault(case.name, []).append(once(case.command))
        late = f", each answer {self.delay * 1000:g} ms later" if self.delay else ""
        yield f"{f'{self.size} objects{late}':<44}{HEADER[44:]}{'requests':>10}"
        os.environ["KUBECONFIG"] = proxied
        best = {}
        for case in self.cases():
            if case.is_first:
                _empty(self.server)
            walls, processor, memory = zip(*(found[case.name][1:] or found[case.name]), strict=True)
            best[case.name] = min(walls)
            self._forget()
            once(case.command)
            yield f"{Figures(case.name, walls, min(processor), max(memory))}{len(self.way.seen):>10}"
        for ours, theirs in RATIOS:
            yield f"{f'{ours} / {theirs}':<60}{best[ours] / best[theirs]:>8.2f}"

    def cases(self) -> Iterator[Case]:
        """Yield the commands in their order: each finds what the one before left."""
        kubectl = str(programs.build(programs.KUBECTL).path)
        apply = ["--yes", "--wait", "none"]
        for words, command in (
            ("apply", of_gpupool("apply", "-f", self.first, *apply)),
            ("diff, no change", of_gpupool("diff", "-f", self.first)),
            ("apply, all changed", of_gpupool("apply", "-f", self.changed, *apply)),
            (
                "apply --prune, one pool left",
                of_gpupool("apply", "-f", self.rest, *apply, "--prune", "--max-deletes", str(self.size)),
            ),
        ):
            yield Case(f"gpupool {words}", command, words == "apply")
        side = "--server-side"
        for words, command in (
            ("apply", [kubectl, "apply", side, *self._manifests(self.first)]),
            ("diff, no change", [kubectl, "diff", side, *self._manifests(self.first)]),
            ("apply, all changed", [kubectl, "apply", side, *self._manifests(self.changed)]),
            ("delete", [kubectl, "delete", "--wait=false", *self._manifests(self.changed)]),
        ):
            yield Case(f"kubectl {words}", command, words == "apply")

    def _written(self, name: str, pools: int, more: int) -> Path:
        blueprint = self.folder / f"{self.size}-{name}.yaml"
        listed = (POOL.format(each, 8 * (each % 9 + 1 + more), f"v{more}") for each in range(pools))
        blueprint.write_text(HEAD + "".join(listed), "utf-8")
        once(of_gpupool("render", "-f", blueprint, "-d", blueprint.with_suffix("")))
        return blueprint

    def _manifests(self, blueprint: Path) -> list[str]:
        folder = blueprint.with_suffix("")
        return ["-f", f"{folder}/ec2nodeclasses", "-f", f"{folder}/nodepools"]

    def _forget(self) -> None:
        self.way.forget()
        if self.delay:
            self.way.rules = [Rule(everything, Late(self.delay), times=None)]


def _empty(server: ApiServer) -> None:
    for kind in KINDS:
        server.request("DELETE", f"/apis/{kind}")
    server.request("DELETE", "/api/v1/namespaces/kube-system/configmaps/gpupool-bench")


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
