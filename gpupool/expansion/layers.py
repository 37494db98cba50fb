"""Lay the words of a NodePool and of its class over each other: built-in, defaults, profile, pool, tier."""

from collections.abc import Iterator
from typing import NamedTuple

from gpupool.blueprint import merge_schema
from gpupool.blueprint.merge import merge_all, remove_nulls
from gpupool.expansion.target import TargetCluster
from gpupool.findings import Location
from gpupool.yamlio.located import Located, find, leaf, mapping, text_at, tree

BUILT_IN = Location("built-in")
FIRST_WEIGHT = 50
_NOT_WORDS = ("profile", "tiers", "nodeClass")


class LayeredPool(NamedTuple):
    """The words of one NodePool after every layer was laid over the one below.

    `class_words` still holds its `null`s.
    """

    name: str
    """The NodePool's name: the pool's, or `<pool>-<tier>`."""

    pool: str
    path: str
    """Where it stands in the blueprint: `pools.chat.tiers.spot`."""

    words: Located
    words_and_nulls: Located
    """The same words with every `null` that somebody wrote: a guard gives way to it."""

    own: Located
    """The pool's own words in the blueprint; of a tier those of its pool."""

    pool_limits: Located | None
    """The limits of the whole pool, of which a tier may take a share."""

    class_name: str
    """The class that the NodePool refers to; empty where `nodeClassRef` names one."""

    class_words: Located | None
    """The words of a class of the pool's own; None where a declared class is named."""

    profile: Located | None
    tier: Located | None
    """The tier's own word, as laid over the profile's tier of that name."""

    tier_name: str
    """The key of the tier under `tiers`; empty for a pool without tiers."""


def build_built_in_layer(target: TargetCluster) -> Located:
    """Return the lowest layer of every pool: all that gpupool says by itself."""
    cause = Located(None, BUILT_IN)
    zones = target.named("zones")
    return tree({"capacity": leaf("on-demand", cause, "built-in"), "zones": zones}, cause)


def layer_pools(
    name: str, pool: Located, profile: Located | None, defaults: Located | None, target: TargetCluster
) -> Iterator[LayeredPool]:
    """Yield each NodePool of a pool: one, or one for each of its tiers."""
    parts = [build_built_in_layer(target), find(defaults, "pool"), find(profile, "pool"), pool]
    whole = merge_all(
        [part for part in parts if part is not None and part.value is not None], merge_schema.POOL
    )
    tiers = {key: tier for key, tier in mapping(find(whole, "tiers")).items() if tier.value is not None}
    base = _without(whole, _NOT_WORDS[:2])
    under = [find(defaults, "nodeClass"), find(profile, "nodeClass")]
    for index, (key, tier) in enumerate(tiers.items() or [("", None)]):
        words = base if tier is None else _tier_words(base, tier, index)
        own_class = tier is not None and find(tier, "nodeClass") is not None
        full_name = f"{name}-{key}" if key else name
        class_name, class_words = _class_of(words, full_name if own_class else name, under)
        said = _without(words, _NOT_WORDS)
        yield LayeredPool(
            name=full_name, pool=name, path=f"pools.{name}" + (f".tiers.{key}" if key else ""),
            words=remove_nulls(said), words_and_nulls=said, own=pool,
            pool_limits=find(base, "limits"), class_name=class_name, class_words=class_words,
            profile=profile, tier=tier, tier_name=key,
        )  # fmt: skip


def merge_declared_class(words: Located, defaults: Located | None) -> Located:
    """Return the words of a class under `nodeClasses`; the profile has no say in it."""
    under = find(defaults, "nodeClass")
    return (
        merge_all([under, words], merge_schema.CLASS)
        if under is not None and under.value is not None
        else words
    )


def _tier_words(base: Located, tier: Located, index: int) -> Located:
    words = merge_all([base, tier], merge_schema.TIER)
    said = {key for key, node in mapping(tier).items() if node.value is not None}
    replicas = find(words, "replicas")
    if "weight" in said or (replicas is not None and replicas.value is not None):
        return words
    weight = find(base, "weight")
    first = weight.value if weight is not None and isinstance(weight.value, int) else FIRST_WEIGHT
    number = leaf(max(1, first - index), tier, "built-in: one less for each tier")
    return Located({**mapping(words), "weight": number}, words.at, words.key)


def _class_of(words: Located, name: str, under: list[Located | None]) -> tuple[str, Located | None]:
    said, reference = find(words, "nodeClass"), find(words, "nodeClassRef")
    if reference is not None and reference.value is not None:
        return "", None
    if said is not None and isinstance(said.value, str):
        return said.value, None
    layers = [part for part in (*under, said) if part is not None and part.value is not None]
    merged = merge_all(layers, merge_schema.CLASS) if layers else words
    # Of a class that the pool does not speak of, the place is the pool's, not the profile's or the defaults'.
    at = words if said is None else merged
    return name, Located(merged.value if layers else {}, at.at, at.key)


def _without(node: Located, gone: tuple[str, ...]) -> Located:
    kept = {key: item for key, item in mapping(node).items() if key not in gone}
    return Located(kept, node.at, node.key)


def find_profile_reference(pool: Located) -> Located | None:
    """Return the place where a pool names its profile, if it does."""
    return find(pool, "profile") if text_at(pool, "profile") else None
