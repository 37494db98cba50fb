"""Causes of a rendered object's values: the blueprint's lines, layers and fields that they come from.

A value follows from the place that it is read from and, if it is calculated, from further inputs. Which input
changed is known from the texts of the inputs at the last apply, which the inventory keeps.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.blueprint.model import Blueprint
from gpupool.planning.blueprint_index import NODE_CLASS, find_effective, is_shipped
from gpupool.planning.input_fields import PROFILE, find_fields, is_relevant, list_inputs
from gpupool.planning.input_texts import find_changed_places, format_input
from gpupool.planning.masking import is_secret_name
from gpupool.planning.ownership import is_equal
from gpupool.planning.plan import BlueprintCause, BlueprintPlace
from gpupool.yamlio.located import Located, leaves, place, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gpupool.findings import Location
    from gpupool.planning.blueprint_index import BlueprintIndex, FieldPath, IndexedValue, Layer, Owner
    from gpupool.planning.compare import LeafPath
    from gpupool.yamlio.located import Plain

BUILT_IN: Final = "built-in"
_BUILT_IN_NOTES: Final = (BUILT_IN, "guard of", "Karpenter's default")
_PROFILE: Final = ".".join(PROFILE)
_CLUSTER: Final = Blueprint.cluster.key
_OWN_LABELS: Final = ("metadata", "labels")


class Input(NamedTuple):
    """A field of the blueprint with its effective value."""

    layer: str
    field: FieldPath
    node: Located

    @property
    def name(self) -> str:
        """Return the field as users write it."""
        return ".".join(self.field)


class LeafCauses(NamedTuple):
    """The causes of one changed value."""

    causes: tuple[BlueprintCause, ...]
    is_calculated: bool
    """Whether the value is not the one in the blueprint, but calculated from it."""


class ChangedValue(NamedTuple):
    """A value of an object that differs from the live one."""

    keys: LeafPath
    named_keys: LeafPath
    """The same path with the key of a requirement or taint in place of its number."""

    is_removed: bool = False
    paired: Plain = None
    """The item of a list that an added item replaces."""


NO_CAUSES: Final = LeafCauses((), is_calculated=False)


@dataclass
class ObjectCauses:
    """The causes of the values of one rendered object."""

    index: BlueprintIndex
    owner: Owner
    kind: str
    body: Located
    source: Located
    """The part of the blueprint that declares the object."""

    old_inputs: Mapping[str, str] = field(default_factory=dict)
    """The texts of the inputs at the last apply; empty where they are not known."""

    @cached_property
    def inputs(self) -> Mapping[str, str]:
        """The short text of each input of the object's calculated values, by field."""
        return {name: format_input(item.node) for name, item in self._inputs.items()}

    @cached_property
    def changed_inputs(self) -> Mapping[str, Input | None]:
        """The inputs that differ from those at the last apply; None for one that is no longer set."""
        if not self.old_inputs:
            return {}
        names = dict.fromkeys([*self.inputs, *self.old_inputs])
        return {
            name: self._inputs.get(name)
            for name in names
            if self.inputs.get(name) != self.old_inputs.get(name)
        }

    def find_causes(self, changed: ChangedValue) -> LeafCauses:
        """Return the causes of a value that differs."""
        keys = changed.named_keys
        node = None if changed.is_removed else _follow(self.body, changed.keys)
        if node is None:
            if not changed.is_removed and _is_own_label(keys):
                return LeafCauses((self.find_cause(keys),), is_calculated=False)
            return LeafCauses(_distinct(self._find_removed_causes(keys)), is_calculated=True)
        parts = [part for _, part in leaves(node)]
        also = {id(item): item for part in [node, *parts] for item in part.also}
        notes = {part.note for part in [node, *parts]}
        is_calculated = bool(also) or any(note and not note.startswith(BUILT_IN) for note in notes)
        is_calculated = is_calculated or self._is_converted(parts)
        primary = list(_find_differing(node, changed.paired)) or [parts[0] if len(parts) == 1 else node]
        causes = self._select(primary, [*also.values()], keys)
        return LeafCauses(_distinct(causes), is_calculated)

    def find_cause(self, keys: LeafPath) -> BlueprintCause:
        """Return the cause of a value of the object, or that of its nearest parent."""
        node = self.body
        for key in keys:
            inner = _follow(node, (key,))
            if inner is None:
                break
            node = inner
        if _is_own_label(keys) and self.index.name is not None:
            return self._at(self.index.name, "blueprint", "metadata.name")
        return self._describe(node, is_built_in=_is_built_in(node.note))

    def _is_converted(self, parts: Sequence[Located]) -> bool:
        """Return whether a single value has another form than in the blueprint, as a share of a limit has."""
        if self.kind == "NodeOverlay" and self.owner.section == "pools":
            return True
        value = self._find_value(parts[0])
        return len(parts) == 1 and value is not None and format_input(value.node) != format_input(parts[0])

    def _select(
        self, primary: Sequence[Located], also: Sequence[Located], keys: LeafPath
    ) -> Iterator[BlueprintCause]:
        """Yield the causes that changed since the last apply, or the primary ones where nothing tells."""
        names = dict.fromkeys(self._name(node) for node in [*primary, *also])
        changed = [name for name in names if name in self.changed_inputs]
        if changed:
            yield from self._describe_inputs(changed)
            return
        first, name = self._find_value(primary[0]), self._name(primary[0])
        is_own = name != "" and not _is_built_in(primary[0].note)
        unknown = [node for node in also if self.old_inputs and self._name(node) not in self.inputs]
        likely = self._find_likely(keys)
        if _PROFILE in self.changed_inputs and (not is_own or _is_below_pool(first)):
            yield from self._describe_inputs([_PROFILE])
        elif likely and (name in self.inputs or not is_own):
            yield from self._describe_inputs(likely)
        else:
            # Of a value whose own field did not change, the other inputs are the cause.
            nodes = unknown if unknown and name in self.inputs else primary
            yield from (self._describe(node, is_built_in=_is_built_in(node.note)) for node in nodes)

    def _name(self, node: Located) -> str:
        """Return the field that a value is read from; empty where it is none."""
        value = self._find_value(node)
        return "" if value is None else ".".join(value.field)

    def _find_likely(self, keys: LeafPath) -> list[str]:
        """Return the changed inputs that a value can follow from, those that set it by themselves first."""
        fields = [".".join(path) for path in find_fields(self.kind, self.owner, self._layers, keys)]
        own = [name for name in fields if name in self.changed_inputs]
        return own or [name for name in self.changed_inputs if is_relevant(name, keys)]

    def _find_removed_causes(self, keys: LeafPath) -> Iterator[BlueprintCause]:
        """Yield the causes of a value that the object no longer has: the fields that would set it."""
        fields = list(find_fields(self.kind, self.owner, self._layers, keys))
        names = [".".join(path) for path in fields]
        changed = [name for name in names if name in self.changed_inputs]
        if changed:
            yield from self._describe_inputs(changed)
            return
        for path in fields:
            item = self._find_input(path)
            # An input that did not change is not the cause, where others did.
            if item is not None and not (self._find_likely(keys) and item.name in self.inputs):
                yield self._describe_field(item)
                return
        if likely := self._find_likely(keys):
            yield from self._describe_inputs(likely)
            return
        parents = [path[:length] for path in fields for length in range(len(path) - 1, 0, -1)]
        for path in parents:
            if (item := self._find_input(path)) is not None:
                yield self._describe_field(item)
                return
        profile = self.index.find_profile(self.owner)
        if profile is not None:
            yield self._at(profile, "pool", _PROFILE)
        else:
            yield self.find_cause(keys)

    def _describe_inputs(self, names: Iterable[str]) -> Iterator[BlueprintCause]:
        """Yield the causes of inputs, each at the scalars that changed."""
        by_profile = _PROFILE in self.changed_inputs
        for input_name in names:
            name = input_name
            item, old = self._inputs.get(name), self.old_inputs.get(name)
            if by_profile and (item is None or _is_low(item.layer)):
                item, old, name = self._inputs.get(_PROFILE), self.old_inputs.get(_PROFILE), _PROFILE
            if item is None:
                yield self._describe_missing(name)
            elif old is None or is_shipped(item.node.at):
                yield self._describe_field(item)
            else:
                for at in find_changed_places(item.node, old):
                    yield BlueprintCause(to_place(at), item.layer, name)

    def _describe_missing(self, name: str) -> BlueprintCause:
        """Return the cause of an input that is no longer set: its nearest parent, or else the profile."""
        if (item := self._find_input((name.partition(".")[0],))) is not None:
            return replace(self._describe_field(item), field=name)
        profile = self.index.find_profile(self.owner)
        return self._at(profile or self.source, "pool" if profile is not None else BUILT_IN, name)

    def _describe_field(self, item: Input) -> BlueprintCause:
        if is_shipped(item.node.at):
            return self._describe_shipped(item.node.at, item.layer, item.name)
        return self._at(item.node, item.layer, item.name)

    def _describe(self, node: Located, *, is_built_in: bool) -> BlueprintCause:
        """Return the cause of a rendered value: where it is read from."""
        value = self._find_value(node)
        name = "" if value is None else ".".join(value.field)
        layer = BUILT_IN if is_built_in or value is None else value.layer
        if node.at.file == BUILT_IN:
            return self._at(self.source, BUILT_IN, name)
        if is_shipped(node.at):
            return self._describe_shipped(node.at, "" if value is None else value.layer, name)
        at = place(node) if value is None or value.node.at != node.at else place(value.node)
        return BlueprintCause(to_place(at), layer, name)

    def _describe_shipped(self, at: Location, layer: str, name: str) -> BlueprintCause:
        """Return the cause of a value of a shipped profile: the pool's `profile`."""
        profile = self.index.find_profile(self.owner) or self.source
        return self._at(profile, f"{layer or 'profile'} (line {at.line})", name)

    def _at(self, node: Located, layer: str, name: str) -> BlueprintCause:
        return BlueprintCause(to_place(place(node)), layer, name)

    def _find_value(self, node: Located) -> IndexedValue | None:
        """Return the value at a location; of several, the one in the object's own pool or class."""
        values = self.index.find_values(node.at)
        own = [value for value in values if value.home == self.owner.name]
        shared = [value for value in values if not value.home]
        return next(iter([*own, *shared, *values]), None)

    def _find_input(self, path: FieldPath) -> Input | None:
        """Return the effective value of a field, which may be null."""
        if path == PROFILE:
            profile = self.index.find_profile(self.owner)
            return None if profile is None else Input("pool", path, profile)
        if path[:1] == (_CLUSTER,):
            effective = find_effective(self.index.find_cluster(), path[1:])
        elif self.owner.is_class and path[:1] == (NODE_CLASS,):
            effective = find_effective(self._layers, path[1:])
        else:
            effective = find_effective(self._layers, path)
        if effective is None or (len(path) == 1 and path[0] == _CLUSTER):
            return None
        return Input(effective[0].name, path, effective[1])

    @cached_property
    def _layers(self) -> tuple[Layer, ...]:
        return self.index.find_layers(self.owner)

    @cached_property
    def _inputs(self) -> Mapping[str, Input]:
        inputs = (self._find_input(path) for path in list_inputs(self.kind, self.owner, self._layers))
        return {item.name: item for item in inputs if item is not None and _is_input(item)}


