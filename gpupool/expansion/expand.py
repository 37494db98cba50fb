"""Expansion of a loaded blueprint: its pools, node classes and overlays, each value with its location."""

from dataclasses import dataclass, field

from gpupool.blueprint import merge_schema
from gpupool.blueprint.load import LoadedBlueprint
from gpupool.blueprint.merge import merge, remove_nulls
from gpupool.blueprint.model import Blueprint, BlueprintNodeOverlay
from gpupool.blueprint.nodeclass import BlueprintNodeClass, NodeClassFields
from gpupool.blueprint.pool import BlueprintPool
from gpupool.errors import InputError
from gpupool.expansion import checks, limits, overridden, requirements, sharing
from gpupool.expansion.catalogue_access import CatalogueAccess
from gpupool.expansion.causes import collect_selection
from gpupool.expansion.expanded import Expanded, ExpandedClass, ExpandedOverlay, ExpandedPool
from gpupool.expansion.layers import LayeredPool, find_profile_reference, layer_pools, merge_declared_class
from gpupool.expansion.nodeclass import build_class_spec
from gpupool.expansion.pools import ClassFacts, expand_pool
from gpupool.expansion.problem import Problem
from gpupool.expansion.target import TargetCluster
from gpupool.findings import Finding, has_errors, in_file_order
from gpupool.profiles.load import SHIPPED, Profiles
from gpupool.profiles.model import Profile
from gpupool.yamlio.located import Located, text_of, tree


def expand(loaded: LoadedBlueprint, *, allow_empty: bool = False) -> Expanded:
    """Expand a blueprint; one without pools is an error unless `allow_empty`.

    Raises:
        InputError: with all findings about it and its profiles, in file order.
    """
    blueprint = loaded.blueprint
    expansion = _Expansion(blueprint, allow_empty, Profiles(loaded.files))
    expansion.run()
    if not has_errors([*loaded.findings, *expansion.profiles.findings]):
        expansion.check_totals()
    findings = [*loaded.findings, *expansion.profiles.findings, *expansion.findings]
    ordered = in_file_order(findings, loaded.files)
    if has_errors(ordered):
        raise InputError(ordered)
    return Expanded(
        loaded=loaded,
        name=text_of(blueprint.metadata.name),
        karpenter=TargetCluster(blueprint.cluster.node).minor,
        pools=tuple(expansion.pools),
        classes=tuple(sorted(expansion.classes.values(), key=lambda item: item.name)),
        overlays=tuple(expansion.overlays),
        catalogue=expansion.catalogue,
        stack=expansion.stack,
        findings=ordered,
        sensitive=tuple(blueprint.sensitive.texts()),
    )


