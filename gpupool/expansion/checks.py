"""What has to hold between the words of a pool, its profile, its class and the cluster."""

from collections.abc import Iterator, Mapping, Sequence

from gpupool.blueprint.merge import settled
from gpupool.blueprint.names import MAX_NAME
from gpupool.catalogue.accelerators import Maker
from gpupool.codes import Code
from gpupool.expansion.accelerator import chosen, hints
from gpupool.expansion.catalogue_access import Catalogued
from gpupool.expansion.expanded import ExpandedClass, ExpandedOverlay, ExpandedPool
from gpupool.expansion.layers import Layered
from gpupool.expansion.limits import only_nodes
from gpupool.expansion.problem import error, info, warning
from gpupool.expansion.target import TargetCluster
from gpupool.findings import Finding
from gpupool.karpenter import labels
from gpupool.karpenter.quantities import parse_amount
from gpupool.karpenter.versions import TARGETS
from gpupool.shapes.error_messages import nearest
from gpupool.yamlio.located import Located, find, items, mapping, text_at

_CHOICES = ("profile", "accelerator", "instances", "requirements")
_ONE_TYPE_PROFILES = ("training-efa", "training-static", "neuron-training")
EFA_PRESENT = "vpc.amazonaws.com/efa.present"
_RESERVATIONS = ("reservations", "capacityReservationSelectorTerms")
_FITTING = {
    Maker.NVIDIA: ("training", "inference"),
    Maker.NEURON: ("neuron-training", "neuron-inference"),
}


def target(cluster: TargetCluster) -> Iterator[Finding]:
    """Find a Karpenter version that gpupool does not know."""
    said = find(cluster.node, "karpenter")
    if said is not None and cluster.karpenter not in TARGETS:
        message = f"unsupported Karpenter version {cluster.karpenter}"
        yield error(
            Code.TARGET,
            message,
            said,
            f'set `karpenter: "{TARGETS[-1]}"`, or another version from {TARGETS[0]} on',
        )


def some_pools(blueprint: Located, pools: Mapping[str, Located]) -> Iterator[Finding]:
    """Find a blueprint without pools: rendered into a folder, it would empty it."""
    if not pools:
        said = find(blueprint, "pools") or blueprint
        yield error(
            Code.NO_POOLS,
            "the blueprint has no pools",
            said,
            "add a pool, as in `pools: {train: {profile: training}}`",
        )


def chooses(name: str, pool: Located) -> Iterator[Finding]:
    """Find a pool that says nothing about its machines: it would take any of EC2's."""
    said = {key for key, node in mapping(pool).items() if node.value is not None}
    if not said & set(_CHOICES):
        fix = f"set one of {', '.join(f'`{word}`' for word in _CHOICES)}"
        yield error(Code.NO_MACHINES, f"pool `{name}` selects no instance types", pool, fix)


def declared(layers: Layered, known_classes: Sequence[str]) -> Iterator[Finding]:
    """Find a class that is declared nowhere, and a profile whose words for the class go unused."""
    said = find(layers.tier, "nodeClass") or find(layers.own, "nodeClass") or layers.own
    if layers.class_name not in known_classes:
        near = nearest(layers.class_name, known_classes)
        fix = (
            f"did you mean `{near}`?"
            if near
            else f"declare it under `nodeClasses`, or set `{layers.class_name}: {{external: true}}` there"
        )
        yield error(Code.UNKNOWN_CLASS, f"unknown node class `{layers.class_name}`", said, fix)
    elif mapping(find(layers.profile, "nodeClass")):
        name = text_at(layers.profile, "metadata", "name")
        message = f"`nodeClass` of profile `{name}` is ignored: `{layers.class_name}` is a declared class"
        yield info(Code.PROFILE_CLASS_UNUSED, message, said)


def class_twice(layers: Layered) -> Finding:
    """Say that a pool's own class would have the name of a declared one."""
    message = f"duplicate node class `{layers.class_name}`: it is also declared under `nodeClasses`"
    return error(
        Code.CLASS_TWICE,
        message,
        layers.own,
        f"set `nodeClass: {layers.class_name}`, or rename one of the two",
    )


