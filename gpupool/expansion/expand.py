"""Expansion of a loaded blueprint: its pools, node classes and overlays, each value with its location."""

from dataclasses import dataclass, field

from gpupool.blueprint import merge_schema
from gpupool.blueprint.load import LoadedBlueprint
from gpupool.blueprint.merge import merge, remove_nulls
from gpupool.errors import InputError
from gpupool.expansion import checks, limits, overridden, requirements, sharing
from gpupool.expansion.catalogue_access import CatalogueAccess
from gpupool.expansion.causes import collect_selection
from gpupool.expansion.expanded import Expanded, ExpandedClass, ExpandedOverlay, ExpandedPool
from gpupool.expansion.layers import LayeredPool, find_profile_reference, layer_pools, merge_declared_class
from gpupool.expansion.nodeclass import build_class_spec, find_ami_family, find_family_causes
from gpupool.expansion.pools import ClassFacts, expand_pool
from gpupool.expansion.problem import Problem
from gpupool.expansion.target import TargetCluster
from gpupool.findings import Finding, has_errors, in_file_order
from gpupool.profiles.load import SHIPPED, Profiles
from gpupool.yamlio.located import Located, find, items, mapping, text_at, tree


def expand(loaded: LoadedBlueprint, *, allow_empty: bool = False) -> Expanded:
    """Expand a blueprint; one without pools is an error unless `allow_empty`.

    Raises:
        InputError: with all findings about it and its profiles, in file order.
    """
    expansion = _Expansion(loaded.node, allow_empty, Profiles(loaded.files))
    expansion.run()
    if not has_errors([*loaded.findings, *expansion.profiles.findings]):
        expansion.check_totals()
    findings = [*loaded.findings, *expansion.profiles.findings, *expansion.findings]
    ordered = in_file_order(findings, loaded.files)
    if has_errors(ordered):
        raise InputError(ordered)
    return Expanded(
        loaded=loaded,
        name=text_at(loaded.node, "metadata", "name"),
        karpenter=TargetCluster(find(loaded.node, "cluster")).karpenter,
        pools=tuple(expansion.pools),
        classes=tuple(sorted(expansion.classes.values(), key=lambda item: item.name)),
        overlays=tuple(expansion.overlays),
        catalogue=expansion.catalogue,
        stack=expansion.stack,
        findings=ordered,
        sensitive=tuple(str(item.value) for item in items(find(loaded.node, "sensitive"))),
    )


