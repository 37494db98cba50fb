"""`gpupool explain`: what it says of pools, in which order, as text and as JSON, and how it ends."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpupool.catalogue.load import load_shipped
from gpupool.catalogue.packed import pack
from tests.cli.blueprints import TOP
from tests.cli.run import SECONDS, gpupool, process

BLUEPRINT = f"""\
{TOP}pools:
  train: {{profile: training, accelerator: h100, limits: {{gpus: 20}}}}
  chat:
    profile: inference
    accelerator: l4
    limits: {{gpus: 4}}
    tiers: {{spot: {{capacity: spot}}, steady: {{capacity: on-demand}}}}
"""
MANIFEST = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}
      requirements:
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [g6, p4]}
        - {key: karpenter.k8s.aws/instance-gpu-count, operator: NotIn, values: ["8"]}
  limits: {nvidia.com/gpu: 3}
"""
CLASS = """\
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: gpu}
spec:
  role: r
  amiSelectorTerms: [{alias: bottlerocket@v1.62.0}]
  subnetSelectorTerms: [{id: subnet-1234567890}]
  securityGroupSelectorTerms: [{id: sg-1234567890}]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the current one, with a blueprint and manifests, and an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    (work / "gpupool.yaml").write_text(BLUEPRINT, "utf-8")
    (work / "pool.yaml").write_text(MANIFEST, "utf-8")
    return work


def said_as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(gpupool(capsys, "explain", *arguments, "-o", "json").out)
    return loaded


TRAIN = """\
NodePool train
  class   train (AL2023)
  region  us-east-1

1 candidate type, 1 launchable
TYPE         ACCELERATORS  VCPU  MEMORY     NVME  EFA  FOR PODS                USD/H  ZONES   NODES
p5.48xlarge  8 h100 80Gi    192  2048Gi  30400GB   32  191.45 cpu, 1893.0Gi  55.0400  abcdef      2

Limits
  nvidia.com/gpu  20  never reached: 16 can be used within the limits
Cost when the limits are reached: 110.08 USD an hour, 80,358 USD a month
  on-demand prices of us-east-1, 2026-07-06
A pod for 1 nvidia.com/gpu: p5.48xlarge (55.0400) is the first choice, p5.48xlarge (55.0400) the most expensive

gpupool.yaml:7:64: info GP5013 [rule] limit `nvidia.com/gpu: 20` is never reached: the pool can use 16 at most

