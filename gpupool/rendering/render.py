"""Everything that one blueprint renders to: objects, chart values, and the files that hold them."""

from collections.abc import Sequence
from typing import NamedTuple

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


class Rendered(NamedTuple):
    """The rendered objects and chart values of one blueprint."""

    expanded: Expanded
    """The blueprint that was rendered, with what is worth saying about it."""

    manifests: tuple[Manifest, ...]
    """In the order in which they are applied."""

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
        """Return the blueprint's `sensitive`: patterns of keys whose values are never shown."""
        return self.expanded.sensitive

    @property
    def blueprint(self) -> Located:
        """Return the merged blueprint."""
        return self.expanded.loaded.node

    def text(self) -> str:
        """Return all Kubernetes objects as one stream that `kubectl apply -f -` takes."""
        return dump_all(manifest.data for manifest in self.manifests)

    def values_text(self, release: Release) -> str:
        """Return one chart's values file, with the line that installs it in its head."""
        return self._marked(release.text(), *release.header())

    def files(self) -> dict[str, str]:
        """Return every file's text by its path: one for each object, `kustomization.yaml` and `values/`."""
        made = {}
        for manifest in self.manifests:
            path = f"{_FOLDERS[manifest.ref.kind]}/{manifest.ref.name}.yaml"
            made[path] = self._marked(dump(manifest.data))
        resources: list[Plain] = list(made)
        made["kustomization.yaml"] = self._marked(dump(_kustomization(resources)))
        return made | {release.file: self.values_text(release) for release in self.releases}

    def _marked(self, text: str, *comments: str) -> str:
        return "\n".join([f"{MARK}{self.name}", *(f"# {line}" for line in comments), text])


def render_files(paths: Sequence[str], *, allow_empty: bool = False) -> Rendered:
    """Read blueprint files, later ones over earlier ones, and render them.

    This is the one way from files to objects. A blueprint without pools is an error unless `allow_empty`.

    Raises:
        InputError: with all findings, in file order.
    """
    from gpupool.blueprint.load import load
    from gpupool.expansion.expand import expand

    return render(expand(load(paths), allow_empty=allow_empty))


def render(expanded: Expanded) -> Rendered:
    """Render an expanded blueprint.

    Raises:
        InputError: where Karpenter's API, or a chart, would refuse what was rendered.
    """
    plugin = build_device_plugin(expanded)
    releases = () if plugin is None else (plugin,)
    return Rendered(expanded, build_manifests(expanded), releases)


def _kustomization(resources: list[Plain]) -> Plain:
    return {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": resources}


_VERSIONS = {
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


def build_manifests(expanded: Expanded) -> tuple[Manifest, ...]:
    """Return every object: classes, then overlays, then pools, each kind by name.

    Raises:
        InputError: where the API server or Karpenter would refuse one, at the place in the blueprint that
            causes it.
    """
    made = [
        *(build_node_class(item) for item in expanded.classes),
        *(build_node_overlay(item) for item in sorted(expanded.overlays, key=lambda item: item.name)),
        *(build_node_pool(item) for item in sorted(expanded.pools, key=lambda item: item.name)),
    ]
    found = [
        finding for item in made for finding in check(item.ref.kind, item.body, expanded.karpenter, item.data)
    ]
    if has_errors(found):
        raise InputError(in_file_order(found))
    return tuple(made)


def build_node_pool(pool: ExpandedPool) -> Manifest:
    """Return a NodePool."""
    template_metadata = {"labels": pool.labels, "annotations": pool.annotations}
    template = {
        "metadata": tree(template_metadata, pool.at) if pool.labels or pool.annotations else None,
        "spec": tree(
            {
                "nodeClassRef": pool.class_ref,
                "requirements": pool.requirements,
                "taints": pool.taints,
                "startupTaints": pool.startup_taints,
                "expireAfter": pool.expire_after,
                "terminationGracePeriod": pool.termination_grace_period,
            },
            pool.at,
        ),
    }
    spec = {
        "template": tree(template, pool.at),
        "disruption": pool.disruption,
        "limits": pool.limits,
        "weight": pool.weight,
        "replicas": pool.replicas,
    }
    return _object("NodePool", pool.name, pool.path, pool.metadata, tree(spec, pool.at))._replace(
        pool=pool.pool
    )


def build_node_class(item: ExpandedClass) -> Manifest:
    """Return an EC2NodeClass; its fields in one order, those that are rare at the end."""
    said = mapping(item.spec)
    ordered = {key: said[key] for key in (*_CLASS_ORDER, *sorted(said)) if key in said}
    return _object("EC2NodeClass", item.name, item.path, item.metadata, tree(dict(ordered), item.spec))


def build_node_overlay(item: ExpandedOverlay) -> Manifest:
    """Return a NodeOverlay."""
    return _object("NodeOverlay", item.name, item.path, item.metadata, item.spec)


def _object(kind: str, name: str, path: str, metadata: Located | None, spec: Located) -> Manifest:
    said = mapping(metadata)
    head = {
        "name": leaf(name, Located(None, spec.key or spec.at)),
        "labels": said.get("labels"),
        "annotations": said.get("annotations"),
    }
    body = {
        "apiVersion": leaf(_VERSIONS[kind], spec),
        "kind": leaf(kind, spec),
        "metadata": tree(head, spec),
        "spec": spec,
    }
    whole = tree(dict(body), spec)
    return Manifest(Ref(kind, name), path, whole, plain(whole))
