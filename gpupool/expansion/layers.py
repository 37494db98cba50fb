"""Layers of a NodePool and its node class, merged: built-in, defaults, profile, pool, tier."""

from collections.abc import Iterator
from typing import NamedTuple

from gpupool.blueprint import merge_schema
from gpupool.blueprint.merge import merge_all, remove_nulls
from gpupool.expansion.target import TargetCluster
from gpupool.findings import Location
from gpupool.yamlio.located import Located, find, leaf, mapping, text_at, tree

BUILT_IN = Location("built-in")
FIRST_WEIGHT = 50
_NOT_LAYERED = ("profile", "tiers", "nodeClass")


class LayeredPool(NamedTuple):
    """The merged fields of one NodePool."""

    name: str
    """The NodePool's name: the pool's, or `<pool>-<tier>`."""

    pool: str
    path: str
    """The path in the blueprint: `pools.chat.tiers.spot`."""

    fields: Located
    fields_and_nulls: Located
    """The same fields with explicit `null`s, which disable a guard."""

    own: Located
    """The pool's own fields in the blueprint; for a tier, those of its pool."""

    pool_limits: Located | None
    """The limits of the pool, of which a tier can set a share."""

    class_name: str
    """The node class that the NodePool refers to; empty with `nodeClassRef`."""

    class_fields: Located | None
    """The fields of the pool's own node class, with `null`s; None where it refers to a declared one."""

    profile: Located | None
    tier: Located | None
    """The tier's fields, merged over those of the profile's tier with the same name."""

    tier_name: str
    """The key of the tier under `tiers`; empty for a pool without tiers."""


def build_built_in_layer(target: TargetCluster) -> Located:
    """Build the lowest layer of every pool: gpupool's defaults."""
    cause = Located(None, BUILT_IN)
    zones = target.find("zones")
    return tree({"capacity": leaf("on-demand", cause, "built-in"), "zones": zones}, cause)


def layer_pools(
    name: str, pool: Located, profile: Located | None, defaults: Located | None, target: TargetCluster
) -> Iterator[LayeredPool]:
    """Yield the merged layers of each NodePool of a pool: one, or one for each tier."""
    layers = [build_built_in_layer(target), find(defaults, "pool"), find(profile, "pool"), pool]
    merged = merge_all(
        [part for part in layers if part is not None and part.value is not None], merge_schema.POOL
    )
    tiers = {key: tier for key, tier in mapping(find(merged, "tiers")).items() if tier.value is not None}
    base = _without(merged, _NOT_LAYERED[:2])
    class_layers = [find(defaults, "nodeClass"), find(profile, "nodeClass")]
    for index, (key, tier) in enumerate(tiers.items() or [("", None)]):
        fields = base if tier is None else _merge_tier(base, tier, index)
        own_class = tier is not None and find(tier, "nodeClass") is not None
        full_name = f"{name}-{key}" if key else name
        class_name, class_fields = _merge_class(fields, full_name if own_class else name, class_layers)
        own_fields = _without(fields, _NOT_LAYERED)
        yield LayeredPool(
            name=full_name, pool=name, path=f"pools.{name}" + (f".tiers.{key}" if key else ""),
            fields=remove_nulls(own_fields), fields_and_nulls=own_fields, own=pool,
            pool_limits=find(base, "limits"), class_name=class_name, class_fields=class_fields,
            profile=profile, tier=tier, tier_name=key,
        )  # fmt: skip


def merge_declared_class(fields: Located, defaults: Located | None) -> Located:
    """Return the fields of a class under `nodeClasses`, merged over the defaults; profiles do not apply."""
    class_defaults = find(defaults, "nodeClass")
    return (
        merge_all([class_defaults, fields], merge_schema.CLASS)
        if class_defaults is not None and class_defaults.value is not None
        else fields
    )


def _merge_tier(base: Located, tier: Located, index: int) -> Located:
    fields = merge_all([base, tier], merge_schema.TIER)
    set_fields = {key for key, node in mapping(tier).items() if node.value is not None}
    replicas = find(fields, "replicas")
    if "weight" in set_fields or (replicas is not None and replicas.value is not None):
        return fields
    weight = find(base, "weight")
    first = weight.value if weight is not None and isinstance(weight.value, int) else FIRST_WEIGHT
    also = () if weight is None else (weight,)
    number = leaf(max(1, first - index), tier, "built-in: one less for each tier", also)
    return Located({**mapping(fields), "weight": number}, fields.at, fields.key)


def _merge_class(fields: Located, name: str, lower: list[Located | None]) -> tuple[str, Located | None]:
    setting, reference = find(fields, "nodeClass"), find(fields, "nodeClassRef")
    if reference is not None and reference.value is not None:
        return "", None
    if setting is not None and isinstance(setting.value, str):
        return setting.value, None
    layers = [part for part in (*lower, setting) if part is not None and part.value is not None]
    merged = merge_all(layers, merge_schema.CLASS) if layers else fields
    # A class that the pool does not set is located at the pool, not in the profile or the defaults.
    at = fields if setting is None else merged
    return name, Located(merged.value if layers else {}, at.at, at.key)


def _without(node: Located, removed: tuple[str, ...]) -> Located:
    kept = {key: item for key, item in mapping(node).items() if key not in removed}
    return Located(kept, node.at, node.key)


def find_profile_reference(pool: Located) -> Located | None:
    """Return the pool's `profile`, if it is set."""
    return find(pool, "profile") if text_at(pool, "profile") else None
