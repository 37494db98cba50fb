"""Building of located values from libyaml's events, with findings for what the dialect does not allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, TypeAlias

from yaml import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from gpupool.codes import Code
from gpupool.findings import Finding, Location
from gpupool.yamlio.dialect import BLUEPRINT, Dialect
from gpupool.yamlio.frames import AnchoredValue, OpenCollection
from gpupool.yamlio.located import Located
from gpupool.yamlio.scalars import Reading, quote_value, suggest_quotes

if TYPE_CHECKING:
    from collections.abc import Callable

    from yaml import Event, Mark
    from yaml._yaml import Mark as CMark

    from gpupool.yamlio.dialect import KeyValue


_Key: TypeAlias = "tuple[KeyValue, str | None]"
"""The value of a key and, where it is not a string, its text in the file."""

MERGE_TAG = "tag:yaml.org,2002:merge"
MAX_FINDINGS = 1_000
MAX_DOCUMENTS = 100
"""Limit on empty documents; only one with a value is allowed."""


class StopError(Exception):
    """The rest of the file can't or must not be read; `finding` holds the reason."""

    def __init__(self, finding: Finding) -> None:
        """Store the reason."""
        super().__init__()
        self.finding = finding


class TreeBuilder:
    """Builds the located values of one file, event by event; `root` and `findings` are the result."""

    def __init__(self, file: str, dialect: Dialect = BLUEPRINT, first_line: int = 1) -> None:
        """Start with an empty file; `first_line` is the line of the file on which the text begins."""
        self.root: Located | None = None
        self.findings: list[Finding] = []
        self.count = 0
        """The number of values so far, without keys and with every alias expanded."""

        self._file = file
        self._dialect = dialect
        self._first_line = first_line
        self._stack: list[OpenCollection] = []
        self._anchors: dict[str, AnchoredValue | OpenCollection] = {}
        self._readings: dict[str, Reading] = {}
        self._key_readings: dict[str, Reading] = {}
        self._documents = 0
        self._document_at = Location(file, 1, 1)

    def run(self, next_event: Callable[[], Event | None]) -> None:
        """Process all events.

        Raises:
            StopError: when the rest must not be read.
        """
        steps: dict[type, Callable[..., None]] = {
            ScalarEvent: self._add_scalar,
            MappingStartEvent: self._start_collection,
            SequenceStartEvent: self._start_collection,
            MappingEndEvent: self._end_collection,
            SequenceEndEvent: self._end_collection,
            AliasEvent: self._add_alias,
            DocumentStartEvent: self._start_document,
        }
        while (event := next_event()) is not None:
            step = steps.get(type(event))
            if step is not None:
                step(event)

    def _start_document(self, event: DocumentStartEvent) -> None:
        self._document_at = self._locate(event.start_mark)
        self._documents += 1
        if self._documents > MAX_DOCUMENTS:
            fix = "keep one document"
            self._stop(f"more than {MAX_DOCUMENTS} documents in the file", self._document_at, fix)

    def _add_scalar(self, event: ScalarEvent) -> None:
        at = self._locate(event.start_mark)
        parent = self._stack[-1] if self._stack else None
        is_key = parent is not None and parent.is_key_next()
        reading = self._read(event, at, is_key=is_key)
        value = reading.value
        spelled = None if type(value) is str else event.value
        if event.anchor is not None:
            self._anchors[event.anchor] = AnchoredValue(Located(value, at, None, spelled))
        if parent is None:
            self._add_root_scalar(event, Located(value, at, None, spelled))
        elif is_key:
            if event.value == "<<" and (event.implicit[0] or event.tag == MERGE_TAG):
                self._start_merge(parent, at)
            else:
                self._set_key(parent, (value, spelled), at, is_rejected=bool(reading.code))
        else:
            node = Located(value, at, parent.key_at, spelled)
            if parent.merge_at is not None:
                self._merge(parent, node)
            self._attach(parent, node)

    def _add_root_scalar(self, event: ScalarEvent, node: Located) -> None:
        """Add a document that is one scalar, unless it is empty."""
        if event.value or not event.implicit[0] or event.anchor is not None:
            self._attach(None, node)

    def _read(self, event: ScalarEvent, at: Location, *, is_key: bool) -> Reading:
        text = event.value
        if event.tag is None and not event.implicit[0]:
            return Reading(text)
        cached = self._key_readings if is_key else self._readings
        reading = cached.get(text) if event.tag is None else None
        if reading is None:
            dialect = self._dialect
            reading = dialect.read_plain(text) if event.tag is None else dialect.read_tagged(event.tag, text)
            if not (is_key or reading.code or type(reading.value) is str):
                reading = dialect.convert_value(reading.value, text)
            if event.tag is None:
                cached[text] = reading
        if reading.code:
            fix = suggest_quotes(text) if is_key and reading.code == Code.AMBIGUOUS_SCALAR else reading.fix
            self._report(reading.code, reading.problem, at, fix)
        return reading

    def _start_collection(self, event: MappingStartEvent | SequenceStartEvent) -> None:
        at = self._locate(event.start_mark)
        deepest = self._dialect.limits.depth
        if len(self._stack) >= deepest:
            self._stop(f"more than {deepest} nested maps and lists", at, "reduce the nesting")
        is_map = type(event) is MappingStartEvent
        if event.tag is not None and (problem := self._dialect.check_tag(event.tag, is_map)):
            self._report(self._dialect.syntax, problem, at, "remove the tag")
        parent = self._stack[-1] if self._stack else None
        entries: dict[str, Located] = {}
        items: list[Located] | None = None if is_map else []
        node = Located(entries if items is None else items, at, _next_key_location(parent))
        is_key = parent is not None and parent.is_key_next()
        opened = OpenCollection(
            node, items, entries, self.count, bool(event.flow_style), is_key, event.anchor
        )
        if parent is not None and is_key:
            self._reject_collection_key(parent, opened)
        else:
            self._attach(parent, node)
            opened.is_merged = parent is not None and parent.merge_at is not None
        if event.anchor:
            self._anchors[event.anchor] = opened
        self._stack.append(opened)

    def _end_collection(self, _event: Event) -> None:
        closed = self._stack.pop()
        if closed.anchor and self._anchors[closed.anchor] is closed:
            size = self.count - closed.values_before
            self._anchors[closed.anchor] = AnchoredValue(closed.node, size, closed.height)
        if not self._stack:
            return
        parent = self._stack[-1]
        parent.height = max(parent.height, closed.height + 1)
        if closed.is_key:
            parent.key, parent.key_at = None, closed.node.at
        if closed.is_merged:
            self._merge(parent, closed.node)

    def _add_alias(self, event: AliasEvent) -> None:
        at = self._locate(event.start_mark)
        anchored = self._anchors.get(event.anchor or "")
        alias = f"the alias *{(event.anchor or '')[:40]}"
        if anchored is None:
            self._stop(f"{alias} has no anchor above it", at, "put it in quotes if it is a string")
        if isinstance(anchored, OpenCollection):
            self._stop(f"{alias} refers to the map or list that contains it", at, "remove the alias")
        deepest = self._dialect.limits.depth
        if len(self._stack) + anchored.height > deepest:
            message = f"{alias} makes more than {deepest} nested maps and lists"
            self._stop(message, at, "use fewer aliases")
        self._expand_alias(anchored, at)

    def _expand_alias(self, anchored: AnchoredValue, at: Location) -> None:
        parent = self._stack[-1] if self._stack else None
        if parent is not None and parent.is_key_next():
            self._set_key(parent, (anchored.node.value, anchored.node.text), at)
            return
        original = anchored.node
        node = Located(original.value, original.at, _next_key_location(parent), original.text)
        if parent is not None:
            parent.height = max(parent.height, anchored.height + 1)
            if parent.merge_at is not None:
                self._merge(parent, node, is_alias=True)
        self._attach(parent, node, anchored.size, at)

    def _attach(
        self, parent: OpenCollection | None, node: Located, size: int = 1, at: Location | None = None
    ) -> None:
        """Add a value as the root, at the end of a list, or under the last key."""
        self.count += size
        if self.count > self._dialect.limits.nodes:
            message = f"more than {self._dialect.limits.nodes:,} values in the file, aliases expanded"
            self._stop(message, at or node.at, "split the file, or use fewer aliases")
        if parent is None:
            self._set_root(node)
        elif parent.items is not None:
            parent.items.append(node)
        else:
            if parent.key is not None:
                parent.entries[parent.key] = node
            parent.key_at = None

    def _set_root(self, node: Located) -> None:
        if self.root is not None:
            self._stop(
                "a second document in the file",
                self._document_at,
                "keep one document, and move the other to its own file",
            )
        self.root = node

    def _set_key(self, parent: OpenCollection, key: _Key, at: Location, *, is_rejected: bool = False) -> None:
        """Set the next key; one that is not a string becomes its text, a null or a collection is dropped."""
        parent.key_at = at
        parent.key = (
            key[0] if isinstance(key[0], str) else self._convert_key(key, at, is_rejected=is_rejected)
        )
        if parent.key in parent.entries:
            self._report_duplicate(parent, parent.key or "", at)
            parent.key = parent.key if self._dialect.is_last_key_kept else None

    def _convert_key(self, key: _Key, at: Location, *, is_rejected: bool) -> str | None:
        """Convert a key that is not a string; return None where its value has to be dropped."""
        reading = self._dialect.convert_key(*key)
        if reading.code and not is_rejected:
            self._report(reading.code, reading.problem, at, reading.fix)
        return reading.value if isinstance(reading.value, str) else None

    def _report_duplicate(self, parent: OpenCollection, key: str, at: Location) -> None:
        first = parent.entries[key].key
        line = first.line if first else 0
        message = f"duplicate key {quote_value(key)}; the first is on line {line}"
        self._report(self._dialect.duplicate_key, message, at, "remove one of them")

    def _start_merge(self, parent: OpenCollection, at: Location) -> None:
        parent.key, parent.key_at = None, at
        if self._dialect.has_merge_keys:
            parent.merge_at = at
            return
        message = "the merge key `<<` does not exist in YAML 1.2"
        self._report(self._dialect.syntax, message, at, "repeat the fields, or move them to a profile")

    def _merge(self, parent: OpenCollection, node: Located, *, is_alias: bool = False) -> None:
        """Merge the entries of one or more maps over those that the map has already."""
        at, parent.merge_at = parent.merge_at or node.at, None
        if not is_mergeable(node, is_alias=is_alias):
            message = "the merge key `<<` requires a map or a list of maps"
            self._report(self._dialect.syntax, message, at, "use an alias of a map, or remove it")
        for source in find_merge_sources(node, is_alias=is_alias):
            for key in source.keys() & parent.entries.keys():
                self._report_duplicate(parent, key, at)
            parent.entries.update(source)

    def _reject_collection_key(self, parent: OpenCollection, key: OpenCollection) -> None:
        at, outer = key.node.at, parent.node.at
        if parent.is_flow and key.is_flow and (at.line, at.column) == (outer.line, outer.column + 1):
            message = f"`{{{{` starts a map inside a map; a {self._dialect.noun} is not a template"
            self._report(
                self._dialect.syntax, message, outer, "put the string in quotes, or write the value itself"
            )
        else:
            message = f"a {'map' if key.items is None else 'list'} can't be a key"
            fix = "use a string as the key; quote it if it starts with a bracket"
            self._report(self._dialect.syntax, message, at, fix)

    def _report(self, code: str, message: str, at: Location, fix: str) -> None:
        self.findings.append(Finding(code, message, at, fix))
        if len(self.findings) >= MAX_FINDINGS:
            self._stop(f"more than {MAX_FINDINGS:,} errors; the rest is not read", at, "fix these first")

    def _stop(self, message: str, at: Location, fix: str) -> NoReturn:
        raise StopError(Finding(self._dialect.syntax, message, at, fix))

    def _locate(self, mark: Mark | CMark | None) -> Location:
        # `_make` with a tuple takes half the time of a call with arguments, and this is called most often.
        return Location._make(
            (self._file, mark.line + self._first_line, mark.column + 1) if mark else (self._file, 0, 0)
        )


def _next_key_location(parent: OpenCollection | None) -> Location | None:
    return parent.key_at if parent is not None else None


def find_merge_sources(node: Located, *, is_alias: bool) -> list[dict[str, Located]]:
    """Find the maps to merge, in the order of precedence, the strongest last; none for an invalid value.

    As in go-yaml, a list of maps is allowed, but not an alias of one.
    """
    if isinstance(node.value, dict):
        return [node.value]
    if not isinstance(node.value, list) or is_alias:
        return []
    maps = [item.value for item in reversed(node.value) if isinstance(item.value, dict)]
    return maps if len(maps) == len(node.value) else []


def is_mergeable(node: Located, *, is_alias: bool) -> bool:
    """Return whether `<<` accepts this value."""
    return (node.value == [] and not is_alias) or bool(find_merge_sources(node, is_alias=is_alias))