@dataclass(slots=True)
class _Expansion:
    """The expansion of one blueprint, in progress."""

    node: Located
    allow_empty: bool
    profiles: Profiles
    findings: list[Finding] = field(default_factory=list)
    pools: list[ExpandedPool] = field(default_factory=list)
    classes: dict[str, ExpandedClass] = field(default_factory=dict)
    overlays: list[ExpandedOverlay] = field(default_factory=list)
    stack: Located | None = None
    catalogue: CatalogueAccess = field(init=False)
    _declared_fields: dict[str, Located] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Open the blueprint's catalogue."""
        self.catalogue = CatalogueAccess(find(self.node, "cluster"), self.findings)

    def run(self) -> None:
        """Expand all items, and collect the findings."""
        target = TargetCluster(find(self.node, "cluster"))
        self.stack = find(self.node, "stack")
        self.findings += checks.check_target(target)
        for name, node in self._section("nodeClasses").items():
            self._expand_declared_class(name, node, target)
        for name, node in self._section("pools").items():
            self._expand_pool(name, node, target)
        for name, node in self._section("nodeOverlays").items():
            fields = {key: item for key, item in mapping(node).items() if key != "metadata"}
            spec = remove_nulls(Located(fields, node.at, node.key))
            self.findings += requirements.check_names(items(find(spec, "requirements")), self.catalogue)
            self.overlays.append(ExpandedOverlay(name, f"nodeOverlays.{name}", find(node, "metadata"), spec))
        self.findings += checks.check_names(self.pools, list(self.classes.values()), self.overlays)

    def check_totals(self) -> None:
        """Check all pools together; only useful where no pool was omitted because of an error."""
        if not self.allow_empty:
            self.findings += checks.check_has_pools(self.node, self._section("pools"))
        if not has_errors(self.findings):
            self.findings += checks.check_unused_classes(self._section("nodeClasses"), self._used)
        self.findings += limits.check_total_limits(find(self.node, "limits"), self.pools)
        self.findings += limits.report_tier_sums(self.pools)

    def _section(self, key: str) -> dict[str, Located]:
        return {name: node for name, node in mapping(find(self.node, key)).items() if node.value is not None}

    def _defaults(self) -> Located | None:
        return find(self.node, "defaults")

    def _expand_declared_class(self, name: str, node: Located, target: TargetCluster) -> None:
        fields = merge_declared_class(node, self._defaults())
        self._declared_fields[name] = fields
        external = find(node, "external")
        if external is None or not external.value:
            self.classes[name] = _expand_class(name, f"nodeClasses.{name}", fields, target, self.findings)

    def _expand_pool(self, name: str, node: Located, target: TargetCluster) -> None:
        reference = find_profile_reference(node)
        profile = self.profiles.resolve(reference) if reference is not None else None
        if reference is not None and profile is None:
            return
        self.findings += checks.check_selects_types(name, node)
        self._merge_profile_stack(profile)
        try:
            for layers in layer_pools(name, node, profile, self._defaults(), target):
                self._expand_node_pool(layers, target)
        except Problem as problem:
            self.findings.append(problem.finding)

    def _merge_profile_stack(self, profile: Located | None) -> None:
        below = find(profile, "stack")
        if below is not None and below.value is not None:
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
        share = find(layers.fields, "sharing", "timeSlicing")
        if share is not None:
            selection = collect_selection(layers.fields, of_class.spec, target.node)
            self.overlays += sharing.build_overlays(pool, share, selection)

    def _find_class_facts(
        self, layers: LayeredPool, target: TargetCluster, findings: list[Finding]
    ) -> ClassFacts:
        """Build the pool's own node class, or find the declared one."""
        name = layers.class_name
        if not name:
            return ClassFacts("", None)
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
        expanded, own = self.classes.get(name), remove_nulls(layers.class_fields)
        return ClassFacts(
            find_ami_family(own), None if expanded is None else expanded.spec, find_family_causes(own)
        )

    def _find_declared_facts(self, name: str, target: TargetCluster) -> ClassFacts:
        """Return the facts of a declared node class; of an external one, from the fields in the blueprint."""
        fields = self._declared_fields.get(name)
        if fields is None:
            return ClassFacts("", None)
        expanded = self.classes.get(name)
        # Findings about an external class are dropped, because it is not rendered.
        own = remove_nulls(fields)
        return ClassFacts(
            find_ami_family(own),
            build_class_spec(fields, target, []) if expanded is None else expanded.spec,
            find_family_causes(own),
        )


def _expand_class(
    name: str, path: str, fields: Located, target: TargetCluster, findings: list[Finding]
) -> ExpandedClass:
    metadata = remove_nulls(find(fields, "metadata") or tree({}, fields))
    return ExpandedClass(name, path, metadata, build_class_spec(fields, target, findings))


def _move_to_blueprint(finding: Finding, layers: LayeredPool) -> Finding:
    """Move a finding about a value of a shipped profile to the pool's `profile:` line."""
    reference = find_profile_reference(layers.own)
    if reference is None or not finding.at.file.startswith(SHIPPED):
        return finding
    profile = finding.at.file.removeprefix(SHIPPED).removesuffix(".yaml")
    message = f"{finding.message} (profile {profile}, line {finding.at.line})"
    return finding._replace(message=message, at=reference.at, path=f"pools.{layers.pool}")