Catalogue of 2026-10-11, as Karpenter 1.14.1 reads it.
"""


def test_a_pool_whole(capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, "explain", "train")

    assert (said.code, said.out) == (0, TRAIN)
    assert said.err == "1 note; to read it, run gpupool validate or add -v\n"
    assert gpupool(capsys, "explain", "train", "-v").codes == ["GP0050"]


def test_all_pools_in_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, "explain")

    assert said.code == 0
    assert said.out.splitlines() == [
        "NODEPOOL     WEIGHT  TYPES  TRIED FIRST          USD/H AT MOST",
        "chat-spot        50     10  g6.xlarge 0.8048     13.59",
        "chat-steady      49     10  g6.xlarge 0.8048     13.59",
        "train             0      1  p5.48xlarge 55.0400  110.08",
    ]


def test_all_pools_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert [each["pool"] for each in said_as_json(capsys)["pools"]] == ["chat", "train"]


class TestOrder:
    """Tiers stand as Karpenter tries them: by weight, and by name from the back where it is the same."""

    def test_of_tiers(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = gpupool(capsys, "explain", "chat").out.splitlines()

        assert [line for line in said if line.startswith("NodePool")] == [
            "NodePool chat-spot, weight 50, tried as number 1 of 2",
            "NodePool chat-steady, weight 49, tried as number 2 of 2",
        ]
        assert said[-1].startswith("Catalogue of ")

    def test_of_one_tier(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = said_as_json(capsys, "chat-steady")

        assert (said["pool"], said["weight"], "tiers" in said) == ("chat-steady", 49, False)

    def test_of_equal_weights(self, capsys: pytest.CaptureFixture[str]) -> None:
        text = "---\n".join(MANIFEST.replace("name: gpu}\nspec", f"name: {name}}}\nspec") for name in "bca")
        Path("three.yaml").write_text(text.replace("  limits:", "  weight: 7\n  limits:", 1), "utf-8")

        said = gpupool(capsys, "explain", "--manifests", "three.yaml").out.splitlines()

        assert [line.split()[0] for line in said[1:]] == ["b", "c", "a"]


class TestJson:
    """What programs get."""

    def test_of_a_pool(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = said_as_json(capsys, "train")

        (only,) = said["candidates"]
        assert (only["instanceType"], only["offered"], only["price"]) == ("p5.48xlarge", True, 55.04)
        assert (only["launchable"], only["reason"], only["nodes"]) == (True, "", 2)
        assert only["limitedBy"] == "nvidia.com/gpu"
        assert only["accelerators"] == [{"name": "h100", "count": 8, "memoryMiB": 81920}]
        assert only["allocatable"]["memory"] == 1938410 << 20
        assert said["limits"]["said"] == {"nvidia.com/gpu": 20}
        assert said["limits"]["nodes"] == {"p5.48xlarge": 2}
        assert said["cost"]["hourly"] == 110.08
        assert said["cost"]["monthly"] == 80358.4
        assert (said["cost"]["bound"], said["cost"]["currency"]) == ("exact", "USD")
        assert said["cost"]["priceList"] == {"region": "us-east-1", "date": "2026-07-06"}
        assert (said["pool"], said["nodeClass"], said["amiFamily"]) == ("train", "train", "AL2023")
        assert (said["region"], said["offeringsJudged"]) == ("us-east-1", True)
        assert [(each["rule"], each["line"], each["column"]) for each in said["notes"]] == [("GP5013", 7, 64)]

    def test_of_a_pool_with_tiers(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = said_as_json(capsys, "chat")

        assert (said["pool"], [tier["pool"] for tier in said["tiers"]]) == (
            "chat",
            ["chat-spot", "chat-steady"],
        )
        assert [tier["candidates"][0]["capacityTypes"] for tier in said["tiers"]] == [["spot"], ["on-demand"]]
        assert said["tiers"][0]["limits"]["never"] == ["g6.48xlarge"]

    def test_says_what_makes_the_cost_unbounded(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = said_as_json(capsys, "gpu", "--manifests", "pool.yaml", "--region", "us-east-1")
        assert said["cost"]["bound"] == "exact"
        Path("pool.yaml").write_text(MANIFEST.replace("g6, p4", "g6, g6f"), "utf-8")

        said = said_as_json(capsys, "gpu", "--manifests", "pool.yaml", "--region", "us-east-1")

        assert said["cost"]["hourly"] is said["cost"]["monthly"] is None
        assert (said["cost"]["bound"], said["cost"]["unboundedBy"]) == ("unbounded", "g6f.4xlarge")

    def test_goes_to_a_file_beside_the_text(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = gpupool(capsys, "explain", "train", "-o", "text", "-o", "json=said.json")

        assert (said.code, said.out) == (0, TRAIN)
        assert json.loads(Path("said.json").read_text("utf-8")) == said_as_json(capsys, "train")

    def test_is_json_for_any_limits(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Three limits, each of another sort of machine: the bound is a number, and JSON has no infinity."""
        limits = "limits: {nvidia.com/gpu: 6400, aws.amazon.com/neuron: 6400, cpu: 1e6}"
        text = MANIFEST.replace("g6, p4", "g6, inf2").replace("limits: {nvidia.com/gpu: 3}", limits)
        Path("pool.yaml").write_text(text, "utf-8")
        said = gpupool(
            capsys, "explain", "gpu", "--manifests", "pool.yaml", "--region", "us-east-1", "-o", "json"
        )

        cost = json.loads(said.out, parse_constant=pytest.fail)["cost"]

        assert cost["bound"] == "at most"
        assert 6400 * 0.8 < cost["hourly"] < 1e6


