"""What `gpupool catalogue refresh` asks, keeps and says, against moto's server and a price list of our own."""

import datetime as dt
import sys
from pathlib import Path

import boto3
import pytest

from gpupool.catalogue.load import get_fetched_path, load_fetched, load_file, load_shipped
from gpupool.catalogue.price_list import find_list_region, read_prices
from gpupool.catalogue.refresh import query_account
from gpupool.catalogue.renew import renew_catalogue
from tests.catalogue.conftest import PriceList, entry
from tests.cli.run import gpupool

MACHINES, METAL = "Compute Instance", "Compute Instance (bare metal)"
PRICES = {
    MACHINES: [[entry("g6.xlarge", "0.9"), entry("a.b", "0.0000000000")], [entry("p5.48xlarge", "60")]],
    METAL: [[entry("g5g.metal", "3.1")]],
}


def test_the_api_gives_the_facts_that_are_shipped(account: PriceList) -> None:
    (answers,) = query_account(["us-west-2"], None)
    found = renew_catalogue(load_shipped(), [answers], "2030-01-01")

    assert len(answers.items) > 1_300
    assert (found.new, found.changed) == ((), ())
    assert found.catalogue.columns == load_shipped().columns
    assert found.catalogue.regions == load_shipped().regions
    assert found.catalogue.offers == load_shipped().offers
    assert account.asked != []


@pytest.mark.usefixtures("few_types")
def test_prices_are_asked_for_as_karpenter_does(account: PriceList) -> None:
    account.pages = PRICES
    (answers,) = query_account(["us-west-2"], None)

    assert answers.prices == {"g6.xlarge": 0.9, "p5.48xlarge": 60.0, "g5g.metal": 3.1}
    filters = [{each["Field"]: each["Value"] for each in asked["Filters"]} for asked in account.asked]
    assert len(filters) == 3
    assert filters[0] == {
        "regionCode": "us-west-2", "serviceCode": "AmazonEC2", "preInstalledSw": "NA",
        "operatingSystem": "Linux", "capacitystatus": "Used", "marketoption": "OnDemand",
        "tenancy": "Shared", "productFamily": MACHINES,
    }  # fmt: skip
    assert filters[2] == {**filters[0], "tenancy": "Dedicated", "productFamily": METAL}
    assert {each["Type"] for asked in account.asked for each in asked["Filters"]} == {"TERM_MATCH"}


