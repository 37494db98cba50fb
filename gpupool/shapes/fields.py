"""Tables of fields: a class describes the fields of a map, and its instances read a map with its places.

A table is written once. Its attributes are what mypy checks wherever a field is read; `field_models` builds
the pydantic model from it that validates files, and `blueprint.merge_schema` the rules of merging. Importing
a table does not import pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeAlias, TypeVar, overload

from gpupool.yamlio.located import Located, items, mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Self

T = TypeVar("T")
PartT = TypeVar("PartT", bound="Fields")
ReadT = TypeVar("ReadT")

FieldTarget: TypeAlias = tuple[tuple[str, ...], str]
"""The path of a field in its item, and one rendered field or label key that it sets."""

TargetFinder: TypeAlias = "Callable[[Located], Iterator[FieldTarget]]"

_EMPTY: Final[dict[str, Located]] = {}


class Fields:
    """Base of the tables; an instance reads one map, or nothing where the map is absent."""

    __slots__ = ("_entries", "node")

    rows: ClassVar[Mapping[str, Row[Any]]] = {}
    """The fields by their key in the file."""

    _labelled: ClassVar[tuple[tuple[str, Row[Any]], ...]] = ()
    _copied: ClassVar[tuple[tuple[str, Row[Any]], ...]] = ()

    type_names: ClassVar[str] = ""
    """The module with the types that the annotations of the fields name."""

    inherits: ClassVar[str] = ""
    """A pydantic model, as `module:name`, with more fields, which are passed on to Karpenter as they are."""

    title: ClassVar[str] = ""
    """The title in the JSON Schema; by default the name of the class."""

    other_type: ClassVar[str] = ""
    """The type of the values under any other key; empty where other keys are invalid."""

    value_type: ClassVar[str] = ""
    """The type that the annotations call `Value`, for tables that differ only in it."""

    is_item: ClassVar[bool] = False
    """Whether `sets` of its fields counts: a field of one layer replaces other fields that set the same."""

    def __init__(self, node: Located | None) -> None:
        """Read a map; None reads as a map without fields."""
        self.node = node
        value = None if node is None else node.value
        self._entries = value if isinstance(value, dict) else _EMPTY

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = {row.key: row for row in vars(cls).values() if isinstance(row, Row)}
        inherited = (base.rows for base in reversed(cls.__mro__[1:]) if issubclass(base, Fields))
        cls.rows = {key: row for rows in (*inherited, own) for key, row in rows.items()}
        cls._labelled = tuple((key, row) for key, row in cls.rows.items() if row.label)
        cls._copied = tuple((key, row) for key, row in cls.rows.items() if row.to)

    def __bool__(self) -> bool:
        """Return whether the map is present and not null."""
        return self.node is not None and self.node.value is not None

    @property
    def here(self) -> Located:
        """Return the map, which has to be present, as the place of a finding."""
        if self.node is None:
            message = f"no {type(self).__name__} here"
            raise ValueError(message)
        return self.node

    def entries(self) -> dict[str, Located]:
        """Return all values that are present and not null, by key, also of keys that are not in the table."""
        return {key: node for key, node in self._entries.items() if node.value is not None}

    def copied(self) -> dict[str, Located]:
        """Return the values of the fields that a field of Karpenter's gets as they are, by its path."""
        return {
            row.to: row.convert(node) if row.convert else node
            for key, row in self._copied
            if (node := self.get(key)) is not None
        }

    def labelled(self) -> Iterator[tuple[Row[Any], Located]]:
        """Yield each field that constrains a node label and is set, with its value."""
        for key, row in self._labelled:
            node = self.get(key)
            if node is not None:
                yield row, node

    def get(self, key: str) -> Located | None:
        """Return the value of a key, for code about fields in general; None for an absent or null one."""
        node = self._entries.get(key)
        return None if node is None or node.value is None else node


