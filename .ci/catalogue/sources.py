"""EC2's answers: each instance type that Karpenter considers, retired ones too, and where it is offered."""

from collections import defaultdict
from functools import cache
from typing import Any

from catalogue.wheels import CURRENT, OLDER
from catalogue.wheels import instance_types as types_of
from catalogue.wheels import offerings as offerings_of
from catalogue.wheels import regions as regions_of
from gpupool.catalogue.describe import is_considered
from gpupool.catalogue.model import Zone


@cache
def instance_types() -> dict[str, dict[str, Any]]:
    """Return the newest item of DescribeInstanceTypes for each type, as raw as EC2 gives it."""
    found: dict[str, dict[str, Any]] = {}
    for wheel in (CURRENT, *OLDER):
        found = {**types_of(wheel), **found}
    return {name: item for name, item in sorted(found.items()) if is_considered(item)}


@cache
def retired() -> dict[str, str]:
    """Return for each retired type the month since when EC2's answers are known to lack it."""
    found: dict[str, str] = {}
    for newer, wheel in zip((CURRENT, *OLDER), OLDER, strict=False):
        gone = types_of(wheel).keys() - types_of(newer).keys() - types_of(CURRENT).keys()
        found = {**dict.fromkeys(gone, newer.date[:7]), **found}
    return found


def regions() -> list[str]:
    """Return the regions whose offerings are known."""
    return regions_of(CURRENT)


def offerings(region: str) -> dict[str, list[str]]:
    """Return the zones, by name, that offer each type."""
    known, found = instance_types(), defaultdict(list)
    for item in offerings_of(CURRENT, "availability-zone", region):
        if item["InstanceType"] in known:
            found[item["InstanceType"]].append(item["Location"])
    return {name: sorted(zones) for name, zones in sorted(found.items())}


def zones(region: str) -> list[Zone]:
    """Return a region's zones by name, each with the ID that offers the same types.

    Zones that offer the same types exactly are told apart by their order only.
    """
    ids = _types_by(region, "availability-zone-id")
    found = []
    for name, types in sorted(_types_by(region, "availability-zone").items()):
        zone_id = next(each for each in sorted(ids) if ids[each] == types)
        del ids[zone_id]
        found.append(Zone(name, zone_id))
    return found


def _types_by(region: str, location: str) -> dict[str, frozenset[str]]:
    found = defaultdict(set)
    for item in offerings_of(CURRENT, location, region):
        found[item["Location"]].add(item["InstanceType"])
    return {place: frozenset(types) for place, types in found.items()}