def _is_input(item: Input) -> bool:
    """Return whether a field is an input: it is set, is not sensitive, and is not a class of its own."""
    if item.node.value is None or is_secret_name(item.name):
        return False
    return item.field != (NODE_CLASS,) or isinstance(item.node.value, str)


def _is_below_pool(value: IndexedValue | None) -> bool:
    """Return whether a profile can override the layer of a value, or is that layer."""
    return value is not None and _is_low(value.layer)


def _is_low(layer: str) -> bool:
    return layer.startswith("profile ") or layer == "defaults"


def _distinct(causes: Iterable[BlueprintCause]) -> tuple[BlueprintCause, ...]:
    return tuple(dict.fromkeys(causes))


def _find_differing(node: Located, before: Plain) -> Iterator[Located]:
    """Yield the leaves of an added item of a list that differ from the item that it replaces."""
    if not isinstance(before, dict | list) or not isinstance(node.value, dict | list):
        return
    for path, part in leaves(node):
        old: Plain = before
        for key in path:
            old = _step(old, key)
        if not is_equal(old, plain(part)):
            yield part


def _step(node: Plain, key: str | int) -> Plain:
    if isinstance(node, dict):
        return node.get(str(key))
    return node[key] if isinstance(node, list) and isinstance(key, int) and key < len(node) else None


def _follow(node: Located | None, keys: LeafPath) -> Located | None:
    for key in keys:
        if node is None:
            return None
        if isinstance(node.value, dict):
            node = node.value.get(str(key))
        elif isinstance(node.value, list) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
        else:
            return None
    return node


def _is_own_label(keys: LeafPath) -> bool:
    return keys[:2] == _OWN_LABELS and len(keys) > 2 and "gpupool.dev/blueprint" in keys  # noqa: PLR2004


def _is_built_in(note: str) -> bool:
    return note.startswith(_BUILT_IN_NOTES)


def to_place(at: Location) -> BlueprintPlace:
    """Return a location as a place of a plan."""
    return BlueprintPlace(at.file, at.line, at.column)
