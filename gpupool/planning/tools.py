"""Other tools that manage an object (Argo CD, Flux, Helm, an owner): their marks and their next action."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.objects import labels_of
from gpupool.planning import ownership
from gpupool.yamlio.located import plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from gpupool.yamlio.located import Plain


class Tool(NamedTuple):
    """A tool that manages objects."""

    name: str
    """Its name for `--adopt-from`."""

    title: str
    labels: tuple[str, ...]
    """Labels and annotations that mark its objects."""

    managers: tuple[str, ...]
    """Its field managers."""

    next: str
    """Its next action on the object, whatever gpupool writes, and how to prevent that."""


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
"""The name of an object's owner for `--adopt-from`, whatever its kind."""

NAMES: Final = (*(tool.name for tool in TOOLS), OWNER)
_NEXT_OF_OWNER: Final = "Kubernetes deletes the object with its owner"


class ToolMark(NamedTuple):
    """A tool that manages an object, and the evidence for it."""

    tool: str
    """One of `NAMES`."""

    title: str
    evidence: str
    """Such as `annotation argocd.argoproj.io/tracking-id`."""

    next: str

    @property
    def message(self) -> str:
        """Return the sentence about the tool and its next action."""
        return f"{self.title} manages it ({self.evidence}): {self.next}"


def find_tool_marks(live: Mapping[str, Plain]) -> tuple[ToolMark, ...]:
    """Find the tools that manage an object, each with its clearest mark."""
    annotations = plain_map(plain_map(live.get("metadata")).get("annotations"))
    marks = (("label", labels_of(live)), ("annotation", annotations))
    writers = {entry.manager for entry in ownership.parse_entries(live) if not entry.subresource}
    tool_marks = [
        ToolMark(tool.name, tool.title, evidence, tool.next)
        for tool in TOOLS
        if (evidence := _find_evidence(tool, marks, writers))
    ]
    return (*tool_marks, *_find_owner_marks(live))


def _find_evidence(
    tool: Tool, marks: Sequence[tuple[str, Mapping[str, Plain]]], writers: Collection[str]
) -> str:
    evidence = [
        f"{kind} {key}: {values[key]}" for kind, values in marks for key in tool.labels if key in values
    ]
    evidence += [f"field manager {name}" for name in tool.managers if name in writers]
    return evidence[0] if evidence else ""


def _find_owner_marks(live: Mapping[str, Plain]) -> Iterator[ToolMark]:
    for reference in plain_list(plain_map(live.get("metadata")).get("ownerReferences"))[:1]:
        owner = plain_map(reference)
        title = f"{plain_text(owner.get('kind'))}/{plain_text(owner.get('name'))}"
        yield ToolMark(OWNER, title, "owner reference", _NEXT_OF_OWNER)


def explain_missing_consent(marks: Sequence[ToolMark], adopt_from: Sequence[str]) -> str:
    """Return why an object can't be adopted: tools that `--adopt-from` does not name; empty where it can."""
    missing = [mark for mark in marks if mark.tool not in adopt_from]
    if not missing:
        return ""
    flags = " ".join(f"--adopt-from {mark.tool}" for mark in missing)
    return f"{'; '.join(mark.message for mark in missing)}; or take it over all the same with {flags}"
