"""A loaded blueprint becomes every object it stands for, each value with its place."""

from dataclasses import dataclass, field

from gpupool.blueprint import merge_schema
from gpupool.blueprint.load import LoadedBlueprint
from gpupool.blueprint.merge import merge, remove_nulls
from gpupool.errors import InputError
from gpupool.expansion import checks, limits, requirements, sharing
from gpupool.expansion.catalogue_access import CatalogueAccess
from gpupool.expansion.expanded import Expanded, ExpandedClass, ExpandedOverlay, ExpandedPool
from gpupool.expansion.layers import LayeredPool, find_profile_reference, layer_pools, merge_declared_class
from gpupool.expansion.nodeclass import build_class_spec, find_ami_family
from gpupool.expansion.pools import ClassFacts, expand_pool
from gpupool.expansion.problem import Problem
from gpupool.expansion.target import TargetCluster
from gpupool.findings import Finding, has_errors, in_file_order
from gpupool.profiles.load import SHIPPED, Profiles
from gpupool.yamlio.located import Located, find, items, mapping, text_at, tree


def expand(loaded: LoadedBlueprint, *, allow_empty: bool = False) -> Expanded:
    """Spell a blueprint out; one without pools only where that is allowed.

    Raises:
        InputError: with every mistake in it and in its profiles, in file order.
    """
    work = _Work(loaded.node, allow_empty, Profiles(loaded.files))
    work.run()
    if not has_errors([*loaded.findings, *work.profiles.findings]):
        work.sum_up()
    found = in_file_order([*loaded.findings, *work.profiles.findings, *work.found], loaded.files)
    if has_errors(found):
        raise InputError(found)
    return Expanded(
        loaded=loaded,
        name=text_at(loaded.node, "metadata", "name"),
        karpenter=TargetCluster(find(loaded.node, "cluster")).karpenter,
        pools=tuple(work.pools),
        classes=tuple(sorted(work.classes.values(), key=lambda item: item.name)),
        overlays=tuple(work.overlays),
        known=work.known,
        stack=work.stack,
        findings=found,
        sensitive=tuple(str(each.value) for each in items(find(loaded.node, "sensitive"))),
    )