def test_the_command_writes_a_catalogue_and_says_what_it_holds(
    account: PriceList, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    account.pages = PRICES
    file = tmp_path / "own" / "catalogue.json.gz"

    said = gpupool(capsys, "catalogue", "refresh", "--region", "us-west-2", "--to", file)
    found = load_file(file)
    prices = found.prices("us-west-2")

    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == "us-west-2: 1,354 instance types in 4 zones"
    assert lines[1] == "us-west-2: 3 prices"
    assert lines[2].startswith("us-west-2: types not in the price list, with an earlier price or that of")
    assert lines[3:] == [f"wrote {file}"]
    assert found.date == dt.datetime.now(dt.UTC).date().isoformat()
    assert found.columns == load_shipped().columns
    assert prices is not None
    assert (prices.currency, prices.date) == ("USD", found.date)
    assert prices.amounts[found.names.index("g6.xlarge")] == 0.9
    assert prices.amounts[found.names.index("g6.2xlarge")] == 0.9776, "that of us-east-1, as in Karpenter"
    assert prices.amounts[found.names.index("dl1.24xlarge")] is None, "the region does not offer it"
    assert [source.contents for source in found.sources[-2:]] == [
        "instance types in us-west-2, and their zones",
        "on-demand prices in us-west-2, USD",
    ]
    assert load_fetched() is None


@pytest.mark.usefixtures("few_types")
def test_without_to_it_is_the_users_own(account: PriceList, capsys: pytest.CaptureFixture[str]) -> None:
    account.refusal = (400, "AccessDeniedException")

    said = gpupool(capsys, "catalogue", "refresh", "--region", "il-central-1")
    own = load_fetched()

    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[1:] == [
        (
            "il-central-1: no prices: AWS denied GetProducts (AccessDeniedException); allow it in the "
            "account's policy; using those of us-east-1, 2026-07-06"
        ),
        f"wrote {get_fetched_path()}",
    ]
    assert own is not None
    assert own.price_lists == load_shipped().price_lists
    assert own.offers == load_shipped().offers


@pytest.mark.usefixtures("account", "few_types")
def test_several_regions_and_one_that_is_not_shipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "catalogue.json.gz"

    said = gpupool(
        capsys, "catalogue", "refresh", "--region", "us-gov-west-1", "--region", "eu-west-3",
        "--region", "eu-west-3", "--to", file,
    )  # fmt: skip
    found = load_file(file)

    assert said.code == 0
    assert (
        "us-gov-west-1: no prices: AWS has no price list for GovCloud; using those of us-gov-west-1, 2026"
        in said.out
    )
    assert "eu-west-3: no prices: AWS's price list has no prices for this region" in said.out
    assert said.out.count("eu-west-3: no prices") == 1
    assert list(found.regions) == sorted([*load_shipped().regions, "us-gov-west-1"])
    assert found.offered("us-east-1") == load_shipped().offered("us-east-1")


class TestRefusals:
    """What is said when the account can't be asked."""

    def refused(self, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
        said = gpupool(capsys, "catalogue", "refresh", *more)
        assert said.out == ""
        assert not get_fetched_path().exists()
        return said.code, said.err

    @pytest.mark.usefixtures("account")
    def test_no_boto3(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setitem(sys.modules, "boto3", None)

        assert self.refused(capsys) == (
            64,
            "error: boto3 is not installed; run `pip install boto3` or `pipx inject gpupool boto3`\n",
        )

    @pytest.mark.usefixtures("account")
    def test_no_region(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.refused(capsys) == (64, "error: no region is set; pass --region\n")

    @pytest.mark.usefixtures("account")
    def test_no_such_profile(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, said = self.refused(capsys, "--profile", "nobody", "--region", "us-west-2")

        assert code == 64
        assert said == (
            "error: The config profile (nobody) could not be found; `aws configure list-profiles` lists "
            "the existing ones\n"
        )

    @pytest.mark.usefixtures("account")
    def test_no_credentials(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

        assert self.refused(capsys, "--region", "us-west-2") == (
            1,
            "error: us-west-2: no AWS credentials found; log in, or pass --profile\n",
        )

    @pytest.mark.usefixtures("account")
    def test_nobody_there(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")

        code, said = self.refused(capsys, "--region", "us-west-2")

        assert code == 1
        assert said.startswith(
            "error: us-west-2: request to AWS failed: Could not connect to the endpoint URL"
        )

    @pytest.mark.usefixtures("account")
    def test_a_user_who_may_do_nothing(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        iam = boto3.client("iam", region_name="us-east-1")
        iam.create_user(UserName="nobody")
        key = iam.create_access_key(UserName="nobody")["AccessKey"]
        monkeypatch.setattr("moto.settings.INITIAL_NO_AUTH_ACTION_COUNT", 0)

        strangers = self.refused(capsys, "--region", "us-west-2")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", key["AccessKeyId"])
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", key["SecretAccessKey"])
        nobodys = self.refused(capsys, "--region", "us-west-2")

        assert strangers == (
            1,
            (
                "error: us-west-2: AWS rejected the credentials (AuthFailure), or the region is not "
                "enabled for the account\n"
            ),
        )
        assert nobodys == (
            1,
            (
                "error: us-west-2: AWS denied DescribeAvailabilityZones (AccessDenied); allow it in the "
                "account's policy\n"
            ),
        )

    @pytest.mark.usefixtures("few_types")
    @pytest.mark.parametrize(
        ("kind", "words"),
        [
            ("ThrottlingException", "AWS throttled the requests (ThrottlingException)"),
            ("InvalidParameterException", "AWS rejected GetProducts: An error occurred"),
        ],
    )
    def test_what_the_price_list_refuses_is_said(
        self, account: PriceList, kind: str, words: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        account.refusal = (400, kind)

        said = gpupool(capsys, "catalogue", "refresh", "--region", "il-central-1")

        assert (said.code, words in said.out) == (0, True)


@pytest.mark.usefixtures("few_types")
def test_a_file_in_the_way_is_left_alone(
    account: PriceList, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine", "utf-8")

    said = gpupool(
        capsys, "catalogue", "refresh", "--region", "il-central-1", "--to", tmp_path / "file" / "c.json.gz"
    )

    assert (said.code, said.codes) == (1, ["GP0081"])
    assert (tmp_path / "file").read_text("utf-8") == "mine"
    assert account.asked != []


@pytest.mark.parametrize(
    ("region", "asked"),
    [
        ("us-west-2", "us-east-1"), ("ap-south-2", "ap-south-1"), ("eu-west-1", "eu-central-1"),
        ("cn-north-1", "cn-northwest-1"), ("ca-west-1", "us-east-1"),
    ],
)  # fmt: skip
def test_only_some_regions_have_a_price_list(region: str, asked: str) -> None:
    assert find_list_region(region) == asked


@pytest.mark.parametrize(
    "written", ["", "[]", '{"product": []}', '{"product": {"attributes": {"instanceType": "a"}}, "terms": 1}']
)
def test_a_price_list_that_is_none(written: str) -> None:
    with pytest.raises(ValueError, match="AWS's price list has an unknown format"):
        read_prices([entry("g6.xlarge", "1"), written], "eu-west-1")


def test_prices_that_are_none() -> None:
    entries = [
        entry("zero", "0.0000000000"), entry("words", "free"), entry("nan", "nan"), entry("endless", "inf"),
        entry("less", "-1"), entry("other", "1.0", "CNY"), entry("", "1.0"), entry("right", "1.5"), "{}",
    ]  # fmt: skip

    assert read_prices(entries, "eu-west-1") == {"right": 1.5}
    assert read_prices(entries, "cn-north-1") == {"other": 1.0}
