"""Checks across a pool, its profile, its node class and the cluster."""

from collections.abc import Iterator, Mapping, Sequence

from gpupool.blueprint.constraint import Membership, RequirementEntry
from gpupool.blueprint.model import Blueprint
from gpupool.blueprint.names import MAX_NAME
from gpupool.blueprint.nodeclass import BlueprintNodeClass
from gpupool.blueprint.pool import BlueprintPool, PoolFields
from gpupool.catalogue.accelerators import Maker
from gpupool.codes import Code
from gpupool.expansion.accelerator import find_chosen_maker, find_maker_hints
from gpupool.expansion.catalogue_access import CatalogueAccess
from gpupool.expansion.expanded import ExpandedClass, ExpandedOverlay, ExpandedPool
from gpupool.expansion.layers import LayeredPool
from gpupool.expansion.limits import find_lone_node_limit
from gpupool.expansion.problem import error, info, warning
from gpupool.expansion.target import TargetCluster
from gpupool.findings import Finding
from gpupool.karpenter import labels
from gpupool.karpenter.quantities import parse_amount
from gpupool.karpenter.versions import TARGETS
from gpupool.shapes.error_messages import find_close_match
from gpupool.yamlio.located import items, mapping, text_of

_SELECTION_FIELDS = tuple(
    row.key
    for row in (BlueprintPool.profile, PoolFields.accelerator, PoolFields.instances, PoolFields.requirements)
)
_ONE_TYPE_PROFILES = ("training-efa", "training-static", "neuron-training")
EFA_PRESENT = "vpc.amazonaws.com/efa.present"
_PROFILES = {
    Maker.NVIDIA: ("training", "inference"),
    Maker.NEURON: ("neuron-training", "neuron-inference"),
}


def check_target(cluster: TargetCluster) -> Iterator[Finding]:
    """Yield an error for a Karpenter version that gpupool does not support."""
    setting = cluster.karpenter
    if setting is not None and cluster.minor not in TARGETS:
        message = f"unsupported Karpenter version {cluster.minor}"
        yield error(
            Code.TARGET,
            message,
            setting,
            f'set `karpenter: "{TARGETS[-1]}"`, or another version from {TARGETS[0]} on',
        )


def check_has_pools(blueprint: Blueprint) -> Iterator[Finding]:
    """Yield an error for a blueprint without pools: rendering it into a folder would remove all files."""
    if not blueprint.pools:
        node = mapping(blueprint.node).get(Blueprint.pools.key) or blueprint.here
        yield error(
            Code.NO_POOLS,
            "the blueprint has no pools",
            node,
            "add a pool, as in `pools: {train: {profile: training}}`",
        )


def check_selects_types(name: str, pool: BlueprintPool) -> Iterator[Finding]:
    """Yield an error for a pool that does not select instance types: it would allow all of EC2's."""
    if not any(pool.get(key) for key in _SELECTION_FIELDS):
        fix = f"set one of {', '.join(f'`{field}`' for field in _SELECTION_FIELDS)}"
        yield error(Code.NO_TYPE_SELECTOR, f"pool `{name}` selects no instance types", pool.here, fix)


def check_declared_class(layers: LayeredPool, known_classes: Sequence[str]) -> Iterator[Finding]:
    """Yield an error for an unknown node class, and a note where a profile's `nodeClass` is ignored."""
    reference = layers.tier.node_class.node or layers.own.node_class.node or layers.own.here
    if layers.class_name not in known_classes:
        match = find_close_match(layers.class_name, known_classes)
        fix = (
            f"did you mean `{match}`?"
            if match
            else f"declare it under `nodeClasses`, or set `{layers.class_name}: {{external: true}}` there"
        )
        yield error(Code.UNKNOWN_CLASS, f"unknown node class `{layers.class_name}`", reference, fix)
    elif layers.profile.node_class.entries():
        name = text_of(layers.profile.metadata.name)
        message = f"`nodeClass` of profile `{name}` is ignored: `{layers.class_name}` is a declared class"
        yield info(Code.PROFILE_CLASS_UNUSED, message, reference)


