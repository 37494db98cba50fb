"""What was found in manifests: Karpenter's objects, gpupool's own files, and what was passed over."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpupool.findings import Finding, Location
    from gpupool.manifests.sources import SkippedFile
    from gpupool.yamlio.located import Located


class KarpenterObject(NamedTuple):
    """One of Karpenter's objects in the version that it has today, or another that was wanted."""

    kind: str
    name: str
    """`metadata.name`; empty where there is none."""

    body: Located
    """The whole object, its values as the API server gets them from kubectl."""

    at: Location
    """Where the object begins."""

    @property
    def label(self) -> str:
        """Return the object as findings name it: `NodePool/chat`."""
        return f"{self.kind}/{self.name}" if self.name else self.kind


class OwnFile(NamedTuple):
    """A file that is gpupool's own, which has to be read as such."""

    kind: str
    """`Blueprint` or `Profile`."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Manifests:
    """All that was found; every file and document is in one of the counts."""

    objects: tuple[KarpenterObject, ...] = ()
    """In file order."""

    own_files: tuple[OwnFile, ...] = ()
    findings: tuple[Finding, ...] = ()
    """In file order, the files in the order in which they were read."""

    files: tuple[str, ...] = ()
    """The files that were read, in order; `-` is standard input."""

    documents: int = 0
    """Documents with something in them, readable or not."""

    kinds: Mapping[str, int] = field(default_factory=dict)
    """How many objects there are of each kind, those in lists too; sorted by kind."""

    skipped: tuple[SkippedFile, ...] = ()
    """What was passed over, in the order in which it was found."""

    def reasons(self) -> dict[str, int]:
        """Count what was passed over by its reason, sorted."""
        return dict(sorted(Counter(str(skipped.reason) for skipped in self.skipped).items()))
