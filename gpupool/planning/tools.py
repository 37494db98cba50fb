"""Other tools that apply or own an object: how each is known, and what it will do with the object next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.objects import labels_of
from gpupool.planning import ownership
from gpupool.yamlio.located import plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from gpupool.yamlio.located import Plain


class Tool(NamedTuple):
    """A tool that takes objects for its own."""

    name: str
    """What `--adopt-from` calls it."""

    title: str
    labels: tuple[str, ...]
    """Labels and annotations that it marks its objects with."""

    managers: tuple[str, ...]
    """Field managers that it writes as."""

    next: str
    """What it does with the object, whatever gpupool writes, and how to keep it from that."""


ARGOCD: Final = Tool(
    "argocd",
    "Argo CD",
    ("argocd.argoproj.io/tracking-id", "argocd.argoproj.io/instance"),
    ("argocd-controller", "argocd-application-controller"),
    "its next sync writes its own version back, and prunes the object once its application no longer has it."
    " Annotate the object with argocd.argoproj.io/sync-options: Prune=false, and take it out there",
)
FLUX: Final = Tool(
    "flux",
    "Flux",
    ("kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name"),
    ("kustomize-controller", "helm-controller"),
    "its next reconciliation writes its own version back, and prunes the object once its source no longer has"
    " it. Annotate the object with kustomize.toolkit.fluxcd.io/prune: disabled, and take it out there",
)
HELM: Final = Tool(
    "helm",
    "Helm",
    ("meta.helm.sh/release-name",),
    ("helm",),
    "the next upgrade of the release changes the object, and uninstalling the release deletes it. Annotate it"
    " with helm.sh/resource-policy: keep, and take it out of the chart",
)
TOOLS: Final = (ARGOCD, FLUX, HELM)
OWNER: Final = "owner"
"""What `--adopt-from` calls an object's owner, whatever it is."""

NAMES: Final = (*(each.name for each in TOOLS), OWNER)
_OWNED: Final = "Kubernetes deletes the object with its owner"


class ToolMark(NamedTuple):
    """A tool that an object belongs to, and how that is known."""

    tool: str
    """One of `NAMES`."""

    title: str
    by: str
    """Such as `annotation argocd.argoproj.io/tracking-id`."""

    next: str

    @property
    def words(self) -> str:
        """Return what is said of it."""
        return f"{self.title} manages it ({self.by}): {self.next}"


def find_tool_marks(live: Mapping[str, Plain]) -> tuple[ToolMark, ...]:
    """Return the tools that an object belongs to, each with the plainest sign of it."""
    annotations = plain_map(plain_map(live.get("metadata")).get("annotations"))
    marks = (("label", labels_of(live)), ("annotation", annotations))
    writers = {each.manager for each in ownership.parse_entries(live) if not each.subresource}
    found = [
        ToolMark(each.name, each.title, by, each.next)
        for each in TOOLS
        if (by := _sign(each, marks, writers))
    ]
    return (*found, *_owners(live))


def _sign(tool: Tool, marks: Sequence[tuple[str, Mapping[str, Plain]]], writers: Collection[str]) -> str:
    said = [f"{kind} {key}: {marked[key]}" for kind, marked in marks for key in tool.labels if key in marked]
    said += [f"field manager {name}" for name in tool.managers if name in writers]
    return said[0] if said else ""


def _owners(live: Mapping[str, Plain]) -> Iterator[ToolMark]:
    for each in plain_list(plain_map(live.get("metadata")).get("ownerReferences"))[:1]:
        owner = plain_map(each)
        title = f"{plain_text(owner.get('kind'))}/{plain_text(owner.get('name'))}"
        yield ToolMark(OWNER, title, "owner reference", _OWNED)


def explain_missing_consent(found: Sequence[ToolMark], adopt_from: Sequence[str]) -> str:
    """Return which tools keep an object from being taken over; nothing where each was named."""
    missing = [each for each in found if each.tool not in adopt_from]
    if not missing:
        return ""
    flags = " ".join(f"--adopt-from {each.tool}" for each in missing)
    return f"{'; '.join(each.words for each in missing)}; or take it over all the same with {flags}"
