"""`python -m tests.bench.cluster [RUNS]`: gpupool beside kubectl on one API server; asserts nothing.

Objects come in pairs, an EC2NodeClass and a NodePool each. Whole processes in turns, so that both meet the
same machine; requests are counted in a run of their own, on a way that remembers them.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.bench.measure import HEADER, Figures, of_gpupool, once
from tests.rig import programs
from tests.rig.fault_proxy import FaultProxy, fault_proxy
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
    "  pool-{0:03}: {{profile: training, accelerator: h100, labels: {{team: t{0}}}, limits: {{gpus: {1}}}}}\n"
)


def main() -> None:
    """Print one table for each size."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    _say(f"Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    with (
        tempfile.TemporaryDirectory() as name,
        api_server() as server,
        fault_proxy(server.access) as counting,
    ):
        for size in SIZES:
            _say("", *_compared(Path(name), size, runs, server, counting))


def _compared(folder: Path, size: int, runs: int, server: ApiServer, counting: FaultProxy) -> Iterator[str]:
    blueprint, manifests = folder / f"{size}.yaml", folder / f"{size}-rendered"
    pools = size // 2
    blueprint.write_text(
        HEAD + "".join(POOL.format(each, 8 * (each % 9 + 1)) for each in range(pools)), "utf-8"
    )
    once(of_gpupool("render", "-f", blueprint, "-d", manifests))
    commands = _commands(blueprint, manifests)
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
    os.environ["KUBECONFIG"] = str(server.kubeconfig)
    for _ in range(runs + 1):
        for name, command in commands.items():
            if "apply" in name:
                _empty(server)
            found[name].append(once(command))
    yield f"{f'{size} objects':<44}{HEADER[44:]}{'requests':>10}"
    os.environ["KUBECONFIG"] = str(counting.kubeconfig(folder))
    best = {}
    for name, command in commands.items():
        if "apply" in name:
            _empty(server)
        walls, processor, memory = zip(*found[name][1:], strict=True)
        best[name] = min(walls)
        yield f"{Figures(name, walls, min(processor), max(memory))}{_requests(counting, command):>10}"
    for what in ("apply", "diff"):
        ours, theirs = (each for each in best if what in each)
        yield f"{f'gpupool {what} / kubectl {what}':<44}{best[ours] / best[theirs]:>8.2f}"


def _commands(blueprint: Path, manifests: Path) -> dict[str, list[str]]:
    kubectl = str(programs.build(programs.KUBECTL).path)
    files = ["-f", f"{manifests}/ec2nodeclasses", "-f", f"{manifests}/nodepools", "--server-side"]
    return {
        "gpupool apply --yes --wait none": of_gpupool("apply", "-f", blueprint, "--yes", "--wait", "none"),
        "gpupool diff, no change": of_gpupool("diff", "-f", blueprint),
        "kubectl apply --server-side": [kubectl, "apply", *files],
        "kubectl diff --server-side, no change": [kubectl, "diff", *files],
    }


def _requests(counting: FaultProxy, command: Sequence[str]) -> int:
    counting.forget()
    once(command)
    return len(counting.seen)


def _empty(server: ApiServer) -> None:
    for kind in KINDS:
        server.request("DELETE", f"/apis/{kind}")
    server.request("DELETE", "/api/v1/namespaces/kube-system/configmaps/gpupool-bench")


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
