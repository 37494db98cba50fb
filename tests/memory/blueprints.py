"""Blueprints as values, drawn from a few that are rendered once: rendering takes longer than all that is tested."""

from __future__ import annotations

from functools import cache
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from gpupool.rollout.desired_state import DesiredState, load_desired_state
from gpupool.yamlio.located import plain_map
from gpupool.yamlio.write import dump

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from gpupool.objects import Manifest

NAME: Final = "memory"
OWN: Final = ("a", "b", "c")
"""Pools with a node class of their own."""

SHARING: Final = ("d", "e")
"""Pools with one node class for both."""

SHARED: Final = "shared"
SLICED: Final = "f"
"""A pool with a NodeOverlay."""

POOLS: Final = (*OWN, *SHARING, SLICED)
VARIANTS: Final = 3
_ACCELERATORS: Final = {"a": "h100", "b": "a100", "c": "l4", "d": "l40s", "e": "t4", "f": "l4"}


def blueprint(variant: int) -> dict[str, Any]:
    """Return a blueprint with every pool; each variant changes, adds and leaves out something everywhere."""
    common: dict[str, Any] = {"weight": 10 + variant, "limits": {"gpus": 8 * (variant + 1)}}
    common |= {"labels": {"team": "ml", "example.com/more": "x"}} if variant == 1 else {}
    common |= {"expireAfter": "24h"} if variant == 2 else {}
    tags = {"v": str(variant)} | ({"more": "x"} if variant == 1 else {})
    pools: dict[str, Any] = {
        name: {"accelerator": _ACCELERATORS[name], **common, "nodeClass": {"tags": tags}} for name in OWN
    }
    pools |= {name: {"accelerator": _ACCELERATORS[name], **common, "nodeClass": SHARED} for name in SHARING}
    pools[SLICED] = {"profile": "notebook", "accelerator": "l4", "limits": {"gpus": 8 + variant}}
    return {
        "apiVersion": "gpupool.dev/v1alpha1",
        "kind": "Blueprint",
        "metadata": {"name": NAME},
        "cluster": {"name": "c", "region": "us-east-1", "timezone": "UTC", "features": ["NodeOverlay"]},
        "defaults": {"nodeClass": {"ami": "al2023@v20260810"}},
        "nodeClasses": {SHARED: {"tags": tags}},
        "pools": pools,
    }


@cache
def _rendered(variant: int) -> DesiredState:
    with TemporaryDirectory() as folder:
        return _desired(blueprint(variant), f"{folder}/gpupool.yaml")


def _desired(words: dict[str, Any], path: str) -> DesiredState:
    with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123 - a temporary file's name
        file.write(dump(words))
    return load_desired_state([path])


def read(words: dict[str, Any], folder: Path) -> DesiredState:
    """Render any blueprint."""
    return _desired(words, str(folder / "gpupool.yaml"))


def chosen(variants: dict[str, int]) -> DesiredState:
    """Return the blueprint that has these pools, each in its variant, and what belongs to them."""
    manifests: dict[tuple[str, str], Manifest] = {}
    for pool, variant in variants.items():
        for manifest in _rendered(variant).manifests:
            owner = manifest.ref.name.partition("-")[0]
            if owner == pool or (owner == SHARED and pool in SHARING):
                manifests[manifest.ref] = manifest
    return _rendered(0)._replace(manifests=tuple(manifests.values()))


def draw(random: Random, fewest: int = 1) -> dict[str, int]:
    """Draw pools and their variants."""
    picked = sorted(random.sample(POOLS, random.randrange(fewest, len(POOLS) + 1)))
    return {name: random.randrange(VARIANTS) for name in picked}


def redraw(random: Random, variants: dict[str, int]) -> dict[str, int]:
    """Draw a later edition: some pools change, some go, some come."""
    kept = {name: variant for name, variant in variants.items() if random.random() < 0.8}
    changed = {
        name: random.randrange(VARIANTS) if random.random() < 0.5 else variant
        for name, variant in kept.items()
    }
    return changed | {name: variant for name, variant in draw(random).items() if random.random() < 0.2}


def bodies(wanted: DesiredState) -> dict[str, dict[str, Any]]:
    """Return what a blueprint wants to be there, by `KIND/NAME`."""
    return {f"{each.ref.kind}/{each.ref.name}": dict(plain_map(each.data)) for each in wanted.manifests}