def build_duplicate_class_error(layers: LayeredPool) -> Finding:
    """Return the error for a pool's own node class that has the name of a declared one."""
    message = f"duplicate node class `{layers.class_name}`: it is also declared under `nodeClasses`"
    return error(
        Code.CLASS_TWICE,
        message,
        layers.own.here,
        f"set `nodeClass: {layers.class_name}`, or rename one of the two",
    )


def check_unused_classes(
    declared_classes: Mapping[str, BlueprintNodeClass], used: set[str]
) -> Iterator[Finding]:
    """Yield a warning for each declared node class that no pool uses."""
    for name, node in declared_classes.items():
        if name not in used:
            yield warning(Code.UNUSED_CLASS, f"node class `{name}` is not used by any pool", node.here)


def check_names(
    pools: Sequence[ExpandedPool], classes: Sequence[ExpandedClass], overlays: Sequence[ExpandedOverlay]
) -> Iterator[Finding]:
    """Yield an error for each name that is too long for a label, and for each duplicate object."""
    objects = [("NodePool", item.name, item.path, item.at) for item in pools]
    own = {item.name for item in pools}
    objects += [("EC2NodeClass", item.name, item.path, item.spec) for item in classes if item.name not in own]
    for _, name, _, node in objects:
        if len(name) > MAX_NAME:
            message = (
                f"a name of {len(name)} characters is too long for a label ({MAX_NAME} at most): `{name}`"
            )
            yield error(Code.LONG_NAME, message, node, "shorten it; each node gets the name as a label")
    objects += [("NodeOverlay", item.name, item.path, item.spec) for item in overlays]
    seen: dict[tuple[str, str], str] = {}
    for kind, name, path, node in objects:
        first = seen.setdefault((kind, name), path)
        if first != path:
            message = f"`{first}` and `{path}` both render {kind} `{name}`"
            yield error(Code.POOL_TWICE, message, node, "rename one of the two")


def check_pool(
    expanded: ExpandedPool, layers: LayeredPool, cluster: TargetCluster, catalogue: CatalogueAccess
) -> Iterator[Finding]:
    """Yield findings about conflicting fields of one NodePool."""
    yield from _check_profile_fits(layers, catalogue)
    yield from _check_excluded_families(layers, catalogue)
    yield from _check_feature_gates(expanded, layers, cluster)
    yield from _check_static_pool(expanded, layers)
    yield from _check_one_type_one_zone(expanded, layers)
    yield from _check_sharing(expanded, layers)
    if expanded.replicas is None and (alone := find_lone_node_limit(expanded.limits)):
        message = "a limit on `nodes` alone can be exceeded when Karpenter launches several nodes at once"
        yield info(Code.SOFT_LIMIT, message, alone, "add a limit on `gpus` or `cpu`")


def check_reservations(layers: LayeredPool, expanded: ExpandedPool) -> Iterator[Finding]:
    """Yield a warning for reservations that the pool cannot use, and for `reserved` without reservations."""
    own = layers.class_fields
    if own is None:
        return
    settings = (own.reservations.node, own.capacity_reservation_selector_terms.node)
    selected = next((node for node in settings if node is not None and node.value), None)
    capacity = layers.fields.capacity.node
    allowed = _requirement_values(expanded, labels.CAPACITY_TYPE)
    if selected is not None and allowed and "reserved" not in allowed:
        message = f"the node class selects reservations, but `capacity` allows only {', '.join(allowed)}"
        fix = f"set `capacity: [{', '.join(['reserved', *allowed])}]`"
        yield warning(Code.RESERVATIONS, message, selected, fix)
    elif selected is None and allowed == ["reserved"] and capacity is not None:
        message = "`capacity` allows only reserved, but the node class selects no reservations"
        yield warning(Code.RESERVATIONS, message, capacity, "set `nodeClass: {reservations: [cr-…]}`")