def unused_classes(declared_classes: Mapping[str, Located], used: set[str]) -> Iterator[Finding]:
    """Find declared classes that no pool refers to."""
    for name, node in declared_classes.items():
        if name not in used:
            yield warning(Code.UNUSED_CLASS, f"node class `{name}` is not used by any pool", node)


def names(
    pools: Sequence[ExpandedPool], classes: Sequence[ExpandedClass], overlays: Sequence[ExpandedOverlay]
) -> Iterator[Finding]:
    """Find names that are too long for a node label, and two objects of one kind and name."""
    said = [("NodePool", item.name, item.path, item.at) for item in pools]
    own = {item.name for item in pools}
    said += [("EC2NodeClass", item.name, item.path, item.spec) for item in classes if item.name not in own]
    for _, name, _, node in said:
        if len(name) > MAX_NAME:
            message = (
                f"a name of {len(name)} characters is too long for a label ({MAX_NAME} at most): `{name}`"
            )
            yield error(Code.LONG_NAME, message, node, "shorten it; each node gets the name as a label")
    said += [("NodeOverlay", item.name, item.path, item.spec) for item in overlays]
    seen: dict[tuple[str, str], str] = {}
    for kind, name, path, node in said:
        first = seen.setdefault((kind, name), path)
        if first != path:
            message = f"`{first}` and `{path}` both render {kind} `{name}`"
            yield error(Code.POOL_TWICE, message, node, "rename one of the two")


def pool(
    expanded: ExpandedPool, layers: Layered, cluster: TargetCluster, known: Catalogued
) -> Iterator[Finding]:
    """Find what does not go together in one NodePool."""
    yield from _profile_fits(layers, known)
    yield from _profile_shuts_out(layers, known)
    yield from _gates(expanded, layers, cluster)
    yield from _static(expanded, layers)
    yield from _one_type_one_zone(expanded, layers)
    yield from _sharing(expanded, layers)
    if expanded.replicas is None and (alone := only_nodes(expanded.limits)):
        message = "a limit on `nodes` alone can be exceeded when Karpenter launches several nodes at once"
        yield info(Code.SOFT_LIMIT, message, alone, "add a limit on `gpus` or `cpu`")


def reservations(layers: Layered, expanded: ExpandedPool) -> Iterator[Finding]:
    """Find reservations that the pool may not use, and a wish for them where the class selects none."""
    if layers.class_words is None:
        return
    selected = next(
        (node for word in _RESERVATIONS if (node := find(layers.class_words, word)) and node.value), None
    )
    capacity = find(layers.words, "capacity")
    allowed = _values(expanded, labels.CAPACITY_TYPE)
    if selected is not None and allowed and "reserved" not in allowed:
        message = f"the node class selects reservations, but `capacity` allows only {', '.join(allowed)}"
        fix = f"set `capacity: [{', '.join(['reserved', *allowed])}]`"
        yield warning(Code.RESERVATIONS, message, selected, fix)
    elif selected is None and allowed == ["reserved"] and capacity is not None:
        message = "`capacity` allows only reserved, but the node class selects no reservations"
        yield warning(Code.RESERVATIONS, message, capacity, "set `nodeClass: {reservations: [cr-…]}`")


def _profile_fits(layers: Layered, known: Catalogued) -> Iterator[Finding]:
    words = layers.words
    accelerator, maker = find(words, "accelerator"), chosen(words, known)
    is_none = accelerator is not None and accelerator.value == "none"
    if accelerator is not None and is_none and maker is not None:
        message = f"`accelerator: none` conflicts with instance types that have {maker} chips"
        yield error(Code.ACCELERATOR, message, accelerator, "remove one of the two")
        return
    if layers.profile is None or (maker is None and not is_none):
        return
    said = accelerator or find(layers.own, "instances") or layers.own
    name = text_at(layers.profile, "metadata", "name")
    if other := _other_kind(layers, words, maker, known):
        asks = "no accelerator" if maker is None else f"{maker} chips"
        message = f"profile `{name}` is for {other}, but the pool selects {asks}"
        yield error(Code.PROFILE_MISFIT, message, said, _fitting(name, maker))