class TestWhy:
    """What becomes of one type."""

    def lines(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
        said = gpupool(capsys, "explain", *arguments).out.splitlines()
        start = next(place for place, line in enumerate(said) if line.startswith("Why "))
        return said[start : said.index("", start)]

    def test_conditions_that_refuse_it(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.lines(capsys, "train", "--why", "a1.large") == [
            "Why a1.large:",
            "  excluded by `karpenter.k8s.aws/instance-gpu-count` In [8]; the type has no such label",
            "  excluded by `karpenter.k8s.aws/instance-gpu-name` In [h100]; the type has no such label",
            "  excluded by `kubernetes.io/arch` In [amd64]; the type has arm64",
            "  excluded: AL2023 does not run on a1",
        ]

    def test_a_candidate(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.lines(capsys, "train", "--why", "p5.48xlarge") == [
            "Why p5.48xlarge:",
            "  a candidate: Karpenter can launch it",
        ]
        assert self.lines(capsys, "chat-spot", "--why", "g6.48xlarge") == [
            "Why g6.48xlarge:",
            "  a candidate: a single node has nvidia.com/gpu 8 over the limit of 4",
        ]

    def test_a_type_that_is_gone(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.lines(capsys, "train", "--why", "p2.xlarge")[0] == (
            "Why p2.xlarge (no longer offered by EC2 since 2026-03):"
        )
        assert said_as_json(capsys, "train", "--why", "p2.xlarge")["why"]["retired"] == "2026-03"

    def test_of_each_tier(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = said_as_json(capsys, "chat", "--why", "p5.48xlarge")

        for tier in said["tiers"]:
            assert tier["why"]["candidate"] is tier["why"]["launchable"] is False
            assert [each["requirement"]["key"] for each in tier["why"]["refusedBy"]] == [
                "karpenter.k8s.aws/instance-gpu-name"
            ]
            assert tier["why"]["refusedBy"][0]["has"] == ["h100"]

    def test_a_type_that_nobody_knows(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = gpupool(capsys, "explain", "train", "--why", "p5.48xlarg")

        assert (said.code, said.out) == (64, "")
        assert "unknown instance type `p5.48xlarg`; did you mean p5.48xlarge?\n" in said.err


class TestManifests:
    """NodePools that no blueprint of gpupool's has rendered."""

    def test_of_a_file_without_the_class_or_a_region(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = gpupool(capsys, "explain", "gpu", "--manifests", "pool.yaml")

        assert said.code == 0
        assert said.out.splitlines()[:5] == [
            "NodePool gpu",
            "  class   not in the files; AL2023 defaults are assumed",
            "  region  not set",
            "",
            "7 candidate types, 7 not checked",
        ]
        assert "no region is set: zones, prices and offerings are not checked" in said.out
        assert "Cost" not in said.out
        assert "pool.yaml:9:79: warning GP5005 [rule] `p4` matches no instance type of the pool" in said.out

    def test_of_a_folder(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "manifests").mkdir()
        (folder / "manifests" / "class.yaml").write_text(CLASS, "utf-8")
        (folder / "manifests" / "pool.yaml").write_text(MANIFEST, "utf-8")

        said = said_as_json(capsys, "gpu", "--manifests", "manifests", "--region", "us-west-2")

        assert (said["nodeClass"], said["amiFamily"]) == ("gpu", "Bottlerocket")
        assert (said["region"], said["offeringsJudged"]) == ("us-west-2", True)
        assert said["cost"]["priceList"]["region"] == "us-east-1"

    def test_of_standard_input(self, folder: Path) -> None:
        text = f"{CLASS}---\n{MANIFEST}".encode()

        said = process(
            "explain", "gpu", "--manifests", "-", "--region", "us-east-1", folder=folder, stdin=text
        )

        assert said.code == 0
        assert "  class   gpu (Bottlerocket)\n  region  us-east-1\n" in said.out
        assert "\n-:18:79: warning GP5005 [rule] `p4` matches no instance type of the pool" in said.out

    def test_of_several_paths(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "class.yaml").write_text(CLASS, "utf-8")

        said = said_as_json(capsys, "gpu", "--manifests", "pool.yaml", "--manifests", "class.yaml")

        assert said["nodeClass"] == "gpu"

    def test_prices_of_another_region_are_called_so(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = gpupool(capsys, "explain", "gpu", "--manifests", "pool.yaml", "--region", "us-west-2").out

        assert "on-demand prices of us-east-1, 2026-07-06; none for us-west-2" in said

    def test_without_a_node_pool(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "class.yaml").write_text(CLASS, "utf-8")

        said = gpupool(capsys, "explain", "--manifests", "class.yaml")

        assert (said.code, said.out) == (1, "")
        assert "no NodePool in these files" in said.err

    def test_that_karpenter_would_refuse(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "pool.yaml").write_text(MANIFEST.replace("NotIn", "Notin"), "utf-8")

        said = gpupool(capsys, "explain", "gpu", "--manifests", "pool.yaml")

        assert (said.code, said.out) == (1, "")
        assert said.err.startswith("pool.yaml:10:")


class TestRegion:
    """Where offers and prices are looked up."""

    def test_of_the_option_counts_more_than_the_blueprint_s(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = said_as_json(capsys, "train", "--region", "eu-west-1")

        (only,) = said["candidates"]
        assert (said["region"], only["offered"], only["launchable"]) == ("eu-west-1", False, False)
        assert only["reason"] == "not offered in eu-west-1"
        assert [each["rule"] for each in said["notes"]] == ["GP5009"]

    def test_that_the_catalogue_lacks(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = said_as_json(capsys, "train", "--region", "mars-1")

        (only,) = said["candidates"]
        assert said["offeringsJudged"] is False
        assert (
            only["offered"] is only["launchable"] is only["price"] is said["cost"] is said["onePod"] is None
        )
        assert (
            "region mars-1 is not in the catalogue"
            in gpupool(capsys, "explain", "train", "--region", "mars-1").out
        )


class TestEnd:
    """With which exit code it ends."""

    def test_of_a_pool_without_a_candidate(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("pool.yaml").write_text(MANIFEST.replace("[g6, p4]", "[p4]"), "utf-8")

        said = gpupool(capsys, "explain", "gpu", "--manifests", "pool.yaml", "--region", "us-east-1")

        assert said.code == 1
        assert "\n0 candidate types, 0 launchable\n" in said.out
        assert (
            "error GP5009 [rule] the pool can't launch a node: no instance type meets all requirements"
            in said.out
        )

    def test_of_a_pool_that_launches_nothing_in_the_region(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert gpupool(capsys, "explain", "train", "--region", "eu-west-1").code == 1
        assert gpupool(capsys, "explain", "train", "--region", "mars-1").code == 0

    def test_of_a_wrong_blueprint(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("gpupool.yaml").write_text(BLUEPRINT.replace("gpus: 20", "gpus: many"), "utf-8")

        said = gpupool(capsys, "explain", "train")

        assert (said.code, said.out) == (1, "")
        assert said.err.startswith("gpupool.yaml:7:")

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["trian"], "unknown pool `trian`; did you mean train?"),
            (["x"], "unknown pool `x`; available: chat, chat-spot, chat-steady, train"),
            (["GP9999"], "unknown rule GP9999"),
            (["train.limitz"], "`pools.train` has no `limitz`; did you mean `limits`?"),
            (["--calendar"], "--calendar requires a pool: gpupool explain POOL --calendar"),
            (["train", "--calendar", "--week", "soon"], "--week soon: expected a date such as 2026-03-28"),
            (["train", "--calendar", "--timezone", "Mars/X"], "unknown time zone `Mars/X`"),
            (["chat", "--calendar", "-o", "svg=x.svg"], "-o svg shows one NodePool: pass one of chat-spot, chat-steady"),
            (["train", "-o", "svg"], "-o: unknown format `svg`"),
            (["-f", "gpupool.yaml", "--manifests", "pool.yaml"], "remove one of them"),
            (["gpu.limits", "--manifests", "pool.yaml"], "unknown pool `gpu.limits`"),
        ],
        ids=" ".join,
    )  # fmt: skip
    def test_of_a_command_line_that_makes_no_sense(
        self, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        said = gpupool(capsys, "explain", *arguments)

        assert (said.code, said.out) == (64, "")
        assert words in said.err
        assert not Path("x.svg").exists()


class TestOther:
    """What else it explains."""

    def test_a_rule(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = gpupool(capsys, "explain", "GP5004")

        assert (said.code, said.out) == (
            0,
            "GP5004 (rule): GPU instance types of both architectures in one pool.\n",
        )
        assert said_as_json(capsys, "GP0001")["layer"] == "blueprint"

    def test_a_field(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = gpupool(capsys, "explain", "train.limits.gpus")

        assert said.code == 0
        assert "gpupool.yaml:7:64" in said.out
        assert "20" in said.out

    def test_a_week_as_text_json_and_svg(self, capsys: pytest.CaptureFixture[str]) -> None:
        week = ["train", "--calendar", "--week", "2026-03-28", "--nodes", "4"]

        said = gpupool(capsys, "explain", *week, "-o", "text", "-o", "json=week.json", "-o", "svg=week.svg")

        assert said.code == 0
        assert said.out.startswith("NodePool train: nodes that may be disrupted, by hour\n")
        assert "Week of Mon 23 Mar 2026, UTC, if the pool has 4 nodes" in said.out
        assert len(json.loads(Path("week.json").read_text("utf-8"))) == 1
        assert Path("week.svg").read_text("utf-8").startswith("<svg")

    def test_a_week_in_another_time_zone_of_each_tier(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = gpupool(capsys, "explain", "chat", "--calendar", "--timezone", "Asia/Tokyo").out

        assert said.count("Asia/Tokyo, if the pool has 10 nodes") == 2

    def test_the_catalogue(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = gpupool(capsys, "explain", "--catalogue")

        assert (said.code, said.err) == (0, "")
        assert said.out.startswith("1,406 instance types as of 2026-10-11, ")
        assert said_as_json(capsys, "--catalogue")["date"] == "2026-10-11"


class TestCatalogue:
    """Whose facts count: the file that the blueprint names, the user's own, or those that are shipped."""

    def write(self, file: Path, date: str, price: float) -> None:
        known = load_shipped()
        lists = tuple(
            replace_prices(each, price) if each.region == "us-east-1" else each for each in known.price_lists
        )
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(pack(replace(known, date=date, price_lists=lists)))

    def test_the_user_s_own_counts_for_explain_and_never_for_render(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = gpupool(capsys, "render").out
        self.write(folder.parent / "cache" / "gpupool" / "instance-types.json.gz", "2027-01-01", 7.25)

        said = said_as_json(capsys, "train")

        assert said["catalogue"]["date"] == "2027-01-01"
        assert said["candidates"][0]["price"] == 7.25
        assert gpupool(capsys, "render").out == before

    def test_the_blueprint_s_counts_more(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.write(folder.parent / "cache" / "gpupool" / "instance-types.json.gz", "2027-01-01", 7.25)
        self.write(folder / "own.json.gz", "2027-02-02", 8.5)
        named = BLUEPRINT.replace("timezone: UTC", "timezone: UTC, catalogue: ./own.json.gz")
        Path("gpupool.yaml").write_text(named, "utf-8")

        said = said_as_json(capsys, "train")

        assert (said["catalogue"]["date"], said["candidates"][0]["price"]) == ("2027-02-02", 8.5)
        assert said_as_json(capsys, "--catalogue", "-f", "gpupool.yaml")["date"] == "2027-02-02"

    @pytest.mark.parametrize(
        "content", [b"", b"not packed", pack(load_shipped())[:-9]], ids=["empty", "text", "cut"]
    )
    def test_a_broken_one_is_named(
        self, content: bytes, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (folder / "own.json.gz").write_bytes(content)
        named = BLUEPRINT.replace("timezone: UTC", "timezone: UTC, catalogue: ./own.json.gz")
        Path("gpupool.yaml").write_text(named, "utf-8")

        for arguments in (["train"], ["--catalogue", "-f", "gpupool.yaml"], []):
            said = gpupool(capsys, "explain", *arguments)
            assert (said.code, said.out) == (1, "")
            assert "GP0090" in said.err
            assert "bug in gpupool" not in said.err

    def test_a_broken_one_of_the_user_s_is_named(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = folder.parent / "cache" / "gpupool" / "instance-types.json.gz"
        file.parent.mkdir(parents=True)
        file.write_bytes(b"{}")

        said = gpupool(capsys, "explain", "train")

        assert (said.code, said.out) == (1, "")
        assert str(file) in said.err
        assert gpupool(capsys, "render").code == 0


def replace_prices(prices: Any, amount: float) -> Any:  # noqa: ANN401 - a named tuple of the catalogue's
    return prices._replace(amounts=tuple(None if each is None else amount for each in prices.amounts))


MODELS = {"gpupool.blueprint.model", "gpupool.rendering.render", "gpupool.profiles.load"}


@pytest.mark.parametrize(
    ("arguments", "unused"),
    [
        (["train"], {"gpupool.scheduling.pods.fit", "gpupool.provenance.trace", "gpupool.explain.calendar"}),
        (["gpu", "--manifests", "pool.yaml"], MODELS),
        (["--catalogue"], {"gpupool.rendering.render", "gpupool.scheduling.types.market"}),
        (["GP5004"], {*MODELS, "yaml", "gpupool.catalogue.load", "gpupool.api"}),
        (["train", "--calendar"], {"gpupool.reports.explain.calendar_svg"}),
        (["train", "--calendar", "-o", "svg"], {"xml", "urllib.request", "ssl"}),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)  # fmt: skip
def test_only_what_it_needs_is_imported(arguments: list[str], unused: set[str], folder: Path) -> None:
    code = (
        "import sys; from gpupool.cli.app import main; main(sys.argv[1:]);"
        " sys.stderr.write(' '.join(sorted(sys.modules)))"
    )

    ended = subprocess.run(
        [sys.executable, "-c", code, "explain", *arguments],
        cwd=folder, capture_output=True, text=True, check=True, timeout=SECONDS,
    )  # fmt: skip

    imported = set(ended.stderr.split())
    assert "gpupool.cli.explain" in imported
    assert (unused | {"jinja2", "boto3", "rich"}) & imported == set()
