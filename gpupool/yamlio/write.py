"""Writing of YAML that YAML 1.1 and 1.2 readers, kubectl and Helm all read the same."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpupool.yamlio.quoting import format_block, format_comment, format_string

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpupool.yamlio.located import Plain

_MAX_SIMPLE_KEY = 1000
"""YAML allows 1024 characters for a simple key; longer ones need `? `."""

_INT_MIN, _INT_MAX = -(2**63), 2**64 - 1


def dump(data: Plain, header: Iterable[str] = ()) -> str:
    """Write one document in block style, keys in their order, after `header` as comment lines.

    Raises:
        ValueError: for a number that is not finite or has more than 64 bits, and for half a surrogate pair.
        TypeError: for a value of any other type.
    """
    return _format_comments(header) + _Emitter().write_document(data)


def dump_all(objects: Iterable[Plain], header: Iterable[str] = ()) -> str:
    """Write documents with `---` between them; raises the same errors as `dump`."""
    emitter = _Emitter()
    return _format_comments(header) + "---\n".join(emitter.write_document(data) for data in objects)


def _format_comments(lines: Iterable[str]) -> str:
    return "".join(format_comment(part) for line in lines for part in line.splitlines() or [""])


class _Emitter:
    """A writer of documents, one at a time."""

    def __init__(self) -> None:
        self._out: list[str] = []

    def write_document(self, data: Plain) -> str:
        """Write one document, with a line break at its end."""
        self._out = []
        if isinstance(data, dict) and data:
            self._write_map(data, "")
        elif isinstance(data, list) and data:
            self._write_list(data, "")
        else:
            self._out.append(f"{self._format_inline(data)}\n")
        return "".join(self._out)

    def _write_map(self, entries: dict[str, Plain], indent: str, first: str | None = None) -> None:
        """Write entries at `indent`; the first one after `first`, which is a dash in a list."""
        lead = indent if first is None else first
        out = self._out
        for key, value in entries.items():
            name = format_string(key if type(key) is str else _check_key(key))
            if len(name) > _MAX_SIMPLE_KEY:
                name = f"? {name}\n{indent}"
            if type(value) is str and "\n" not in value:
                out.append(f"{lead}{name}: {format_string(value)}\n")
            else:
                out.append(f"{lead}{name}:")
                self._write_value(value, indent)
            lead = indent

    def _write_value(self, value: Plain, indent: str) -> None:
        """Write the value after `key:`."""
        inner = f"{indent}  "
        if isinstance(value, dict) and value:
            self._out.append("\n")
            self._write_map(value, inner)
        elif isinstance(value, list) and value:
            self._out.append("\n")
            self._write_list(value, inner)
        else:
            self._out.append(f" {self._format_block(value, inner)}\n")

    def _write_list(self, items: list[Plain], indent: str, first: str | None = None) -> None:
        """Write items at `indent`; the first one after `first`, which is the dash of an outer list."""
        lead = indent if first is None else first
        inner = f"{indent}  "
        for item in items:
            dash = f"{lead}- "
            if isinstance(item, dict) and item:
                self._write_map(item, inner, dash)
            elif isinstance(item, list) and item:
                self._write_list(item, inner, dash)
            else:
                self._out.append(f"{dash}{self._format_block(item, inner)}\n")
            lead = indent

    def _format_block(self, value: Plain, indent: str) -> str:
        """Format a scalar or an empty collection; text of several lines as a literal block where possible."""
        if isinstance(value, str) and "\n" in value:
            return format_block(value, indent) or format_string(value)
        return self._format_inline(value)

    def _format_inline(self, value: Plain) -> str:
        if isinstance(value, str):
            return format_string(str(value))
        if value is None:
            return "null"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int):
            return _format_int(value)
        if isinstance(value, float):
            return _format_float(value)
        return _format_empty(value)


def _format_empty(value: object) -> str:
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, list):
        return "[]"
    message = f"{type(value).__name__} is not plain data"
    raise TypeError(message)


def _check_key(key: object) -> str:
    if isinstance(key, str):
        return str(key)
    message = f"the key {key!r} is not a string"
    raise TypeError(message)


def _format_int(value: int) -> str:
    if not _INT_MIN <= value <= _INT_MAX:
        message = f"{value} has more than 64 bits; kubectl would round it"
        raise ValueError(message)
    return int.__repr__(value)


def _format_float(value: float) -> str:
    if not math.isfinite(value):
        message = f"{value} is not a finite number; JSON supports no others"
        raise ValueError(message)
    number = float.__repr__(value)
    mantissa, has_exponent, exponent = number.partition("e")
    # YAML 1.1 reads 1e+16 as a string: there a number with an exponent needs a dot.
    return f"{mantissa}.0e{exponent}" if has_exponent and "." not in mantissa else number
