"""The tables that Karpenter's AWS provider ships: bandwidth, interfaces for pods, and prices."""

import re
from functools import cache
from pathlib import Path

from gpupool.catalogue.assemble import PriceList
from gpupool.catalogue.model import TypeLimits
from gpupool.catalogue.price_list import get_currency
from tests.rig.sources import crd_folder

KARPENTER = "1.14.1"
BANDWIDTH_DATE = "2026-07-06"
"""The bandwidth table carries no date; it was last written together with the prices."""

_PRICES = ("aws", "aws_us_gov", "aws_cn")


@cache
def limits() -> dict[str, TypeLimits]:
    """Return what the bandwidth and the interface table say, by type."""
    bandwidth = _bandwidth()
    rows = {match["name"]: match["row"] for match in _ROW.finditer(_text("instancetype", "vpclimits"))}
    return {
        name: TypeLimits(bandwidth.get(name), _branch(rows.get(name, "")), _windows(rows.get(name)))
        for name in sorted({*bandwidth, *rows})
    }


def limits_date() -> str:
    """Return the day that the interface table was made."""
    return _day(r"This file was generated at (\S+)", _text("instancetype", "vpclimits"))


def prices() -> list[PriceList]:
    """Return the prices of every region that has a table."""
    found = []
    for part in _PRICES:
        text = _text("pricing", f"pricing_{part}")
        date = _day(r"// generated at (\S+) for", text)
        for region in _REGION.finditer(text):
            amounts = {name: float(amount) for name, amount in _PRICE.findall(region["rows"])}
            name = region["name"]
            found.append(PriceList(name, get_currency(name), date, amounts))
    return found


_ROW = re.compile(r'^\t"(?P<name>[^"]+)": \{\n(?P<row>.*?)^\t\},', re.MULTILINE | re.DOTALL)
_REGION = re.compile(r'^\t"(?P<name>[^"]+)": \{\n(?P<rows>.*?)^\t\},', re.MULTILINE | re.DOTALL)
_PRICE = re.compile(r'"([^"]+)": ([0-9.]+)')


def _bandwidth() -> dict[str, int]:
    rows = re.findall(r'^\t\t"([^"]+)":\s+(\d+),', _text("instancetype", "bandwidth"), re.MULTILINE)
    return {name: int(megabits) for name, megabits in rows}


def _branch(row: str) -> int:
    compatible = re.search(r"IsTrunkingCompatible:\s+true,", row)
    return _number("BranchInterface", row) if compatible else 0


def _windows(row: str | None) -> int | None:
    """Return the addresses that pods on Windows share: all of one interface but its own."""
    return None if row is None else _number("IPv4PerInterface", row) - 1


def _number(field: str, row: str) -> int:
    found = re.search(rf"\b{field}:\s+(\d+),", row)
    if found is None:
        message = f"a row of Karpenter's interface table has no {field}"
        raise ValueError(message)
    return int(found[1])


def _day(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    if found is None:
        message = f"a table of Karpenter's does not say {pattern}"
        raise ValueError(message)
    return found[1][:10]


def _text(provider: str, table: str) -> str:
    return (_providers() / provider / f"zz_generated.{table}.go").read_text("utf-8")


def _providers() -> Path:
    folder = crd_folder().parents[2]
    if not folder.name.endswith(f"@v{KARPENTER}"):
        message = f"the rig has Karpenter in {folder.name}, the catalogue is made for {KARPENTER}"
        raise ValueError(message)
    return folder / "pkg" / "providers"
