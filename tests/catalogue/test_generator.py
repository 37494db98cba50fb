"""The shipped catalogue is what the generator makes of EC2's answers and Karpenter's tables."""

import re

import pytest

from catalogue.make import made
from catalogue.sources import instance_types, offerings, regions, retired, zones
from catalogue.tables import limits, prices
from catalogue.wheels import CURRENT
from catalogue.wheels import instance_types as types_of
from catalogue.wheels import offerings as offerings_of
from catalogue.write import is_current
from gpupool.catalogue.load import load_shipped
from tests.rig.sources import crd_folder

pytestmark = pytest.mark.server
"""It fetches wheels and Go modules, as what the server is built of."""


def test_the_file_is_current() -> None:
    assert made() == load_shipped()
    assert is_current()


def test_nothing_that_karpenter_considers_is_left_out() -> None:
    others = types_of(CURRENT).keys() - instance_types().keys()

    assert [name for name in others if not name.startswith("mac")] == []
    assert len(instance_types()) == len(load_shipped().names)
    assert len(retired()) == 20
    assert retired().keys() & types_of(CURRENT).keys() == set()


@pytest.mark.parametrize("region", ["us-east-1", "il-central-1", "us-west-1"])
def test_offers_by_name_and_by_id_agree(region: str) -> None:
    ids = dict(zones(region))
    by_id = {
        (each["InstanceType"], each["Location"])
        for each in offerings_of(CURRENT, "availability-zone-id", region)
        if each["InstanceType"] in instance_types()
    }

    assert {(name, ids[zone]) for name, found in offerings(region).items() for zone in found} == by_id


def test_offers_are_those_of_the_answers() -> None:
    for region in regions():
        column, answered = load_shipped().offered(region), offerings(region)
        assert column is not None
        for place, name in enumerate(load_shipped().names):
            mask = column.at(place)
            assert isinstance(mask, int)
            offering = [
                zone.name for bit, zone in enumerate(load_shipped().regions[region]) if mask >> bit & 1
            ]
            assert offering == answered.get(name, []), (region, name)


def test_the_tables_have_as_many_rows_as_their_files() -> None:
    folder = crd_folder().parents[1] / "providers"
    bandwidth = (folder / "instancetype" / "zz_generated.bandwidth.go").read_text("utf-8")
    interfaces = (folder / "instancetype" / "zz_generated.vpclimits.go").read_text("utf-8")
    lists = "".join(
        file.read_text("utf-8") for file in sorted((folder / "pricing").glob("zz_generated.*.go"))
    )
    rows = re.findall(r"^\s+\"[^\"]+\": +\d+,$", bandwidth, re.MULTILINE)

    assert sum(each.bandwidth is not None for each in limits().values()) == len(rows) > 1_300
    assert (
        sum(each.windows_ipv4 is not None for each in limits().values())
        == interfaces.count("BranchInterface:")
        > 1_300
    )
    assert sum(each.branch_interfaces > 0 for each in limits().values()) == len(
        re.findall(r"IsTrunkingCompatible: +true,\s+BranchInterface: +[1-9]", interfaces)
    )
    assert sum(len(each.amounts) for each in prices()) == len(re.findall(r"\d\.\d{6}", lists)) > 2_500
    assert [(each.region, each.currency, each.date) for each in prices()] == [
        ("us-east-1", "USD", "2026-07-06"), ("us-gov-east-1", "USD", "2026-06-15"),
        ("us-gov-west-1", "USD", "2026-06-15"), ("cn-north-1", "CNY", "2024-11-06"),
    ]  # fmt: skip