@dataclass(slots=True)
class _Expansion:
    """The expansion of one blueprint, in progress."""

    blueprint: Blueprint
    allow_empty: bool
    profiles: Profiles
    findings: list[Finding] = field(default_factory=list)
    pools: list[ExpandedPool] = field(default_factory=list)
    classes: dict[str, ExpandedClass] = field(default_factory=dict)
    overlays: list[ExpandedOverlay] = field(default_factory=list)
    stack: Located | None = None
    catalogue: CatalogueAccess = field(init=False)
    _declared_fields: dict[str, BlueprintNodeClass] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Open the blueprint's catalogue."""
        self.catalogue = CatalogueAccess(self.blueprint.cluster, self.findings)

    def run(self) -> None:
        """Expand all items, and collect the findings."""
        target = TargetCluster(self.blueprint.cluster.node)
        self.stack = self.blueprint.stack.node
        self.findings += checks.check_target(target)
        for name, node_class in self.blueprint.node_classes.items():
            self._expand_declared_class(name, node_class, target)
        for name, pool in self.blueprint.pools.items():
            self._expand_pool(name, pool, target)
        for name, overlay in self.blueprint.node_overlays.items():
            self._expand_overlay(name, overlay)
        self.findings += checks.check_names(self.pools, list(self.classes.values()), self.overlays)

    def check_totals(self) -> None:
        """Check all pools together; only useful where no pool was omitted because of an error."""
        if not self.allow_empty:
            self.findings += checks.check_has_pools(self.blueprint)
        if not has_errors(self.findings):
            self.findings += checks.check_unused_classes(self.blueprint.node_classes, self._used)
        self.findings += limits.check_total_limits(self.blueprint.limits, self.pools)
        self.findings += limits.report_tier_sums(self.pools)

    def _expand_overlay(self, name: str, overlay: BlueprintNodeOverlay) -> None:
        metadata, node = overlay.metadata.node, overlay.here
        fields = {key: item for key, item in overlay.entries().items() if item is not metadata}
        spec = remove_nulls(Located(fields, node.at, node.key))
        listed = BlueprintNodeOverlay(spec).requirements.values
        self.findings += requirements.check_names(listed, self.catalogue)
        self.overlays.append(ExpandedOverlay(name, f"nodeOverlays.{name}", metadata, spec))

    def _expand_declared_class(
        self, name: str, node_class: BlueprintNodeClass, target: TargetCluster
    ) -> None:
        fields = merge_declared_class(node_class, self.blueprint.defaults)
        self._declared_fields[name] = fields
        if node_class.external is None or not node_class.external.value:
            self.classes[name] = _expand_class(name, f"nodeClasses.{name}", fields, target, self.findings)

    def _expand_pool(self, name: str, pool: BlueprintPool, target: TargetCluster) -> None:
        reference = find_profile_reference(pool)
        profile = Profile(None if reference is None else self.profiles.resolve(reference))
        if reference is not None and not profile:
            return
        self.findings += checks.check_selects_types(name, pool)
        self._merge_profile_stack(profile)
        try:
            for layers in layer_pools(name, pool, profile, self.blueprint.defaults, target):
                self._expand_node_pool(layers, target)
        except Problem as problem:
            self.findings.append(problem.finding)

    def _merge_profile_stack(self, profile: Profile) -> None:
        below = profile.stack.node
        if below is not None:
            self.stack = below if self.stack is None else merge(below, self.stack, merge_schema.STACK)

    def _expand_node_pool(self, layers: LayeredPool, target: TargetCluster) -> None:
        findings: list[Finding] = []
        of_class = self._find_class_facts(layers, target, findings)
        pool = expand_pool(layers, of_class, target, self.catalogue, findings)
        findings += checks.check_pool(pool, layers, target, self.catalogue)
        findings += checks.check_reservations(layers, pool)
        findings += overridden.check_maintenance(layers)
        self.findings += (_move_to_blueprint(finding, layers) for finding in findings)
        self.pools.append(pool)
        share = layers.fields.sharing.time_slicing
        if share is not None:
            selection = collect_selection(layers.fields, of_class.spec, target)
            self.overlays += sharing.build_overlays(pool, share, selection)

    def _find_class_facts(
        self, layers: LayeredPool, target: TargetCluster, findings: list[Finding]
    ) -> ClassFacts:
        """Build the pool's own node class, or find the declared one."""
        name = layers.class_name
        if not name:
            return ClassFacts(NodeClassFields(None), None)
        if layers.class_fields is None:
            self._used.add(name)
            findings += checks.check_declared_class(layers, list(self._declared_fields))
            return self._find_declared_facts(name, target)
        if name in self._declared_fields:
            findings.append(checks.build_duplicate_class_error(layers))
        elif name not in self.classes:
            self.classes[name] = _expand_class(
                name, f"{layers.path}.nodeClass", layers.class_fields, target, findings
            )
        expanded = self.classes.get(name)
        return ClassFacts(layers.class_fields, None if expanded is None else expanded.spec)

    def _find_declared_facts(self, name: str, target: TargetCluster) -> ClassFacts:
        """Return the facts of a declared node class; of an external one, from the fields in the blueprint."""
        fields = self._declared_fields.get(name)
        if fields is None:
            return ClassFacts(NodeClassFields(None), None)
        expanded = self.classes.get(name)
        # Findings about an external class are dropped, because it is not rendered.
        return ClassFacts(
            fields,
            build_class_spec(fields, target, []) if expanded is None else expanded.spec,
        )


def _expand_class(
    name: str, path: str, fields: NodeClassFields, target: TargetCluster, findings: list[Finding]
) -> ExpandedClass:
    metadata = remove_nulls(fields.metadata.node or tree({}, fields.here))
    return ExpandedClass(name, path, metadata, build_class_spec(fields, target, findings))


def _move_to_blueprint(finding: Finding, layers: LayeredPool) -> Finding:
    """Move a finding about a value of a shipped profile to the pool's `profile:` line."""
    reference = find_profile_reference(layers.own)
    if reference is None or not finding.at.file.startswith(SHIPPED):
        return finding
    profile = finding.at.file.removeprefix(SHIPPED).removesuffix(".yaml")
    message = f"{finding.message} (profile {profile}, line {finding.at.line})"
    return finding._replace(message=message, at=reference.at, path=f"pools.{layers.pool}")
