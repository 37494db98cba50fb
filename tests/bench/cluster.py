"""gpupool beside kubectl on one API server; it prints figures and asserts nothing.

Objects come in pairs, an EC2NodeClass and a NodePool each. Whole processes in turns, so that both meet the
same machine. The API server itself counts the requests; each Lease of a lock is left out, since the server
writes such by itself.
"""

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.bench.measure import HEADER, Figures, of_gpupool, once
from tests.rig import programs
from tests.rig.server import ApiServer, api_server
from tests.rig.slow_link import slow_link

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
LONG: Final = "30m"
"""Thousands of objects take longer than a command may by default."""

COUNTED: Final = re.compile(r"^apiserver_request_total\{(?P<labels>[^}]*)\} (?P<count>\S+)$", re.MULTILINE)
UNCOUNTED: Final = re.compile(r'resource="leases"|verb="WATCH"')
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


class Row(NamedTuple):
    """What one run of a case took."""

    wall: float
    processor: float
    megabytes: float
    requests: int
    load: float
    """Of the machine, over the last minute when it ended."""


def main() -> None:
    """Print one table for each size."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.cluster", description=__doc__)
    parser.add_argument(
        "runs",
        type=int,
        nargs="?",
        default=5,
        help="rounds after a first one, which counts only where it is alone",
    )
    parser.add_argument("--size", type=int, action="append", help="objects; repeat it for more tables")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds that each answer takes longer")
    parser.add_argument(
        "--skip", action="append", default=[], help="leave out cases with this word; repeatable"
    )
    wanted = parser.parse_args()
    _say(f"Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    with (
        tempfile.TemporaryDirectory() as name,
        api_server() as server,
        slow_link(server.access, wanted.delay) as link,
    ):
        os.environ["KUBECONFIG"] = str(link.kubeconfig(Path(name)) if wanted.delay else server.kubeconfig)
        for size in wanted.size or SIZES:
            late = f", each answer {wanted.delay * 1000:g} ms later" if wanted.delay else ""
            _say("", f"{f'{size:,} objects{late}':<44}{HEADER[44:]}{'requests':>10}{'load':>6}")
            bench = Bench(Path(name), size, server, wanted.skip)
            _say(*bench.compared(wanted.runs))


class Bench:
    """One size: its blueprints and manifests, and the commands on them."""

    def __init__(self, folder: Path, size: int, server: ApiServer, skipped: list[str]) -> None:
        self.folder, self.size, self.server, self.skipped = folder, size, server, skipped
        self.first = self._written("first", size // 2, 0)
        self.changed = self._written("changed", size // 2, 1)
        self.rest = self._written("rest", 1, 1)

    def compared(self, runs: int) -> Iterator[str]:
        """Run all commands in turns, and yield the lines of the table."""
        cases = [each for each in self.cases() if not any(word in each.name for word in self.skipped)]
        found: dict[str, list[Row]] = {each.name: [] for each in cases}
        for _ in range(runs + 1):
            for case in cases:
                if case.is_first:
                    _empty(self.server)
                before = _requests(self.server)
                figures = once(case.command)
                requests = _requests(self.server) - before
                found[case.name].append(Row(*figures, requests, os.getloadavg()[0]))
        best = {}
        for name, rows in found.items():
            measured = rows[1:] or rows
            walls, processor, memory, requests_, loads = zip(*measured, strict=True)
            best[name] = min(walls)
            line = Figures(name, walls, min(processor), max(memory))
            yield f"{line}{max(requests_):>10,}{max(loads):>6.1f}"
        for ours, theirs in RATIOS:
            if {ours, theirs} <= best.keys():
                yield f"{f'{ours} / {theirs}':<60}{best[ours] / best[theirs]:>8.2f}"

    def cases(self) -> Iterator[Case]:
        """Yield the commands in their order: each finds what the one before left."""
        kubectl = str(programs.build(programs.KUBECTL).path)
        apply = ["--yes", "--wait", "none", "--timeout", LONG]
        for words, command in (
            ("apply", of_gpupool("apply", "-f", self.first, *apply)),
            ("diff, no change", of_gpupool("diff", "-f", self.first, "--timeout", LONG)),
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


def _empty(server: ApiServer) -> None:
    for kind in KINDS:
        server.request("DELETE", f"/apis/{kind}")
    server.request("DELETE", "/api/v1/namespaces/kube-system/configmaps/gpupool-bench")


def _requests(server: ApiServer) -> int:
    """Return how many requests the server has answered so far."""
    said = server.request("GET", "/metrics").body["message"]
    counts = (each["count"] for each in COUNTED.finditer(said) if not UNCOUNTED.search(each["labels"]))
    return round(sum(map(float, counts)))


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
