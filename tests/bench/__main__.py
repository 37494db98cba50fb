"""`python -m tests.bench [RUNS]`: prints the figures; it asserts nothing, as machines differ."""

import os
import sys
import tempfile
from pathlib import Path

from tests.bench import matching
from tests.bench.blueprints import blueprint
from tests.bench.catalogue import loading
from tests.bench.manifests import of_kubeconform, write_nodepools
from tests.bench.measure import HEADER, measured, of_gpupool
from tests.bench.writers import compare

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "ml-platform.yaml"
SIZES = (5, 1_000, 2_000, 4_000)


def main() -> None:
    """Print one table of whole processes, and one of the writers."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    with tempfile.TemporaryDirectory() as name:
        files = {size: Path(name, f"{size}.yaml") for size in SIZES}
        for size, file in files.items():
            file.write_text(blueprint(size), "utf-8")
        _say(
            f"Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}\n", HEADER
        )
        few = max(3, runs // 3)
        _say(str(measured("python -c pass", [sys.executable, "-c", "pass"], runs)))
        _say(str(measured("python -I -S -c pass", [sys.executable, "-I", "-S", "-c", "pass"], runs)))
        libraries = "import typer, pydantic, yaml; from pydantic import BaseModel, Field, StrictInt"
        _say(
            str(measured("python -c 'import typer, pydantic, yaml'", [sys.executable, "-c", libraries], runs))
        )
        _say(str(measured("gpupool --version", of_gpupool("--version"), runs)))
        _say(str(measured("gpupool --help", of_gpupool("--help"), runs)))
        _say(
            str(
                measured(
                    "gpupool render, docs/examples/ml-platform", of_gpupool("render", "-f", EXAMPLE), runs
                )
            )
        )
        command = of_gpupool("validate", "-f", EXAMPLE)
        _say(str(measured("gpupool validate, docs/examples/ml-platform", command, runs)))
        _say(*(_explaining(pool, runs) for pool in ("chat", "pretrain")))
        _say(loading(runs))
        for size, file in files.items():
            command = of_gpupool("render", "-f", file)
            _say(str(measured(f"gpupool render, {size:,} pools", command, few if size > 5 else runs)))
        folder = Path(name, "manifests")
        write_nodepools(folder, 1_000)
        ours = measured("gpupool validate, 1,000 NodePools", of_gpupool("validate", folder), few)
        theirs = measured("kubeconform -strict, the same files", of_kubeconform(folder), few)
        _say(
            str(ours),
            str(theirs),
            f"{'gpupool / kubeconform':<44}{min(ours.walls) / min(theirs.walls):>8.2f}",
        )
        folder = Path(name, "out")
        command = of_gpupool("render", "-f", files[1_000], "-d", folder)
        _say(str(measured("gpupool render -d, 1,000 pools, unchanged", command, few)))
        _say("", *matching.rows(EXAMPLE.parent, Path(name)))
        _say(f"\n{'writing the objects of 1,000 pools':<44}{'best s':>8}", *compare(files[1_000], few))


def _explaining(pool: str, runs: int) -> str:
    return str(
        measured(f"gpupool explain {pool}, ml-platform", of_gpupool("explain", pool, "-f", EXAMPLE), runs)
    )


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


main()
