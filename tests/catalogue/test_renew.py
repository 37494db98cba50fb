"""What an account's answers change in a catalogue, and what they leave alone."""

from typing import Any

import pytest

from gpupool.catalogue.answers import RegionAnswers
from gpupool.catalogue.load import load_shipped
from gpupool.catalogue.model import Catalogue, Zone
from gpupool.catalogue.packed import pack, write_document
from gpupool.catalogue.renew import RenewedCatalogue, pack_checked, renew_catalogue
from gpupool.errors import AccountError
from gpupool.reports.catalogue import render_refresh

DATE = "2027-03-04"
ZONES = (Zone("mx-central-1a", "mxc1-az1"), Zone("mx-central-1b", "mxc1-az2"))


def item(name: str) -> dict[str, Any]:
    return {
        "InstanceType": name,
        "SupportedVirtualizationTypes": ["hvm"],
        "ProcessorInfo": {"SupportedArchitectures": ["x86_64"]},
        "VCpuInfo": {"DefaultVCpus": 2},
        "MemoryInfo": {"SizeInMiB": 8192},
    }


def answered(*items: dict[str, Any], prices: dict[str, float] | None = None) -> RegionAnswers:
    offers = {each["InstanceType"]: ["mx-central-1b"] for each in items}
    return RegionAnswers("mx-central-1", ZONES, items, offers, prices, "" if prices else "not today")


def value(catalogue: Catalogue, name: str, column: str) -> object:
    place = catalogue.position(name)
    assert place is not None
    return catalogue.columns[column].at(place)


def test_no_answer_changes_nothing_but_the_date() -> None:
    found = renew_catalogue(load_shipped(), [], load_shipped().date)

    assert write_document(found.catalogue) == write_document(load_shipped())
    assert (found.new, found.changed) == ((), ())


@pytest.fixture
def found() -> RenewedCatalogue:
    items = [
        item("g9.large"),
        item("p6e-gb200.36xlarge"),
        item("dl1.24xlarge"),
        item("g6.xlarge"),
        item("p5.48xlarge"),
    ]
    return renew_catalogue(
        load_shipped(), [answered(*items, prices={"g9.large": 0.5, "p5.48xlarge": 70.0})], DATE
    )


def test_new_types_come_and_the_others_stay(found: RenewedCatalogue) -> None:
    assert found.new == ("g9.large", "p6e-gb200.36xlarge")
    assert set(found.catalogue.names) == {*load_shipped().names, *found.new}
    assert list(found.catalogue.names) == sorted(found.catalogue.names)
    assert value(found.catalogue, "g9.large", "memory") == 8192
    assert value(found.catalogue, "g9.large", "network_bandwidth") is None


def test_what_the_account_says_counts(found: RenewedCatalogue) -> None:
    assert found.changed == ("dl1.24xlarge", "g6.xlarge", "p5.48xlarge")
    assert value(found.catalogue, "g6.xlarge", "vcpus") == 2
    assert value(found.catalogue, "g6.2xlarge", "vcpus") == 8


def test_karpenter_s_tables_stay(found: RenewedCatalogue) -> None:
    assert value(found.catalogue, "g6.xlarge", "pod_eni") == 18
    assert value(found.catalogue, "g6.xlarge", "windows_ipv4") == 14
    assert value(found.catalogue, "p6e-gb200.36xlarge", "network_bandwidth") == 3200000
    assert found.catalogue.unlisted.keys() == load_shipped().unlisted.keys() - {"p6e-gb200.36xlarge"}


def test_no_type_retires_because_a_region_lacks_it(found: RenewedCatalogue) -> None:
    assert value(found.catalogue, "g5.xlarge", "retired") is None
    assert value(found.catalogue, "g4ad.xlarge", "retired") == "2026-10"
    assert value(found.catalogue, "dl1.24xlarge", "retired") is None, "it is back"