def _check_profile_fits(layers: LayeredPool, catalogue: CatalogueAccess) -> Iterator[Finding]:
    fields = layers.fields
    accelerator, maker = fields.accelerator.node, find_chosen_maker(fields, catalogue)
    is_none = accelerator is not None and accelerator.value == "none"
    if accelerator is not None and is_none and maker is not None:
        message = f"`accelerator: none` conflicts with instance types that have {maker} chips"
        yield error(Code.ACCELERATOR, message, accelerator, "remove one of the two")
        return
    if not layers.profile or (maker is None and not is_none):
        return
    cause = accelerator or layers.own.instances.node or layers.own.here
    name = text_of(layers.profile.metadata.name)
    if other := _find_other_purpose(layers, fields, maker, catalogue):
        selection = "no accelerator" if maker is None else f"{maker} chips"
        message = f"profile `{name}` is for {other}, but the pool selects {selection}"
        yield error(Code.PROFILE_MISFIT, message, cause, _suggest_profile(name, maker))


def _find_other_purpose(
    layers: LayeredPool, fields: PoolFields, maker: Maker | None, catalogue: CatalogueAccess
) -> str:
    """Return the accelerators or categories of the profile, where the pool selects others; else empty.

    Fields of the profile that the pool overrides do not count.
    """
    locations = {node.at for _, node in find_maker_hints(layers.profile.pool or layers.own)}
    other = next(
        (hinted for hinted, node in find_maker_hints(fields) if hinted is not maker and node.at in locations),
        None,
    )
    categories = _listed_categories(fields, catalogue)
    if other is None and maker is not None and categories and maker not in categories.values():
        return f"{', '.join(categories)} instances"
    return other or ""


def _listed_categories(fields: PoolFields, catalogue: CatalogueAccess) -> dict[str, Maker | None]:
    """Return the instance categories that a pool lists, each with the maker of its accelerators."""
    node = fields.instances.categories
    listed = [str(item.value) for item in items(node)] or [text_of(node)]
    return {name: catalogue.accelerators.maker_of_category(name) for name in listed if name}


def _check_excluded_families(layers: LayeredPool, catalogue: CatalogueAccess) -> Iterator[Finding]:
    """Yield an error for each accelerator of which the profile excludes all instance families."""
    excluded = Membership(layers.fields.instances.families).not_
    by_profile = Membership(layers.profile.pool.instances.families).not_
    if not by_profile.node:
        return
    excluded_families = set(excluded.texts())
    for name in layers.fields.accelerator:
        families = catalogue.accelerators.families(str(name.value))
        if families and families <= excluded_families:
            profile = text_of(layers.profile.metadata.name)
            listed = ", ".join(sorted(families))
            only = "families" if len(families) > 1 else "family"
            message = f"profile `{profile}` excludes {listed}, the only {only} with `{name.value}`"
            fix = "set `instances: {families: null}` if your image has the driver"
            yield error(Code.PROFILE_MISFIT, message, name, fix)


def _suggest_profile(profile: str, maker: Maker | None) -> str:
    if maker is None:
        return "set `profile: general` or `profile: graviton`"
    training, inference = _PROFILES.get(maker, ("", ""))
    fitting = training if "training" in profile else inference
    return f"set `profile: {fitting}`" if fitting else "remove `profile`; no shipped profile fits"


def _check_feature_gates(
    expanded: ExpandedPool, layers: LayeredPool, cluster: TargetCluster
) -> Iterator[Finding]:
    required = []
    if expanded.replicas is not None:
        required.append(("StaticCapacity", "`replicas`", expanded.replicas))
    if share := layers.fields.sharing.time_slicing:
        required.append(("NodeOverlay", "`sharing`", share))
    for gate, setting, node in required:
        if gate not in cluster.gates:
            message = f"{setting} requires Karpenter's feature gate {gate}, which is off by default"
            fix = f"enable it in Karpenter and set `cluster: {{features: [{gate}]}}`"
            yield error(Code.FEATURE_GATE, message, node, fix)


