"""Rendering of one blueprint: its objects, its Helm values, and its files."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from gpupool.errors import InputError
from gpupool.expansion.expanded import Expanded, ExpandedClass, ExpandedOverlay, ExpandedPool
from gpupool.findings import Finding, has_errors, in_file_order
from gpupool.karpenter.validation.check import check
from gpupool.objects import Manifest, Ref
from gpupool.rendering.device_plugin import build_device_plugin
from gpupool.rendering.folder import MARK
from gpupool.rendering.values import Release
from gpupool.yamlio.located import Located, Plain, leaf, mapping, plain, tree
from gpupool.yamlio.write import dump, dump_all

_FOLDERS = {"EC2NodeClass": "ec2nodeclasses", "NodeOverlay": "nodeoverlays", "NodePool": "nodepools"}
_API_VERSIONS = {
    "NodePool": "karpenter.sh/v1",
    "EC2NodeClass": "karpenter.k8s.aws/v1",
    "NodeOverlay": "karpenter.sh/v1alpha1",
}
_CLASS_ORDER = (
    "amiFamily", "amiSelectorTerms", "role", "instanceProfile",
    "subnetSelectorTerms", "securityGroupSelectorTerms", "capacityReservationSelectorTerms",
    "placementGroupSelector", "blockDeviceMappings", "instanceStorePolicy", "networkInterfaces",
    "metadataOptions", "tags",
)  # fmt: skip


class Rendered(NamedTuple):
    """The rendered objects and Helm values of one blueprint."""

    expanded: Expanded
    """The expanded blueprint, with its findings."""

    manifests: tuple[Manifest, ...]
    """The objects, in the order in which they are applied."""

    releases: tuple[Release, ...]

    @property
    def name(self) -> str:
        """Return the name of the blueprint."""
        return self.expanded.name

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return the warnings and notes about the blueprint."""
        return self.expanded.findings

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Return the blueprint's `sensitive`: patterns of keys whose values are hidden."""
        return self.expanded.sensitive

    @property
    def blueprint(self) -> Located:
        """Return the merged blueprint."""
        return self.expanded.loaded.node

    def text(self) -> str:
        """Return all Kubernetes objects as one YAML stream for `kubectl apply -f -`."""
        return dump_all(manifest.data for manifest in self.manifests)

    def values_text(self, release: Release) -> str:
        """Return one chart's values file; its header contains the command that installs the chart."""
        return self._add_header(release.text(), *release.header())

    def files(self) -> dict[str, str]:
        """Return the text of every file by path: one for each object, `kustomization.yaml` and `values/`."""
        files = {}
        for manifest in self.manifests:
            path = f"{_FOLDERS[manifest.ref.kind]}/{manifest.ref.name}.yaml"
            files[path] = self._add_header(dump(manifest.data))
        resources: list[Plain] = list(files)
        files["kustomization.yaml"] = self._add_header(dump(_build_kustomization(resources)))
        return files | {release.file: self.values_text(release) for release in self.releases}

    def _add_header(self, text: str, *comments: str) -> str:
        return "\n".join([f"{MARK}{self.name}", *(f"# {line}" for line in comments), text])


def render_files(paths: Sequence[str], *, allow_empty: bool = False) -> Rendered:
    """Read blueprint files, later ones over earlier ones, and render them.

    Every command uses this function. A blueprint without pools is an error unless `allow_empty`.

    Raises:
        InputError: with all findings, in file order.
    """
    from gpupool.blueprint.load import load
    from gpupool.expansion.expand import expand

    return render(expand(load(paths), allow_empty=allow_empty))


def render(expanded: Expanded) -> Rendered:
    """Render an expanded blueprint.

    Raises:
        InputError: where Karpenter's API or a chart would reject the result.
    """
    plugin = build_device_plugin(expanded)
    releases = () if plugin is None else (plugin,)
    return Rendered(expanded, build_manifests(expanded), releases)


def build_manifests(expanded: Expanded) -> tuple[Manifest, ...]:
    """Build all objects: node classes, then overlays, then NodePools, sorted by name.

    Raises:
        InputError: where the API server or Karpenter would reject an object, at the location in the
            blueprint that causes it.
    """
    manifests = [
        *(build_node_class(item) for item in expanded.classes),
        *(build_node_overlay(item) for item in sorted(expanded.overlays, key=lambda item: item.name)),
        *(build_node_pool(item) for item in sorted(expanded.pools, key=lambda item: item.name)),
    ]
    findings = [
        finding
        for item in manifests
        for finding in check(item.ref.kind, item.body, expanded.karpenter, item.data)
    ]
    if has_errors(findings):
        raise InputError(in_file_order(findings))
    return tuple(manifests)


def build_node_pool(pool: ExpandedPool) -> Manifest:
    """Build a NodePool."""
    body: dict[str, Any] = {}
    for path, node in pool.values.items():
        *parents, key = path.split(".")
        part = body
        for parent in parents:
            part = part.setdefault(parent, {})
        part[key] = node
    spec = _nest(body["spec"], pool.at)
    manifest = _build_object("NodePool", pool.name, pool.path, pool.metadata, spec)
    return manifest._replace(pool=pool.pool)


def _nest(part: Located | dict[str, Any], at: Located) -> Located:
    """Return a part of an object; the maps that no field sets are located at the pool."""
    if isinstance(part, Located):
        return part
    return tree({key: _nest(item, at) for key, item in part.items()}, at)


def build_node_class(item: ExpandedClass) -> Manifest:
    """Build an EC2NodeClass; common fields come first, in a fixed order."""
    fields = mapping(item.spec)
    ordered = {key: fields[key] for key in (*_CLASS_ORDER, *sorted(fields)) if key in fields}
    return _build_object("EC2NodeClass", item.name, item.path, item.metadata, tree(dict(ordered), item.spec))


def build_node_overlay(item: ExpandedOverlay) -> Manifest:
    """Build a NodeOverlay."""
    return _build_object("NodeOverlay", item.name, item.path, item.metadata, item.spec)


def _build_object(kind: str, name: str, path: str, metadata: Located | None, spec: Located) -> Manifest:
    own = mapping(metadata)
    head = {
        "name": leaf(name, Located(None, spec.key or spec.at)),
        "labels": own.get("labels"),
        "annotations": own.get("annotations"),
    }
    body = {
        "apiVersion": leaf(_API_VERSIONS[kind], spec),
        "kind": leaf(kind, spec),
        "metadata": tree(head, spec),
        "spec": spec,
    }
    document = tree(dict(body), spec)
    return Manifest(Ref(kind, name), path, document, plain(document))


def _build_kustomization(resources: list[Plain]) -> Plain:
    return {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": resources}
