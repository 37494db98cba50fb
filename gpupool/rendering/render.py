"""Everything that one blueprint renders to: objects, chart values, and the files that hold them."""

from collections.abc import Sequence
from typing import NamedTuple

from gpupool.expansion.expanded import Expanded
from gpupool.findings import Finding
from gpupool.objects import Manifest
from gpupool.rendering.device_plugin import nvidia_device_plugin
from gpupool.rendering.manifests import manifests
from gpupool.rendering.values import Release
from gpupool.yamlio.nodes import Plain
from gpupool.yamlio.write import dump, dump_all

MARK = "# Rendered by gpupool from "
_FOLDERS = {"EC2NodeClass": "ec2nodeclasses", "NodeOverlay": "nodeoverlays", "NodePool": "nodepools"}


class Rendered(NamedTuple):
    """The rendered objects and chart values of one blueprint."""

    name: str
    manifests: tuple[Manifest, ...]
    releases: tuple[Release, ...]
    findings: tuple[Finding, ...]
    sensitive: tuple[str, ...] = ()
    """As in the blueprint's `sensitive`: patterns of keys whose values are never shown."""

    def text(self) -> str:
        """Give all Kubernetes objects as one stream that `kubectl apply -f -` takes."""
        return dump_all(manifest.data for manifest in self.manifests)

    def values_text(self, release: Release) -> str:
        """Give one chart's values file, with the line that installs it in its head."""
        return self._marked(release.text(), *release.header())

    def files(self) -> dict[str, str]:
        """Give every file's text by its path: one for each object, `kustomization.yaml` and `values/`."""
        made = {}
        for manifest in self.manifests:
            path = f"{_FOLDERS[manifest.ref.kind]}/{manifest.ref.name}.yaml"
            made[path] = self._marked(dump(manifest.data))
        resources: list[Plain] = list(made)
        made["kustomization.yaml"] = self._marked(dump(_kustomization(resources)))
        return made | {release.file: self.values_text(release) for release in self.releases}

    def _marked(self, text: str, *comments: str) -> str:
        return "\n".join([f"{MARK}{self.name}", *(f"# {line}" for line in comments), text])


def render_files(paths: Sequence[str]) -> Rendered:
    """Read blueprint files, later ones over earlier ones, and render them.

    Raises:
        InputError: with every mistake found, in file order.
    """
    from gpupool.blueprint.load import load
    from gpupool.expansion.expand import expand

    return render(expand(load(paths)))


def render(expanded: Expanded) -> Rendered:
    """Render an expanded blueprint.

    Raises:
        InputError: where Karpenter's API, or a chart, would refuse what was rendered.
    """
    plugin = nvidia_device_plugin(expanded)
    releases = () if plugin is None else (plugin,)
    return Rendered(expanded.name, manifests(expanded), releases, expanded.findings, expanded.sensitive)


def _kustomization(resources: list[Plain]) -> Plain:
    return {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": resources}
