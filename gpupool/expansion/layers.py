"""Layers of a NodePool and its node class, merged: built-in, defaults, profile, pool, tier."""

from collections.abc import Iterator
from typing import NamedTuple

from gpupool.blueprint import merge_schema
from gpupool.blueprint.merge import merge, merge_all, remove_nulls
from gpupool.blueprint.model import Defaults
from gpupool.blueprint.nodeclass import BlueprintNodeClass, NodeClassFields
from gpupool.blueprint.pool import BlueprintLimits, BlueprintPool, PoolFields, Tier
from gpupool.expansion.target import TargetCluster
from gpupool.findings import Location
from gpupool.profiles.model import Profile
from gpupool.shapes.fields import Fields
from gpupool.yamlio.located import Located, leaf, mapping, text_of, tree

BUILT_IN = Location("built-in")
FIRST_WEIGHT = 50
_NOT_LAYERED = (BlueprintPool.profile.key, BlueprintPool.tiers.key, BlueprintPool.node_class.key)


class LayeredPool(NamedTuple):
    """The merged fields of one NodePool."""

    name: str
    """The NodePool's name: the pool's, or `<pool>-<tier>`."""

    pool: str
    path: str
    """The path in the blueprint: `pools.chat.tiers.spot`."""

    fields: Tier
    fields_and_nulls: Tier
    """The same fields with explicit `null`s, which disable a guard."""

    own: BlueprintPool
    """The pool's own fields in the blueprint; for a tier, those of its pool."""

    pool_limits: BlueprintLimits
    """The limits of the pool, of which a tier can set a share."""

    class_name: str
    """The node class that the NodePool refers to; empty with `nodeClassRef`."""

    class_fields: NodeClassFields | None
    """The fields of the pool's own node class, with `null`s; None where it refers to a declared one."""

    profile: Profile
    """The pool's profile; without fields where it has none."""

    tier: Tier
    """The tier's fields, merged over those of the profile's tier with the same name; none without tiers."""

    tier_name: str
    """The key of the tier under `tiers`; empty for a pool without tiers."""


def build_built_in_layer(target: TargetCluster) -> Located:
    """Build the lowest layer of every pool: gpupool's defaults."""
    cause = Located(None, BUILT_IN)
    values = {key: row.default for key, row in PoolFields.rows.items() if row.default is not None}
    layer: dict[str, Located | None] = {key: leaf(value, cause, "built-in") for key, value in values.items()}
    return tree({**layer, PoolFields.zones.key: target.zones.node}, cause)


def layer_pools(
    name: str, pool: BlueprintPool, profile: Profile, defaults: Defaults, target: TargetCluster
) -> Iterator[LayeredPool]:
    """Yield the merged layers of each NodePool of a pool: one, or one for each tier."""
    layers = [build_built_in_layer(target), defaults.pool.node, profile.pool.node, pool.node]
    merged = BlueprintPool(merge_all([part for part in layers if part is not None], merge_schema.POOL))
    base = _without(merged, _NOT_LAYERED[:2])
    class_layers = [defaults.node_class, profile.node_class]
    for index, (key, tier) in enumerate(merged.tiers.items() or [("", Tier(None))]):
        fields = _merge_tier(base, tier, index) if tier else Tier(base)
        full_name = f"{name}-{key}" if key else name
        class_name, class_fields = _merge_class(fields, full_name if tier.node_class else name, class_layers)
        own_fields = _without(fields, _NOT_LAYERED)
        yield LayeredPool(
            name=full_name, pool=name, path=f"pools.{name}" + (f".tiers.{key}" if key else ""),
            fields=Tier(remove_nulls(own_fields)), fields_and_nulls=Tier(own_fields), own=pool,
            pool_limits=Tier(base).limits, class_name=class_name, class_fields=class_fields,
            profile=profile, tier=tier, tier_name=key,
        )  # fmt: skip


def merge_declared_class(fields: BlueprintNodeClass, defaults: Defaults) -> BlueprintNodeClass:
    """Return the fields of a class under `nodeClasses`, merged over the defaults; profiles do not apply."""
    lower = defaults.node_class.node
    return fields if lower is None else BlueprintNodeClass(merge(lower, fields.here, merge_schema.CLASS))


def _merge_tier(base: Located, tier: Tier, index: int) -> Tier:
    fields = Tier(merge(base, tier.here, merge_schema.TIER))
    if tier.weight is not None or fields.replicas is not None:
        return fields
    weight = Tier(base).weight
    first = FIRST_WEIGHT if weight is None else weight.value
    also = () if weight is None else (weight,)
    number = leaf(max(1, first - index), tier.here, "built-in: one less for each tier", also)
    return Tier(Located({**mapping(fields.node), Tier.weight.key: number}, fields.here.at, fields.here.key))


def _merge_class(fields: Tier, name: str, lower: list[NodeClassFields]) -> tuple[str, NodeClassFields | None]:
    setting = fields.node_class
    if fields.node_class_ref is not None:
        return "", None
    if setting.node is not None and isinstance(setting.node.value, str):
        return setting.node.value, None
    layers = [part.node for part in (*lower, setting) if part.node is not None]
    merged = merge_all(layers, merge_schema.CLASS) if layers else fields.here
    # A class that the pool does not set is located at the pool, not in the profile or the defaults.
    at = merged if setting else fields.here
    return name, NodeClassFields(Located(merged.value if layers else {}, at.at, at.key))


def _without(fields: Fields, removed: tuple[str, ...]) -> Located:
    kept = {key: item for key, item in mapping(fields.node).items() if key not in removed}
    return Located(kept, fields.here.at, fields.here.key)


def find_profile_reference(pool: BlueprintPool) -> Located[str] | None:
    """Return the pool's `profile`, if it is set."""
    return pool.profile if text_of(pool.profile) else None
