"""The catalogue that a blueprint counts on, and what expansion asks of it; read when something is asked."""

from __future__ import annotations

from functools import cached_property
from os.path import normpath
from pathlib import PurePath
from typing import TYPE_CHECKING

from gpupool.errors import InputError
from gpupool.yamlio.located import find, place, text_at

if TYPE_CHECKING:
    from gpupool.catalogue.accelerators import Accelerators
    from gpupool.catalogue.model import Catalogue
    from gpupool.findings import Finding
    from gpupool.scheduling.naming.names import Names
    from gpupool.scheduling.types.market import Market
    from gpupool.scheduling.types.nodeclass import ScheduledNodeClass
    from gpupool.scheduling.types.typemasks import TypeMasks
    from gpupool.yamlio.located import Located


class Catalogued:
    """The file that `cluster.catalogue` names, or else what gpupool brings; never the user's cache.

    So the same input always renders the same bytes.
    """

    def __init__(self, cluster: Located | None, found: list[Finding]) -> None:
        """Read the file that is named, if one is; what is wrong with it goes to `found`."""
        self.region = text_at(cluster, "region")
        self.named: Catalogue | None = None
        try:
            self.named = named_catalogue(cluster)
        except InputError as problem:
            found += problem.findings

    @cached_property
    def catalogue(self) -> Catalogue:
        """Return the catalogue."""
        from gpupool.catalogue.load import load_shipped

        return self.named or load_shipped()

    @cached_property
    def accelerators(self) -> Accelerators:
        """Return whose accelerators its machines have."""
        from gpupool.catalogue.accelerators import Accelerators, load_accelerators

        return Accelerators(self.named) if self.named else load_accelerators()

    @cached_property
    def masks(self) -> TypeMasks:
        """Return its types as sets."""
        from gpupool.scheduling.types.typemasks import TypeMasks

        return TypeMasks(self.catalogue)

    @cached_property
    def names(self) -> Names:
        """Return what it says of names."""
        from gpupool.scheduling.naming.names import Names

        return Names(self.masks)

    def market(self, node_class: ScheduledNodeClass) -> Market:
        """Return what a class may launch in the cluster's region."""
        from gpupool.scheduling.types.market import Market

        return Market(self.masks, node_class, self.region or None)


def named_catalogue(cluster: Located | None) -> Catalogue | None:
    """Return the catalogue that `cluster.catalogue` names; its path is relative to the file that says it.

    Raises:
        InputError: where it can't be read or is none, at the place that names it.
    """
    word = find(cluster, "catalogue")
    if word is None or word.value is None:
        return None
    from gpupool.catalogue.load import load_file

    said_in = word.at.file
    path = normpath(PurePath("" if said_in == "-" else said_in).parent / str(word.value))
    try:
        return load_file(path)
    except InputError as problem:
        found = [
            each._replace(message=f"{path}: {each.message}", at=place(word)) for each in problem.findings
        ]
        raise InputError(found) from None