def _check_static_pool(expanded: ExpandedPool, layers: LayeredPool) -> Iterator[Finding]:
    if expanded.replicas is None:
        return
    if EFA_PRESENT in mapping(expanded.labels) and not _has_interfaces(layers):
        message = "nodes of a pool with `replicas` have no EFA: no pod requests it when they launch"
        fix = f"set `nodeClass: {{networkInterfaces: […]}}`, or remove the label `{EFA_PRESENT}`"
        yield warning(Code.STATIC_POOL, message, expanded.replicas, fix)
    others = [key for key in mapping(expanded.limits) if key != "nodes"]
    if others and expanded.limits is not None:
        message = (
            f"a pool with `replicas` can limit only `nodes`, not {', '.join(f'`{key}`' for key in others)}"
        )
        yield error(
            Code.STATIC_POOL, message, mapping(expanded.limits)[others[0]], "set `limits: {nodes: N}`"
        )
    if expanded.weight is not None:
        yield error(
            Code.STATIC_POOL, "`weight` conflicts with `replicas`", expanded.weight, "remove `weight`"
        )
    nodes = mapping(expanded.limits).get("nodes")
    if nodes is not None and parse_amount(str(nodes.value)) < parse_amount(str(expanded.replicas.value)):
        message = f"`limits.nodes` {nodes.value} is less than `replicas` {expanded.replicas.value}"
        spare = parse_amount(str(expanded.replicas.value)) + 1
        fix = f"set `limits: {{nodes: {spare}}}`; drift needs one spare node"
        yield error(Code.STATIC_POOL, message, nodes, fix)


def _has_interfaces(layers: LayeredPool) -> bool:
    """Return whether the node class sets network interfaces; True for a declared class, not checked here."""
    return layers.class_fields is None or bool(layers.class_fields.network_interfaces)


def _check_one_type_one_zone(expanded: ExpandedPool, layers: LayeredPool) -> Iterator[Finding]:
    if text_of(layers.profile.metadata.name) not in _ONE_TYPE_PROFILES:
        return
    types = _requirement_values(expanded, labels.INSTANCE_TYPE)
    zones = _requirement_values(expanded, labels.ZONE) or _requirement_values(expanded, labels.ZONE_ID)
    for subject, values in (("instance type", types), ("zone", zones)):
        if len(values) != 1:
            actual = f"{len(values)} are allowed" if values else "none is set"
            message = f"the nodes of one EFA job must have the same {subject}, but {actual}"
            key = "instances: {types: …}" if subject == "instance type" else "zones"
            yield warning(Code.ONE_TYPE_ONE_ZONE, message, layers.own.here, f"set exactly one, with `{key}`")


def _requirement_values(expanded: ExpandedPool, label: str) -> list[str]:
    entries = (RequirementEntry(node) for node in items(expanded.requirements))
    return [value for entry in entries if text_of(entry.label) == label and text_of(entry.operator) == "In"
            for value in entry.values.texts()]  # fmt: skip


def _check_sharing(expanded: ExpandedPool, layers: LayeredPool) -> Iterator[Finding]:
    share = layers.fields.sharing.time_slicing
    if share is None:
        return
    if expanded.maker is not Maker.NVIDIA:
        yield error(Code.SHARING, "`sharing` requires NVIDIA GPUs, and the pool does not select any", share)
    elif expanded.ami_family == "Bottlerocket":
        fix = "use an al2023 image, or remove `sharing` and configure the plugin in `userData`"
        yield error(
            Code.SHARING,
            "`sharing` is not supported on Bottlerocket, which has its own device plugin",
            share,
            fix,
        )
    elif not expanded.gpu_counts:
        yield error(
            Code.SHARING,
            "`sharing` requires a whole GPU, and the pool matches no instance type with one",
            share,
        )
