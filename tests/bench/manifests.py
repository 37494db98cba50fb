"""Folders of plain manifests, and kubeconform beside gpupool on the same files."""

from copy import deepcopy
from pathlib import Path
from random import Random

from gpupool.yamlio.write import dump
from tests.karpenter.examples import NODEPOOL
from tests.rig import conformance
from tests.rig.crds import LOCATION

_SEED = 1


def write_nodepools(folder: Path, count: int) -> None:
    """Write so many NodePools, each with every field there is, one in a file."""
    random = Random(_SEED)  # noqa: S311 - it has to be the same each time
    folder.mkdir()
    for number in range(count):
        body = deepcopy(NODEPOOL)
        body["metadata"]["name"] = f"pool-{number:04}"
        body["spec"]["weight"] = random.randrange(1, 100)
        body["spec"]["limits"]["nvidia.com/gpu"] = random.randrange(8, 512)
        (folder / f"pool-{number:04}.yaml").write_text(dump(body), "utf-8")


def of_kubeconform(folder: Path) -> list[str]:
    """Return the command line of kubeconform over a folder, with schemas made from Karpenter's CRDs."""
    built = conformance.built()
    return [str(built.program), "-strict", "-schema-location", f"{built.schemas}/{LOCATION}", str(folder)]
