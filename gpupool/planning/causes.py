"""Causes of a rendered object's values: the blueprint's lines, layers and fields that they come from.

A value follows from the place that it is read from and, if it is calculated, from further inputs. Which input
changed is known from the texts of the inputs at the last apply, which the inventory keeps.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.blueprint.pool import PLUGIN_CONFIG_LABEL, Instances
from gpupool.blueprint.targets import MANUFACTURER_LABELS, NAME_LABELS
from gpupool.karpenter import labels
from gpupool.planning.blueprint_index import NODE_CLASS, find_effective, is_shipped
from gpupool.planning.input_texts import find_changed_places, format_input
from gpupool.planning.masking import is_secret_name
from gpupool.planning.ownership import is_equal
from gpupool.planning.plan import BlueprintCause, BlueprintPlace
from gpupool.yamlio.located import Located, find, leaves, mapping, place, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gpupool.findings import Location
    from gpupool.planning.blueprint_index import BlueprintIndex, FieldPath, IndexedValue, Layer, Owner
    from gpupool.planning.compare import Difference, LeafPath
    from gpupool.yamlio.located import Plain

BUILT_IN: Final = "built-in"
_BUILT_IN_NOTES: Final = (BUILT_IN, "guard of", "Karpenter's default")
_OWN_LABELS: Final = ("metadata", "labels")

_POOL_INPUTS: Final = (
    "profile", "accelerator", "capacity", "zones", "arch", "os", "weight", "requirements", "nodeClass",
)  # fmt: skip
_POOL_MAPS: Final = ("instances", "limits")
_POOL_NESTED: Final = (
    ("sharing", "timeSlicing"), ("disruption", "maintenance"), ("disruption", "protect"),
    ("disruption", "budgets"),
)  # fmt: skip
_CLASS_INPUTS: Final = ("ami", "amiFamily", "amiSelectorTerms")
_CLUSTER_INPUTS: Final = ("name", "region", "timezone", "zones", "karpenter", "catalogue")
_OVERLAY_INPUTS: Final = frozenset({"profile", "accelerator", "requirements", "instances", "sharing"})
"""The inputs of the overlays that a pool with sharing has."""

_REQUIREMENT_FIELDS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    labels.ARCH: (("arch",),),
    labels.OS: (("os",),),
    labels.CAPACITY_TYPE: (("capacity",),),
    labels.ZONE: (("zones",), ("cluster", "zones")),
    labels.ZONE_ID: (("zones",), ("cluster", "zones")),
    **dict.fromkeys((*NAME_LABELS, *MANUFACTURER_LABELS), (("accelerator",),)),
    **{
        label: (("instances", name),)
        for name, label in ((key, row.label) for key, row in Instances.rows.items())
    },
    labels.INSTANCE_GPU_COUNT: (("instances", "gpus"), ("accelerator",)),
    labels.INSTANCE_ACCELERATOR_COUNT: (("accelerator",),),
}
_CLASS_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "amiSelectorTerms": ("ami",),
    "subnetSelectorTerms": ("subnets",),
    "securityGroupSelectorTerms": ("securityGroups",),
    "capacityReservationSelectorTerms": ("reservations",),
    "blockDeviceMappings": ("disk", "osDisk"),
}
_NAMED_ITEM: Final = re.compile(r"(?:requirements|aints)\[key=([^,\]]+)")
_TEMPLATE: Final = ("spec", "template", "spec")
_TEMPLATE_METADATA: Final = ("spec", "template", "metadata")


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
        if "profile" in self.changed_inputs and (not is_own or _is_below_pool(first)):
            yield from self._describe_inputs(["profile"])
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
        fields = [".".join(path) for path in self._find_fields(keys)]
        own = [name for name in fields if name in self.changed_inputs]
        return own or [name for name in self.changed_inputs if _is_relevant(name, keys)]

    def _find_removed_causes(self, keys: LeafPath) -> Iterator[BlueprintCause]:
        """Yield the causes of a value that the object no longer has: the fields that would set it."""
        fields = list(self._find_fields(keys))
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
            yield self._at(profile, "pool", "profile")
        else:
            yield self.find_cause(keys)

    def _describe_inputs(self, names: Iterable[str]) -> Iterator[BlueprintCause]:
        """Yield the causes of inputs, each at the scalars that changed."""
        by_profile = "profile" in self.changed_inputs
        for input_name in names:
            name = input_name
            item, old = self._inputs.get(name), self.old_inputs.get(name)
            if by_profile and (item is None or _is_low(item.layer)):
                item, old, name = self._inputs.get("profile"), self.old_inputs.get("profile"), "profile"
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
        if path == ("profile",):
            profile = self.index.find_profile(self.owner)
            return None if profile is None else Input("pool", path, profile)
        if path[:1] == ("cluster",):
            effective = find_effective(self.index.find_cluster(), path[1:])
        elif self.owner.is_class and path[:1] == (NODE_CLASS,):
            effective = find_effective(self._layers, path[1:])
        else:
            effective = find_effective(self._layers, path)
        if effective is None or (len(path) == 1 and path[0] == "cluster"):
            return None
        return Input(effective[0].name, path, effective[1])

    @cached_property
    def _layers(self) -> tuple[Layer, ...]:
        return self.index.find_layers(self.owner)

    @cached_property
    def _inputs(self) -> Mapping[str, Input]:
        inputs = (self._find_input(path) for path in self._list_inputs())
        return {item.name: item for item in inputs if item is not None and _is_input(item)}

    def _list_inputs(self) -> Iterator[FieldPath]:
        yield from (("cluster", name) for name in _CLUSTER_INPUTS)
        if self.owner.section == "pools" and not self.owner.is_class:
            yield from self._list_pool_inputs()
        elif self.owner.section != "nodeOverlays":
            prefix = (NODE_CLASS,) if self.owner.is_class else ()
            yield ("profile",)
            yield from ((*prefix, name) for name in _CLASS_INPUTS)

    def _list_pool_inputs(self) -> Iterator[FieldPath]:
        is_overlay = self.kind == "NodeOverlay"
        maps = {
            name: dict.fromkeys(key for layer in self._layers for key in mapping(find(layer.node, name)))
            for name in _POOL_MAPS
        }
        paths = [
            *((name,) for name in _POOL_INPUTS),
            *((name, key) for name, keys in maps.items() for key in keys),
            *_POOL_NESTED,
        ]
        for path in paths:
            if not is_overlay or path[0] in _OVERLAY_INPUTS:
                yield path
        limits = find_effective(self._layers, ("limits",))
        if not is_overlay and limits is not None and isinstance(limits[1].value, str):
            yield ("limits",)

    def _find_fields(self, keys: LeafPath) -> Iterator[FieldPath]:
        """Yield the fields that can set a value of the object, the likeliest first."""
        if self.kind == "EC2NodeClass":
            prefix = (NODE_CLASS,) if self.owner.is_class else ()
            names = _CLASS_FIELDS.get(str(keys[1]), ()) if len(keys) > 1 else ()
            yield from ((*prefix, name) for name in names)
            if keys[:1] == ("spec",):
                yield (*prefix, *_text_keys(keys[1:]))
            return
        if self.kind == "NodeOverlay":
            if self.owner.section == "nodeOverlays":
                yield _text_keys(keys[1:])
            else:
                yield ("sharing", "timeSlicing")
            return
        yield from self._find_pool_fields(keys)

    def _find_pool_fields(self, keys: LeafPath) -> Iterator[FieldPath]:
        if keys[: len(_TEMPLATE)] == _TEMPLATE:
            yield from _find_template_fields(keys[len(_TEMPLATE) :])
        elif keys[: len(_TEMPLATE_METADATA)] == _TEMPLATE_METADATA:
            yield _text_keys(keys[len(_TEMPLATE_METADATA) :])
            yield from [("doNotDisrupt",)] if labels.DO_NOT_DISRUPT in keys else []
            yield from [("sharing", "timeSlicing")] if PLUGIN_CONFIG_LABEL in keys else []
        elif keys[:3] == ("spec", "disruption", "budgets"):
            yield from (("disruption", name) for name in ("maintenance", "protect", "budgets"))
        elif keys[:2] == ("spec", "limits"):
            yield from [("limits",)] if self._is_share() else []
            yield from (("limits", name) for name in (*_text_keys(keys[2:]), "gpus", "usdPerHour"))
        else:
            yield _text_keys(keys[1:] if keys[:1] == ("spec",) else keys)

    def _is_share(self) -> bool:
        limits = find_effective(self._layers, ("limits",))
        return limits is not None and isinstance(limits[1].value, str)


def find_all_causes(causes: ObjectCauses, changed: Sequence[Difference]) -> list[LeafCauses]:
    """Return the causes of each difference; an item of a list that replaces another is compared with it."""
    pairs = _pair_items(changed)
    found: dict[int, LeafCauses] = {}
    for index, leaf in enumerate(changed):
        if leaf.op != "remove":
            other = pairs.get(index)
            paired = None if other is None else changed[other].before
            found[index] = causes.find_causes(ChangedValue(leaf.keys, name_keys(leaf), paired=paired))
    for index, leaf in enumerate(changed):
        if index not in found:
            other = pairs.get(index)
            found[index] = (
                causes.find_causes(ChangedValue(leaf.keys, name_keys(leaf), is_removed=True))
                if other is None
                else found[other]
            )
    return [found[index] for index in range(len(changed))]


def _pair_items(changed: Sequence[Difference]) -> dict[int, int]:
    """Return which removed item of a list is replaced by which added one, and the other way round."""
    lists: dict[str, dict[str, list[int]]] = {}
    for index, leaf in enumerate(changed):
        if leaf.op != "replace" and leaf.path.endswith("]") and isinstance(leaf.keys[-1], int):
            by_op = lists.setdefault(leaf.path.rpartition("[")[0], {"add": [], "remove": []})
            by_op[leaf.op].append(index)
    pairs: dict[int, int] = {}
    for by_op in lists.values():
        for added, removed in zip(by_op["add"], by_op["remove"], strict=False):
            pairs[added], pairs[removed] = removed, added
    return pairs


def _is_input(item: Input) -> bool:
    """Return whether a field is an input: it is set, is not sensitive, and is not a class of its own."""
    if item.node.value is None or is_secret_name(item.name):
        return False
    return item.field != (NODE_CLASS,) or isinstance(item.node.value, str)


def _is_relevant(name: str, keys: LeafPath) -> bool:
    """Return whether a value of an object can follow from an input."""
    if name == "profile":
        return True
    if keys[:2] == ("spec", "disruption"):
        return name.startswith("disruption.") or name == "cluster.timezone"
    if keys[:2] == ("spec", "weight"):
        return name == "weight"
    if name.startswith("limits"):
        return keys[:2] == ("spec", "limits")
    return name != "weight" and not name.startswith("disruption.") and name != "cluster.timezone"


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


def name_keys(leaf: Difference) -> LeafPath:
    """Return the path of a difference with the key of a requirement or taint in place of its number."""
    names = _NAMED_ITEM.findall(leaf.path)
    index = next((index for index, key in enumerate(leaf.keys) if isinstance(key, int)), None)
    if not names or index is None:
        return leaf.keys
    return (*leaf.keys[:index], names[0], *leaf.keys[index + 1 :])


def _find_template_fields(below: LeafPath) -> Iterator[FieldPath]:
    """Yield the fields that can set a value under a pool's `spec.template.spec`."""
    if below[:1] == ("requirements",):
        label = str(below[1]) if len(below) > 1 else ""
        yield from _REQUIREMENT_FIELDS.get(label, ())
        yield from (("requirements", label), ("requirements",))
    elif below[:1] == ("nodeClassRef",):
        yield from (("nodeClassRef", *_text_keys(below[1:])), (NODE_CLASS,))
    else:
        yield _text_keys(below)


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


def _text_keys(keys: LeafPath) -> FieldPath:
    """Return a path up to the first list."""
    path: list[str] = []
    for key in keys:
        if isinstance(key, int):
            break
        path.append(key)
    return tuple(path)


def to_place(at: Location) -> BlueprintPlace:
    """Return a location as a place of a plan."""
    return BlueprintPlace(at.file, at.line, at.column)