class Row(Generic[ReadT]):
    """A field in a table, and how it is read from a map."""

    is_atomic: bool = False
    """Whether a value is replaced as a whole where layers are merged, even a map."""

    def __init__(  # noqa: PLR0913 - the columns of a table
        self, *, key: str = "", to: str = "", label: str = "", sets: tuple[str, ...] | TargetFinder = (),
        entries: str = "", since: str = "", gate: str = "", default: str | bool | None = None,
        hints: Mapping[str, str] | None = None, is_atomic: bool | None = None, is_required: bool = False,
        is_inherited: bool = False, convert: Callable[[Located], Located] | None = None,
    ) -> None:  # fmt: skip
        """Describe a field.

        - `key`: its key in the file; by default its name in camel case
        - `to`: the path of Karpenter's field that gets its value, converted by `convert`
        - `label`: the node label that it constrains
        - `sets`: the rendered fields and labels that it sets: a layer's field takes them from lower layers
        - `entries`: what each key of its map sets, as in `label`
        - `since`, `gate`: the first Karpenter minor with it, and its feature gate
        - `default`: gpupool's own value
        - `hints`: fixes for names that other tools have for it
        - `is_inherited`: it is a field of `inherits`, and in the table because expansion reads it
        """
        self.key = key
        self.to = to
        self.label = label
        self.sets = sets or ((f"requirement {label}",) if label else ())
        self.entries = entries
        self.since, self.gate = since, gate
        self.default = default
        self.hints = hints or {}
        self.convert = convert
        self.is_required, self.is_inherited = is_required, is_inherited
        if is_atomic is not None:
            self.is_atomic = is_atomic

    def __set_name__(self, owner: type[Fields], name: str) -> None:
        self.name = name
        first, *rest = name.rstrip("_").split("_")
        self.key = self.key or first + "".join(part.capitalize() for part in rest)

    @overload
    def __get__(self, fields: None, owner: type[Fields]) -> Self: ...
    @overload
    def __get__(self, fields: Fields, owner: type[Fields]) -> ReadT: ...
    def __get__(self, fields: Fields | None, owner: type[Fields]) -> Self | ReadT:
        """Return the field's value in a map, or the row itself from the class."""
        if fields is None:
            return self
        # As `Fields.get`, and not a call of it: a thousand pools read a quarter of a million fields.
        node = fields._entries.get(self.key)  # noqa: SLF001 - of the same module
        return self._read(None if node is None or node.value is None else node)

    def _read(self, node: Located | None) -> ReadT:
        """Return the value as its type; `node` is None where the map does not set it."""
        raise NotImplementedError

    def find_table(self) -> type[Fields] | None:
        """Return the table of the maps in this field; None where it has none."""
        return None


class One(Row["Located[T] | None"], Generic[T]):
    """A field with a single value."""

    def _read(self, node: Located | None) -> Located[T] | None:
        return node  # type: ignore[return-value] # the type was validated when the file was read


class Verbatim(Row["Located | None"], Generic[T]):
    """A field whose value is passed on as it is, in Karpenter's form or a chart's."""

    def _read(self, node: Located | None) -> Located | None:
        return node


def _listed(node: Located | None) -> list[Located]:
    """Return the items of a list, or a single value as one; nothing for None."""
    if node is None:
        return []
    return items(node) if isinstance(node.value, list) else [node]


class LocatedItems(Generic[T]):
    """The values of a field that can have several, with the field's own place."""

    __slots__ = ("node", "values")

    def __init__(self, node: Located | None) -> None:
        self.node = node
        self.values: list[Located[T]] = _listed(node)  # type: ignore[assignment] # validated when it was read

    def __iter__(self) -> Iterator[Located[T]]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def texts(self) -> list[str]:
        """Return the values as texts."""
        return [str(item.value) for item in self.values]


class Several(Row["LocatedItems[T]"], Generic[T]):
    """A field with one value or a list; a layer replaces it as a whole."""

    is_atomic = True

    def _read(self, node: Located | None) -> LocatedItems[T]:
        return LocatedItems(node)


class ListOf(Row["LocatedItems[T]"], Generic[T]):
    """A field with a list of values."""

    def _read(self, node: Located | None) -> LocatedItems[T]:
        return LocatedItems(node)


class MapOf(Row["LocatedMap[T]"], Generic[T]):
    """A field with a map whose keys are the user's."""

    def _read(self, node: Located | None) -> LocatedMap[T]:
        return LocatedMap(node)


class LocatedMap(Generic[T]):
    """The entries of a map, without nulls, with the map's own place."""

    __slots__ = ("entries", "node")

    def __init__(self, node: Located | None) -> None:
        self.node = node
        entries = {key: item for key, item in mapping(node).items() if item.value is not None}
        self.entries: dict[str, Located[T]] = entries  # type: ignore[assignment] # validated when it was read


class TableRow(Row[ReadT], Generic[ReadT, PartT]):
    """A field with maps that have a table of their own."""

    def __init__(self, table: type[PartT], **description: Any) -> None:  # noqa: ANN401 - as of Row
        """Describe a field; the description is that of `Row`."""
        super().__init__(**description)
        self.table = table

    def find_table(self) -> type[Fields]:
        """Return the table."""
        return self.table


class Part(TableRow[PartT, PartT]):
    """A field with a map that has a table of its own."""

    def _read(self, node: Located | None) -> PartT:
        return self.table(node)


class Parts(TableRow["list[PartT]", PartT], Generic[PartT]):
    """A field with a list of such maps, or with a single one."""

    def _read(self, node: Located | None) -> list[PartT]:
        return [self.table(item) for item in _listed(node)]


class ListOfParts(Parts[PartT]):
    """A field with a list of such maps."""


class TextOrPart(Part[PartT]):
    """A field with such a map, or with a text instead: a name, a share, the content of a file."""

    def __init__(self, table: type[PartT], *, text: str = "Text", **description: Any) -> None:  # noqa: ANN401 - as of Row
        """Describe a field; `text` is the type of its text, the rest as of `Row`."""
        super().__init__(table, **description)
        self.text = text


class TextsOrParts(Parts[PartT]):
    """A field with a text, with such a map, or with a list of both."""


class Named(TableRow["dict[str, PartT]", PartT], Generic[PartT]):
    """A field with such maps by name."""

    def _read(self, node: Located | None) -> dict[str, PartT]:
        return {name: self.table(item) for name, item in mapping(node).items() if item.value is not None}
