"""Catalogue of a blueprint, loaded when expansion first needs it."""

from __future__ import annotations

from functools import cached_property
from os.path import normpath
from pathlib import PurePath
from typing import TYPE_CHECKING

from gpupool.errors import InputError
from gpupool.yamlio.located import place, text_of

if TYPE_CHECKING:
    from gpupool.blueprint.model import BlueprintCluster
    from gpupool.catalogue.accelerators import Accelerators
    from gpupool.catalogue.model import Catalogue
    from gpupool.findings import Finding
    from gpupool.scheduling.naming.names import Names
    from gpupool.scheduling.types.market import Market
    from gpupool.scheduling.types.nodeclass import ScheduledNodeClass
    from gpupool.scheduling.types.typemasks import TypeMasks


class CatalogueAccess:
    """The file that `cluster.catalogue` sets, or else gpupool's own catalogue; never the user's cache.

    So the same input is always rendered to the same bytes.
    """

    def __init__(self, cluster: BlueprintCluster, findings: list[Finding]) -> None:
        """Load the file of `cluster.catalogue`, if it is set; errors are added to `findings`."""
        self.region = text_of(cluster.region)
        self.own: Catalogue | None = None
        try:
            self.own = load_named_catalogue(cluster)
        except InputError as problem:
            findings += problem.findings

    @cached_property
    def catalogue(self) -> Catalogue:
        """Return the catalogue."""
        from gpupool.catalogue.load import load_shipped

        return self.own or load_shipped()

    @cached_property
    def accelerators(self) -> Accelerators:
        """Return the accelerators of its instance types."""
        from gpupool.catalogue.accelerators import Accelerators, load_accelerators

        return Accelerators(self.own) if self.own else load_accelerators()

    @cached_property
    def masks(self) -> TypeMasks:
        """Return its instance types as bit masks."""
        from gpupool.scheduling.types.typemasks import TypeMasks

        return TypeMasks(self.catalogue)

    @cached_property
    def names(self) -> Names:
        """Return its names, for checks."""
        from gpupool.scheduling.naming.names import Names

        return Names(self.masks)

    def market(self, node_class: ScheduledNodeClass) -> Market:
        """Return the instance types that a node class can launch in the cluster's region."""
        from gpupool.scheduling.types.market import Market

        return Market(self.masks, node_class, self.region or None)


def load_named_catalogue(cluster: BlueprintCluster) -> Catalogue | None:
    """Load the file of `cluster.catalogue`; its path is relative to the blueprint file that sets it.

    Raises:
        InputError: where the file cannot be read or is invalid, at the setting's location.
    """
    setting = cluster.catalogue
    if setting is None:
        return None
    from gpupool.catalogue.load import load_file

    blueprint_file = setting.at.file
    path = normpath(PurePath("" if blueprint_file == "-" else blueprint_file).parent / setting.value)
    try:
        return load_file(path)
    except InputError as problem:
        findings = [
            finding._replace(message=f"{path}: {finding.message}", at=place(setting))
            for finding in problem.findings
        ]
        raise InputError(findings) from None
