"""Desired state of a cluster: a blueprint's rendered objects and its cluster settings."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.planning.blueprint_index import BlueprintIndex
from gpupool.rollout.connection import Pins
from gpupool.yamlio.located import text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpupool.findings import Finding
    from gpupool.objects import Manifest
    from gpupool.rendering.values import Release
    from gpupool.yamlio.located import Located

DEFAULT_NAMESPACE: Final = "kube-system"
_STDIN: Final = "-"


class DesiredState(NamedTuple):
    """A rendered blueprint with its cluster settings."""

    blueprint: str
    node: Located
    """The merged blueprint."""

    manifests: tuple[Manifest, ...]
    """The rendered objects, in the order in which they are written."""

    releases: tuple[Release, ...]
    findings: tuple[Finding, ...]
    pins: Pins
    namespace: str
    """Of the inventory and the lock."""

    prune: bool
    sensitive: tuple[str, ...]
    karpenter: str
    """The Karpenter minor of the blueprint."""

    features: tuple[str, ...]
    """Karpenter's feature gates that are on beyond its defaults."""

    files: Mapping[str, str]
    """A sha256 of each file, by its name on the command line."""

    blueprint_index: BlueprintIndex
    """The blueprint's values by location."""

    @property
    def is_overlay_gate_on(self) -> bool:
        """Return whether Karpenter's feature gate for NodeOverlays is on."""
        return "NodeOverlay" in self.features

    @property
    def inventory(self) -> str:
        """Return the name of the inventory's ConfigMap and of the lock's Lease."""
        return f"gpupool-{self.blueprint}"


def load_desired_state(paths: Sequence[str], *, allow_empty: bool = False) -> DesiredState:
    """Read and render blueprint files, merged in order; a blueprint needs pools unless `allow_empty`.

    Raises:
        InputError: with every mistake, in file order.
    """
    from gpupool.rendering.render import render_files

    rendered = render_files(paths, allow_empty=allow_empty)
    blueprint = rendered.expanded.loaded.blueprint
    cluster, prune = blueprint.cluster, blueprint.prune
    return DesiredState(
        blueprint=rendered.name,
        node=rendered.blueprint,
        manifests=rendered.manifests,
        releases=rendered.releases,
        findings=rendered.findings,
        pins=Pins(*(text_of(pin) or None for pin in (cluster.context, cluster.server, cluster.uid))),
        namespace=text_of(blueprint.inventory.namespace) or DEFAULT_NAMESPACE,
        prune=prune is not None and prune.value,
        sensitive=rendered.sensitive,
        karpenter=rendered.expanded.karpenter,
        features=tuple(cluster.features.texts()),
        files={path: _digest(path) for path in paths if path != _STDIN},
        blueprint_index=BlueprintIndex(rendered.expanded.loaded),
    )


def _digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