def test_zones_of_the_region_are_the_account_s_and_the_others_stay(found: RenewedCatalogue) -> None:
    offers = found.catalogue.offered("mx-central-1")
    assert offers is not None

    offered = {name for place, name in enumerate(found.catalogue.names) if offers.at(place) == 0b10}
    assert offered == {"g9.large", "p6e-gb200.36xlarge", "dl1.24xlarge", "g6.xlarge", "p5.48xlarge"}
    for region in load_shipped().regions:
        before, after = load_shipped().offered(region), found.catalogue.offered(region)
        assert before is not None
        assert after is not None
        places = [found.catalogue.names.index(name) for name in load_shipped().names]
        assert [after.at(place) for place in places] == [before.at(place) for place in range(len(places))], (
            region
        )


def test_prices_are_laid_over_those_that_karpenter_starts_from(found: RenewedCatalogue) -> None:
    prices = found.catalogue.prices("mx-central-1")
    assert prices is not None
    amounts = {name: each for name, each in zip(found.catalogue.names, prices.amounts, strict=True) if each}

    assert (prices.currency, prices.date) == ("USD", DATE)
    assert amounts == {"g9.large": 0.5, "p5.48xlarge": 70.0, "dl1.24xlarge": 13.10904, "g6.xlarge": 0.8048}
    assert found.borrowed == {"mx-central-1": ("dl1.24xlarge", "g6.xlarge")}
    assert [each.date for each in found.catalogue.price_lists if each.region != "mx-central-1"] == [
        each.date for each in load_shipped().price_lists
    ]


def test_sources_and_dates(found: RenewedCatalogue) -> None:
    assert found.catalogue.date == DATE
    assert found.catalogue.sources[:-2] == load_shipped().sources
    assert [(each.date, each.contents) for each in found.catalogue.sources[-2:]] == [
        (DATE, "instance types in mx-central-1, and their zones"),
        (DATE, "on-demand prices in mx-central-1, USD"),
    ]


def test_a_region_with_prices_of_its_own_keeps_those_that_are_not_said_anew() -> None:
    answers = answered(item("g6.xlarge"), prices={"g6.xlarge": 0.7})._replace(region="us-east-1")
    found = renew_catalogue(load_shipped(), [answers], DATE)
    prices, before = found.catalogue.prices("us-east-1"), load_shipped().prices("us-east-1")
    assert prices is not None
    assert before is not None

    differing = [
        name
        for name, old, new in zip(load_shipped().names, before.amounts, prices.amounts, strict=True)
        if old != new
    ]
    assert differing == ["g6.xlarge"]
    assert sum(each.contents == "on-demand prices in us-east-1, USD" for each in found.catalogue.sources) == 1


def test_yuan_are_not_laid_over_dollars() -> None:
    answers = answered(item("g6.xlarge"), prices={"c9.large": 0.7})._replace(region="cn-northwest-1")
    prices = renew_catalogue(load_shipped(), [answers], DATE).catalogue.prices("cn-northwest-1")

    assert prices is not None
    assert prices.currency == "CNY"
    assert [each for each in prices.amounts if each is not None] == []


def test_an_answer_that_could_not_be_read_again_is_refused(found: RenewedCatalogue) -> None:
    assert pack_checked(found.catalogue) == pack(found.catalogue)
    zones = (Zone("Mexico One", "mxc1-az1"),)

    odd = renew_catalogue(load_shipped(), [answered(item("g9.large"))._replace(zones=zones)], DATE)

    with pytest.raises(
        AccountError, match="can't build a catalogue from AWS's answers: `regions` is missing or invalid"
    ):
        pack_checked(odd.catalogue)


def test_what_it_brought_is_said(found: RenewedCatalogue) -> None:
    answers = answered(item("g9.large"), prices={"g9.large": 0.5})

    assert render_refresh([answers], found, "FILE") == (
        "mx-central-1: 1 instance type in 2 zones\nmx-central-1: 1 price\nmx-central-1: types not in the "
        "price list, with an earlier price or that of us-east-1: 2 (dl1.24xlarge, g6.xlarge)\nnew: 2 "
        "(g9.large, p6e-gb200.36xlarge)\nchanged: 3 (dl1.24xlarge, g6.xlarge, p5.48xlarge)\nwrote FILE\n"
    )
