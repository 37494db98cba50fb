"""Validation of a catalogue's document from an untrusted file."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NoReturn

from gpupool.catalogue.packed import FORMAT, expand_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gpupool.catalogue.packed import PackedDocument

    Check = Callable[[Any], bool]

MOST_TYPES = 1 << 16
MOST_ZONES = 64
MOST_NUMBER = 1 << 53
_TYPE = re.compile(r"[a-z0-9-]{1,32}\.[a-z0-9-]{1,32}")
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?")
_PRINTABLE = re.compile(r"[ -~]{0,200}")
_DATE = re.compile(r"\d{4}-\d\d(-\d\d)?")


def read_document(text: bytes) -> PackedDocument:
    """Read a catalogue's document and check all of it.

    Raises:
        ValueError: with a message about what is wrong.
    """
    try:
        document = json.loads(text, parse_constant=_reject_constant)
    except RecursionError:
        message = "it is nested too deeply"
        raise ValueError(message) from None
    except ValueError as problem:
        message = f"it is not JSON: {problem}"
        raise ValueError(message) from None
    _require(isinstance(document, dict), "it is not a JSON object")
    _require(document.get("format") == FORMAT, f"its format is not {FORMAT}")
    for key, check in _FIELDS.items():
        _require(key in document and check(document[key]), f"`{key}` is missing or invalid")
    names = list(expand_names(document["names"]))
    _require(names == sorted(set(names)), "`names` is not sorted")
    for name, check in COLUMNS.items():
        _require(name in document["columns"], f"the column `{name}` is missing")
        _require(
            _is_column(document["columns"][name], len(names), check),
            f"the column `{name}` is invalid",
        )
    document["columns"] = {name: document["columns"][name] for name in COLUMNS}
    _require(
        _is_column(document["offers"], len(names), _is_masks_of(document["regions"])),
        "`offers` does not fit `regions`",
    )
    _require(all(len(row[3]) == len(names) for row in document["prices"]), "`prices` does not fit `names`")
    return dict(document)


def _reject_constant(constant: str) -> NoReturn:
    message = f"{constant} is not a JSON number"
    raise ValueError(message)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and _PRINTABLE.fullmatch(value) is not None


def _is_name(value: object) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _is_date(value: object) -> bool:
    return isinstance(value, str) and _DATE.fullmatch(value) is not None


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_NUMBER


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST_NUMBER


def _is_none_or(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _is_row_of(*checks: Check) -> Check:
    def is_row(value: object) -> bool:
        return (
            isinstance(value, list)
            and len(value) == len(checks)
            and all(check(item) for check, item in zip(checks, value, strict=True))
        )

    return is_row


def _is_list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(check(item) for item in value)


def _is_map_of(check: Check) -> Check:
    return lambda value: (
        isinstance(value, dict) and all(_is_name(key) and check(item) for key, item in value.items())
    )


def _is_names(value: object) -> bool:
    if not isinstance(value, str):
        return False
    names = list(expand_names(value))
    return 0 < len(names) < MOST_TYPES and all(map(_TYPE.fullmatch, names))


def _is_column(value: object, count: int, check: Check) -> bool:
    """Return whether a column has an index for each type, each of a valid value."""
    if not _is_row_of(_is_list_of(check), _is_hex)(value):
        return False
    values: Sequence[object]
    digits: str
    values, digits = value  # type: ignore[misc] # checked by `_is_row_of` above
    width = len(digits) // count if len(digits) in (2 * count, 4 * count) else 0
    index: Iterable[int] = (
        int(digits[offset : offset + width], 16) for offset in range(0, len(digits), width or 1)
    )
    return bool(width) and max(index) < len(values)


def _is_hex(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]*", value) is not None


def _is_masks_of(regions: dict[str, list[object]]) -> Check:
    sizes = [1 << len(zones) for zones in regions.values()]
    return lambda value: (
        _is_list_of(_is_mask)(value)
        and len(value) == len(sizes)
        and all(mask < size for mask, size in zip(value, sizes, strict=True))
    )


def _is_mask(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_zones(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= MOST_ZONES
        and all(map(_is_row_of(_is_name, _is_name), value))
    )


_FIELDS: dict[str, Check] = {
    "karpenter": _is_text,
    "date": _is_date,
    "sources": _is_list_of(_is_row_of(_is_text, _is_text, _is_text, _is_text)),
    "names": _is_names,
    "columns": lambda value: isinstance(value, dict),
    "regions": _is_map_of(_is_zones),
    "offers": _is_row_of(_is_list_of(_is_list_of(_is_mask)), _is_hex),
    "prices": _is_list_of(_is_row_of(_is_name, _is_text, _is_date, _is_list_of(_is_none_or(_is_amount)))),
    "unlisted": _is_map_of(_is_row_of(_is_none_or(_is_whole), _is_whole, _is_none_or(_is_whole))),
}

COLUMNS: dict[str, Check] = {
    "family": _is_name,
    "size": _is_name,
    "category": _is_none_or(_is_name),
    "generation": _is_none_or(_is_name),
    "flex": _is_flag,
    "arch": lambda value: value in ("amd64", "arm64"),
    "vcpus": _is_whole,
    "memory": _is_whole,
    "cpu_manufacturer": _is_none_or(_is_text),
    "clock_mhz": _is_none_or(_is_whole),
    "hypervisor": _is_text,
    "bare_metal": _is_flag,
    "encryption_in_transit": _is_flag,
    "ebs_bandwidth": _is_none_or(_is_whole),
    "local_nvme": _is_none_or(_is_whole),
    "storage": _is_none_or(_is_whole),
    "gpus": _is_none_or(_is_list_of(_is_row_of(_is_text, _is_text, _is_whole, _is_whole))),
    "inference": _is_none_or(_is_list_of(_is_row_of(_is_text, _is_text, _is_whole))),
    "neuron": _is_none_or(_is_list_of(_is_row_of(_is_text, _is_whole, _is_whole))),
    "other_accelerators": _is_none_or(_is_row_of(_is_text, _is_text, _is_whole)),
    "capacity_types": _is_list_of(lambda value: value in ("on-demand", "spot")),
    "efa": _is_none_or(_is_whole),
    "cards": _is_list_of(_is_row_of(_is_whole, _is_whole)),
    "default_card": _is_whole,
    "ipv4_per_interface": _is_whole,
    "ena": _is_text,
    "nested_virtualization": _is_flag,
    "placement": _is_list_of(_is_text),
    "network_bandwidth": _is_none_or(_is_whole),
    "pod_eni": _is_whole,
    "windows_ipv4": _is_none_or(_is_whole),
    "retired": _is_none_or(_is_date),
}
"""All columns, each with the check of its values."""
