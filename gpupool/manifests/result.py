"""Result of reading manifests: Karpenter's objects, gpupool's own files, findings and skipped files."""

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
    """One Karpenter object in its current version, or another requested object."""

    kind: str
    name: str
    """`metadata.name`; empty if there is none."""

    body: Located
    """The whole object, with its values as kubectl sends them to the API server."""

    at: Location
    """Where the object begins."""

    @property
    def label(self) -> str:
        """Return the object as findings name it: `NodePool/chat`."""
        return f"{self.kind}/{self.name}" if self.name else self.kind


class OwnFile(NamedTuple):
    """A blueprint or profile of gpupool, which has its own reader."""

    kind: str
    """`Blueprint` or `Profile`."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Manifests:
    """Everything that was read; every file and document is in one of the counts."""

    objects: tuple[KarpenterObject, ...] = ()
    """In file order."""

    own_files: tuple[OwnFile, ...] = ()
    findings: tuple[Finding, ...] = ()
    """In file order, the files in the order in which they were read."""

    files: tuple[str, ...] = ()
    """The files that were read, in order; `-` is standard input."""

    documents: int = 0
    """Number of documents that are not empty, readable or not."""

    kinds: Mapping[str, int] = field(default_factory=dict)
    """The number of objects of each kind, including those in lists; sorted by kind."""

    skipped: tuple[SkippedFile, ...] = ()
    """Skipped files and documents, in the order in which they were found."""

    def count_skip_reasons(self) -> dict[str, int]:
        """Count the skipped files and documents by reason, sorted."""
        return dict(sorted(Counter(str(skipped.reason) for skipped in self.skipped).items()))