def _other_kind(layers: Layered, words: Located, maker: Maker | None, known: Catalogued) -> str:
    """Return what the profile is for, where that is not what the pool chose; its words may be overridden."""
    places = {node.at for _, node in hints(settled(find(layers.profile, "pool") or layers.own))}
    other = next((hinted for hinted, node in hints(words) if hinted is not maker and node.at in places), None)
    categories = _categories(words, known)
    if other is None and maker is not None and categories and maker not in categories.values():
        return f"{', '.join(categories)} instances"
    return other or ""


def _categories(words: Located, known: Catalogued) -> dict[str, Maker | None]:
    """Return the instance categories that a pool lists, each with the maker of its accelerators."""
    node = find(words, "instances", "categories")
    listed = [str(item.value) for item in items(node)] or [text_at(node)]
    return {name: known.accelerators.maker_of_category(name) for name in listed if name}


def _profile_shuts_out(layers: Layered, known: Catalogued) -> Iterator[Finding]:
    """Find an accelerator all of whose families the profile shuts out."""
    accelerator = find(layers.words, "accelerator")
    shut_out = find(layers.words, "instances", "families", "not")
    by_profile = find(layers.profile, "pool", "instances", "families", "not")
    if accelerator is None or shut_out is None or by_profile is None:
        return
    gone = {str(item.value) for item in items(shut_out) or [shut_out]}
    for name in items(accelerator) or [accelerator]:
        families = known.accelerators.families(str(name.value))
        if families and families <= gone:
            profile = text_at(layers.profile, "metadata", "name")
            where = ", ".join(sorted(families))
            message = f"profile `{profile}` excludes {where}, the only families with `{name.value}`"
            fix = "set `instances: {families: null}` if your image has the driver"
            yield error(Code.PROFILE_MISFIT, message, name, fix)


def _fitting(profile: str, maker: Maker | None) -> str:
    if maker is None:
        return "set `profile: general` or `profile: graviton`"
    training, inference = _FITTING.get(maker, ("", ""))
    fitting = training if "training" in profile else inference
    return f"set `profile: {fitting}`" if fitting else "remove `profile`; no shipped profile fits"


def _gates(expanded: ExpandedPool, layers: Layered, cluster: TargetCluster) -> Iterator[Finding]:
    wanted = []
    if expanded.replicas is not None:
        wanted.append(("StaticCapacity", "`replicas`", expanded.replicas))
    if share := find(layers.words, "sharing", "timeSlicing"):
        wanted.append(("NodeOverlay", "`sharing`", share))
    for gate, word, node in wanted:
        if gate not in cluster.features:
            message = f"{word} requires Karpenter's feature gate {gate}, which is off by default"
            fix = f"enable it in Karpenter and set `cluster: {{features: [{gate}]}}`"
            yield error(Code.FEATURE_GATE, message, node, fix)


def _static(expanded: ExpandedPool, layers: Layered) -> Iterator[Finding]:
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


def _has_interfaces(layers: Layered) -> bool:
    """Return whether the class lays its network interfaces out; of a declared class nothing is known here."""
    return layers.class_words is None or bool(items(find(layers.class_words, "networkInterfaces")))


def _one_type_one_zone(expanded: ExpandedPool, layers: Layered) -> Iterator[Finding]:
    if text_at(layers.profile, "metadata", "name") not in _ONE_TYPE_PROFILES:
        return
    types = _values(expanded, labels.INSTANCE_TYPE)
    zones = _values(expanded, labels.ZONE) or _values(expanded, labels.ZONE_ID)
    for word, values in (("instance type", types), ("zone", zones)):
        if len(values) != 1:
            how_many = f"{len(values)} are allowed" if values else "none is set"
            message = f"the nodes of one EFA job must have the same {word}, but {how_many}"
            key = "instances: {types: …}" if word == "instance type" else "zones"
            yield warning(Code.ONE_TYPE_ONE_ZONE, message, layers.own, f"set exactly one, with `{key}`")


def _values(expanded: ExpandedPool, label: str) -> list[str]:
    return [str(item.value) for node in items(expanded.requirements) if text_at(node, "key") == label
            and text_at(node, "operator") == "In" for item in items(find(node, "values"))]  # fmt: skip


def _sharing(expanded: ExpandedPool, layers: Layered) -> Iterator[Finding]:
    share = find(layers.words, "sharing", "timeSlicing")
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
