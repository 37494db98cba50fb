"""Chain of layers behind one value: the value of each layer, and its outcome."""

from collections.abc import Iterator
from typing import NamedTuple

from gpupool.blueprint.merge import ANY, MergeKind, as_map
from gpupool.blueprint.pool import BlueprintDisruption, PoolFields
from gpupool.expansion.overridden import find_overridden_budgets
from gpupool.provenance.items import BlueprintItem, LayerPart
from gpupool.provenance.values import LayerOutcome, LayerValue, Origin, Path, mask
from gpupool.yamlio.located import Located, place, plain

_BUDGETS: Path = (PoolFields.disruption.key, BlueprintDisruption.budgets.key)


class ChainLink(NamedTuple):
    """A value and the field that sets it."""

    node: Located
    path: Path
    is_atomic: bool = True
    """Whether the value is replaced as a whole even where it is a map."""


def find_origin(item: BlueprintItem, path: Path) -> Origin:
    """Return the origin of a field's value, without its renderings."""
    effective = find_effective(item, path)
    field = path if effective is None else effective.path
    links = _find_links(item, field)
    last_part = links[-1][1] if links else None
    chain = [_build_layer_value(link, part, effective, is_last=part is last_part) for link, part in links]
    is_generated = (
        effective is not None and effective.node.value is not None and not any(map(_is_in_force, chain))
    )
    if effective is not None and is_generated:
        chain = [
            layer if layer.value is None else layer._replace(outcome=LayerOutcome.REPLACED) for layer in chain
        ]
        chain.append(_generated_value(effective))
    if field == _BUDGETS:
        chain = [_mark_overridden(layer, item) for layer in chain]
    home = item.path
    if item.tier and (is_generated or any(f"tier {item.tier}" in layer.layer for layer in chain)):
        home = (*home, "tiers", item.tier)
    value = None if effective is None else mask(plain(effective.node), field)
    return Origin((*home, *field), value, tuple(chain))


def find_effective(item: BlueprintItem, path: Path) -> ChainLink | None:
    """Return the effective value of a field, or of another field that sets the same target."""
    link = walk(item.fields, path, item.kind)
    if link is not None and link.path:
        return link
    targets = _find_targets(item, path)
    for field, target in item.kind.find_targets(item.fields) if item.kind.find_targets else ():
        if target in targets:
            return walk(item.fields, field, item.kind)
    return None


def walk(node: Located, path: Path, kind: MergeKind) -> ChainLink | None:
    """Follow a path of fields, at most to a scalar, a list or a constraint; None where no field is set."""
    for index, key in enumerate(path):
        node = as_map(node, kind)
        if not isinstance(node.value, dict):
            return ChainLink(node, path[:index])
        below = node.value.get(str(key))
        if below is None:
            return None
        if is_atomic(kind, str(key)):
            return ChainLink(below, path[: index + 1])
        node, kind = below, child_kind(kind, str(key))
    return ChainLink(as_map(node, kind), path, is_atomic=False)


def is_atomic(kind: MergeKind, key: str) -> bool:
    """Return whether the value of a key is replaced as a whole, even where it is a map."""
    return kind.all_atomic or key in kind.atomic


def child_kind(kind: MergeKind, key: str) -> MergeKind:
    """Return how the map under a key is merged."""
    return kind.fields.get(key) or kind.entries or ANY


def _find_links(item: BlueprintItem, path: Path) -> list[tuple[ChainLink, LayerPart]]:
    """Return the values that each part sets for a field, the lowest layer first."""
    targets = _find_targets(item, path)
    return [(link, part) for part in item.parts for link in _links_of_part(item, part, path, targets)]


def _links_of_part(
    item: BlueprintItem, part: LayerPart, path: Path, targets: set[str]
) -> Iterator[ChainLink]:
    own = walk(part.node, path, item.kind)
    if own is not None:
        yield own
    fields = item.kind.find_targets(part.node) if item.kind.find_targets else ()
    seen: set[Path] = {path} if own is None else {path, own.path}
    for field, target in fields:
        if target in targets and field not in seen and field != path[: len(field)]:
            seen.add(field)
            other = walk(part.node, field, item.kind)
            if other is not None:
                yield other


def _find_targets(item: BlueprintItem, path: Path) -> set[str]:
    """Return the rendered fields and label keys that a field sets in any part."""
    if item.kind.find_targets is None:
        return set()
    nodes = [item.fields, *(part.node for part in item.parts)]
    pairs = [pair for node in nodes for pair in item.kind.find_targets(node)]
    targets = {target for field, target in pairs if field == path[: len(field)]}
    return targets or {target for _, target in item.kind.find_targets(_build_field(path, item.fields))}


def _build_field(path: Path, cause: Located) -> Located:
    """Return a map that sets only one field, for a field that no layer sets."""
    node: Located = Located("", cause.at)
    for key in reversed(path):
        node = Located({str(key): node}, cause.at)
    return node


def _build_layer_value(
    link: ChainLink, part: LayerPart, effective: ChainLink | None, *, is_last: bool
) -> LayerValue:
    node, winner = link.node, effective.node if effective is not None else None
    are_maps = winner is not None and isinstance(winner.value, dict) and isinstance(node.value, dict)
    if node.value is None:
        outcome = LayerOutcome.REMOVES
    elif winner is not None and node.at == winner.at and node.value == winner.value:
        outcome = LayerOutcome.WINS
    elif are_maps and not link.is_atomic:
        outcome = LayerOutcome.MERGED
    else:
        outcome = LayerOutcome.NO_EFFECT if is_last else LayerOutcome.REPLACED
    note = "" if node.note == part.layer else node.note
    return LayerValue(part.layer, link.path, place(node), mask(plain(node), link.path), outcome, note)


def _generated_value(effective: ChainLink) -> LayerValue:
    """Return the value that gpupool itself sets for a field, such as a tier's weight."""
    layer, _, note = effective.node.note.partition(": ")
    value = mask(plain(effective.node), effective.path)
    return LayerValue(
        layer or "built-in", effective.path, place(effective.node), value, LayerOutcome.WINS, note
    )


def _mark_overridden(layer: LayerValue, item: BlueprintItem) -> LayerValue:
    """Return the winning budgets with what maintenance windows take over from them."""
    overridden = [*find_overridden_budgets(PoolFields(item.fields).disruption)]
    if layer.outcome is not LayerOutcome.WINS or not overridden:
        return layer
    listed = ", ".join(f"{taken.budget.nodes} for {' and '.join(taken.reasons)}" for taken in overridden)
    count = len(layer.value) if isinstance(layer.value, list) else 0
    is_gone = len(overridden) == count and all(taken.is_complete for taken in overridden)
    outcome = LayerOutcome.REPLACED if is_gone else LayerOutcome.MERGED
    return layer._replace(outcome=outcome, note=f"overridden by maintenance: {listed}")


def _is_in_force(layer: LayerValue) -> bool:
    return layer.outcome in (LayerOutcome.WINS, LayerOutcome.MERGED)
