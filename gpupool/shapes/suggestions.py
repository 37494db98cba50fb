"""Suggested values for typos and close matches in common field types.

Each function accepts a value as the file has it and returns the fix, or an empty string where it has none.
"""

from __future__ import annotations

import re
from typing import Final

_UNITS: Final = {
    "s": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s",
    "m": "m", "min": "m", "mins": "m", "minute": "m", "minutes": "m",
    "h": "h", "hr": "h", "hrs": "h", "hour": "h", "hours": "h",
    "d": "d", "day": "d", "days": "d",
}  # fmt: skip
_SIZES: Final = {
    "": "Gi",
    "g": "Gi",
    "gi": "Gi",
    "gib": "Gi",
    "gb": "G",
    "t": "Ti",
    "ti": "Ti",
    "tib": "Ti",
    "tb": "T",
}
_ARCHITECTURES: Final = {
    "x86_64": "amd64", "x86-64": "amd64", "x86": "amd64", "x64": "amd64", "intel": "amd64", "amd": "amd64",
    "aarch64": "arm64", "arm": "arm64", "armv8": "arm64", "graviton": "arm64",
}  # fmt: skip
_REGION: Final = re.compile(r"([a-z]{2})-?(?:(gov|iso[a-z]?)-?)?([a-z]+?)-?([0-9])[a-z]?")


def suggest_duration(text: str) -> str:
    """Suggest `10m` for `10 min`, and seconds for a bare number."""
    match = re.fullmatch(r"([0-9]{1,6})\s*([a-z]*)", text.strip().lower(), re.ASCII)
    unit = _UNITS.get(match[2] or "s") if match else None
    return f"did you mean `{match[1]}{unit}`?" if match and unit else ""


def suggest_node_count(text: str) -> str:
    """Suggest `"10%"` for `10 %` and for 0.1."""
    share = re.fullmatch(r"([0-9]{1,2}|100)\s*%", text.strip(), re.ASCII)
    fraction = re.fullmatch(r"0?\.([0-9]{1,2})", text.strip(), re.ASCII)
    percent = int(share[1]) if share else int(fraction[1].ljust(2, "0")) if fraction else None
    return "" if percent is None else f'did you mean `"{percent}%"`?'


def suggest_share(text: str) -> str:
    """Suggest `25%` for 25."""
    match = re.fullmatch(r"([1-9][0-9]?|100)\s*%?", text.strip(), re.ASCII)
    return f"did you mean `{match[1]}%`?" if match else ""


def suggest_size(text: str) -> str:
    """Suggest `200G` for `200GB`, and GiB for a bare number."""
    match = re.fullmatch(r"([0-9]{1,5})\s*([a-z]*)", text.strip().lower(), re.ASCII)
    unit = _SIZES.get(match[2]) if match else None
    return f"did you mean `{match[1]}{unit}`?" if match and unit else ""


def suggest_name(text: str) -> str:
    """Suggest `my-pools` for `My_Pools`."""
    name = re.sub(r"[^a-z0-9-]+", "-", text.strip().lower()).strip("-")
    return f"did you mean `{name}`?" if name else ""


def suggest_region(text: str) -> str:
    """Suggest `us-east-1` for `us-east1`, `US_EAST_1` and the zone `us-east-1a`."""
    match = _REGION.fullmatch(text.strip().lower().replace("_", "-"))
    if match is None:
        return ""
    parts = [part for part in match.groups() if part]
    return f"did you mean `{'-'.join(parts)}`?"


def suggest_architecture(text: str) -> str:
    """Suggest `amd64` for `x86_64`."""
    architecture = _ARCHITECTURES.get(text.strip().lower())
    return f"did you mean `{architecture}`?" if architecture else ""


def suggest_taint(text: str) -> str:
    """Suggest `taints: {team: ml:NoSchedule}` for kubectl's `team=ml:NoSchedule`."""
    match = re.fullmatch(
        r"([\w./-]+)(?:=([\w.-]*))?:(NoSchedule|PreferNoSchedule|NoExecute)", text.strip(), re.ASCII
    )
    if match is None:
        return ""
    key, value, effect = match.groups()
    return f"write a map: `{{{key}: {f'{value}:' if value else ''}{effect}}}`"
