"""How a catalogue is shown."""

import json
from pathlib import Path

from gpupool.catalogue.load import load_shipped
from gpupool.reports.catalogue import render_text, to_json


def test_text_names_counts_dates_and_sources() -> None:
    said = render_text(load_shipped())

    assert said.startswith(
        "1,406 instance types as of 2026-10-11, 20 of them retired,\nread as Karpenter 1.14.1 reads "
        "them; offerings in 95 zones of these regions:\n  af-south-1, ap-east-1,"
    )
    assert "\n  us-east-1       2026-07-06  1,354 types in USD\n" in said
    assert "\n  2026-08\n    dl1.24xlarge\n" in said
    assert said.count("\n  Karpenter's AWS provider 1.14.1 ") == 6
    assert said.endswith("2024-11-06  on-demand prices in cn-north-1, CNY\n")
    assert [line for line in said.splitlines() if len(line) > 100] == []


def test_json_says_the_same() -> None:
    said = json.loads(json.dumps(to_json(load_shipped())))

    assert list(said) == ["date", "karpenter", "instanceTypes", "retired", "regions", "prices", "sources"]
    assert (said["date"], said["karpenter"], said["instanceTypes"]) == ("2026-10-11", "1.14.1", 1406)
    assert said["retired"]["p3.2xlarge"] == "2026-05"
    assert said["regions"]["us-west-1"] == ["usw1-az1", "usw1-az3"]
    assert said["prices"][1] == {
        "region": "us-east-1", "currency": "USD", "date": "2026-07-06", "instanceTypes": 1354,
    }  # fmt: skip
    assert said["sources"][0] == {
        "name": "moto", "version": "5.2.5", "date": "2026-10-11",
        "gives": "EC2's instance types, and the zones that offer them",
    }  # fmt: skip


def test_the_page_shows_what_is_printed() -> None:
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "catalogue.md").read_text("utf-8")

    assert f"$ gpupool explain --catalogue\n{render_text(load_shipped())}```" in page