@dataclass(slots=True)
class _Work:
    """What has been expanded so far."""

    node: Located
    allow_empty: bool
    profiles: Profiles
    found: list[Finding] = field(default_factory=list)
    pools: list[ExpandedPool] = field(default_factory=list)
    classes: dict[str, ExpandedClass] = field(default_factory=dict)
    overlays: list[ExpandedOverlay] = field(default_factory=list)
    stack: Located | None = None
    known: CatalogueAccess = field(init=False)
    _declared_words: dict[str, Located] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Open the catalogue that counts."""
        self.known = CatalogueAccess(find(self.node, "cluster"), self.found)

    def run(self) -> None:
        """Expand everything; mistakes are collected on the way."""
        target = TargetCluster(find(self.node, "cluster"))
        self.stack = find(self.node, "stack")
        self.found += checks.check_target(target)
        for name, node in self._section("nodeClasses").items():
            self._declared(name, node, target)
        for name, node in self._section("pools").items():
            self._pool(name, node, target)
        for name, node in self._section("nodeOverlays").items():
            said = {key: item for key, item in mapping(node).items() if key != "metadata"}
            spec = remove_nulls(Located(said, node.at, node.key))
            self.found += requirements.check_names(items(find(spec, "requirements")), self.known)
            self.overlays.append(ExpandedOverlay(name, f"nodeOverlays.{name}", find(node, "metadata"), spec))
        self.found += checks.check_names(self.pools, list(self.classes.values()), self.overlays)

    def sum_up(self) -> None:
        """Check what only holds over all pools; it tells nothing where some were left out."""
        if not self.allow_empty:
            self.found += checks.check_has_pools(self.node, self._section("pools"))
        if not has_errors(self.found):
            self.found += checks.check_unused_classes(self._section("nodeClasses"), self._used)
        self.found += limits.check_total_limits(find(self.node, "limits"), self.pools)
        self.found += limits.report_tier_sums(self.pools)

    def _section(self, key: str) -> dict[str, Located]:
        return {name: node for name, node in mapping(find(self.node, key)).items() if node.value is not None}

    def _defaults(self) -> Located | None:
        return find(self.node, "defaults")

    def _declared(self, name: str, node: Located, target: TargetCluster) -> None:
        words = merge_declared_class(node, self._defaults())
        self._declared_words[name] = words
        external = find(node, "external")
        if external is None or not external.value:
            self.classes[name] = _class(name, f"nodeClasses.{name}", words, target, self.found)

    def _pool(self, name: str, node: Located, target: TargetCluster) -> None:
        word = find_profile_reference(node)
        profile = self.profiles.resolve(word) if word is not None else None
        if word is not None and profile is None:
            return
        self.found += checks.check_selects_types(name, node)
        self._profile_stack(profile)
        try:
            for layers in layer_pools(name, node, profile, self._defaults(), target):
                self._nodepool(layers, target)
        except Problem as problem:
            self.found.append(problem.finding)

    def _profile_stack(self, profile: Located | None) -> None:
        below = find(profile, "stack")
        if below is not None and below.value is not None:
            self.stack = below if self.stack is None else merge(below, self.stack, merge_schema.STACK)

    def _nodepool(self, layers: LayeredPool, target: TargetCluster) -> None:
        found: list[Finding] = []
        of_class = self._class_of(layers, target, found)
        pool = expand_pool(layers, of_class, target, self.known, found)
        found += checks.check_pool(pool, layers, target, self.known)
        found += checks.check_reservations(layers, pool)
        self.found += (_in_the_blueprint(finding, layers) for finding in found)
        self.pools.append(pool)
        share = find(layers.words, "sharing", "timeSlicing")
        if share is not None:
            self.overlays += sharing.build_overlays(pool, share)

    def _class_of(self, layers: LayeredPool, target: TargetCluster, found: list[Finding]) -> ClassFacts:
        """Make the pool's own class, or look its declared one up."""
        name = layers.class_name
        if not name:
            return ClassFacts("", None)
        if layers.class_words is None:
            self._used.add(name)
            found += checks.check_declared_class(layers, list(self._declared_words))
            return self._of_declared(name, target)
        if name in self._declared_words:
            found.append(checks.build_duplicate_class_error(layers))
        elif name not in self.classes:
            self.classes[name] = _class(name, f"{layers.path}.nodeClass", layers.class_words, target, found)
        made = self.classes.get(name)
        return ClassFacts(
            find_ami_family(remove_nulls(layers.class_words)), None if made is None else made.spec
        )

    def _of_declared(self, name: str, target: TargetCluster) -> ClassFacts:
        """Return what a declared class decides; of one that is kept elsewhere, by the words that stand here."""
        words = self._declared_words.get(name)
        if words is None:
            return ClassFacts("", None)
        made = self.classes.get(name)
        # What is wrong with the words of a class that is not rendered is not ours to say.
        return ClassFacts(
            find_ami_family(remove_nulls(words)),
            build_class_spec(words, target, []) if made is None else made.spec,
        )


def _class(
    name: str, path: str, words: Located, target: TargetCluster, found: list[Finding]
) -> ExpandedClass:
    metadata = remove_nulls(find(words, "metadata") or tree({}, words))
    return ExpandedClass(name, path, metadata, build_class_spec(words, target, found))


def _in_the_blueprint(finding: Finding, layers: LayeredPool) -> Finding:
    """Move a finding about a shipped profile's value to the pool that names the profile."""
    word = find_profile_reference(layers.own)
    if word is None or not finding.at.file.startswith(SHIPPED):
        return finding
    profile = finding.at.file.removeprefix(SHIPPED).removesuffix(".yaml")
    message = f"{finding.message} (profile {profile}, line {finding.at.line})"
    return finding._replace(message=message, at=word.at, path=f"pools.{layers.pool}")
