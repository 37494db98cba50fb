"""Limits in USD per hour: each number here is reckoned by hand from the price list of 2026-07-06."""

from __future__ import annotations

import gzip
import json
import re
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpupool.api import render_files
from gpupool.blueprint.pool import BlueprintLimits
from gpupool.catalogue.accelerators import Maker
from gpupool.catalogue.load import SHIPPED, load_shipped
from gpupool.cli.app import main
from gpupool.codes import Code
from gpupool.errors import InputError
from gpupool.expansion.limits import to_karpenter_limits
from gpupool.findings import Location, Severity
from gpupool.yamlio.located import Located, leaf, plain
from tests.tiers import examples

if TYPE_CHECKING:
    from gpupool.findings import Finding
    from gpupool.rendering.render import Rendered
    from gpupool.yamlio.located import Plain

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-blueprint.md"
HEAD = """\
apiVersion: gpupool.dev/v1alpha1
kind: Blueprint
metadata: {name: lab}
defaults: {nodeClass: {ami: al2023@v20260810}}
"""
VIRGINIA = "name: lab, region: us-east-1, features: [NodeOverlay]"
H100 = "accelerator: h100, instances: {types: p5.48xlarge}"


def rendered(tmp_path: Path, pool: str, cluster: str = VIRGINIA, rest: str = "") -> Rendered:
    file = tmp_path / "gpupool.yaml"
    file.write_text(f"{HEAD}cluster: {{{cluster}}}\n{rest}pools:\n  a: {{{pool}}}\n", "utf-8")
    return render_files([str(file)])


def limits(made: Rendered) -> dict[str, Plain]:
    """Return the limits of each NodePool."""
    found = {}
    for each in made.manifests:
        if each.ref.kind == "NodePool":
            assert isinstance(each.data, dict)
            spec = each.data["spec"]
            assert isinstance(spec, dict)
            found[each.ref.name] = spec.get("limits")
    return found


def wrong(tmp_path: Path, pool: str, cluster: str = VIRGINIA, rest: str = "") -> list[Finding]:
    with pytest.raises(InputError) as problem:
        rendered(tmp_path, pool, cluster, rest)
    return [finding for finding in problem.value.findings if finding.severity is Severity.ERROR]


LIMITS = {
    "two nodes of eight H100": (f"{H100}, limits: {{usdPerHour: 110.08}}", {"nvidia.com/gpu": 16}),
    "a cent less is one GPU less": (f"{H100}, limits: {{usdPerHour: 110.07}}", {"nvidia.com/gpu": 15}),
    "the dearest L4 is in g6.16xlarge, 3.3968": (
        "accelerator: l4, limits: {usdPerHour: 34}", {"nvidia.com/gpu": 10},
    ),
    "only g6.xlarge, 0.8048": (
        "accelerator: l4, instances: {types: g6.xlarge}, limits: {usdPerHour: 50}", {"nvidia.com/gpu": 62},
    ),
    "floating point would lose one: 3 x 0.8048": (
        "accelerator: l4, instances: {types: g6.xlarge}, limits: {usdPerHour: 2.4144}", {"nvidia.com/gpu": 3},
    ),
    "slices of a shared GPU": (
        "accelerator: l4, instances: {types: g6.xlarge}, sharing: {timeSlicing: 4}, limits: {usdPerHour: 8.048}",
        {"nvidia.com/gpu": 40},
    ),
    "Neuron devices": ("accelerator: trainium, instances: {types: trn1.2xlarge}, limits: {usdPerHour: 2.6876}",
                       {"aws.amazon.com/neuron": 2}),
    "no other limit is filled in": (f"{H100}, limits: {{usdPerHour: 55.04, nodes: 3}}", {"nodes": 3, "nvidia.com/gpu": 8}),
    "machines by type alone": ("instances: {types: g5.xlarge}, limits: {usdPerHour: 10.06}", {"nvidia.com/gpu": 10}),
    "a guard of gpus keeps g6f out": (
        "instances: {families: [g6, g6f], sizes: xlarge, gpus: {above: 0}}, limits: {usdPerHour: 1}", {"nvidia.com/gpu": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("pool", "expected"), LIMITS.values(), ids=LIMITS)
def test_money_becomes_one_limit(pool: str, expected: Plain, tmp_path: Path) -> None:
    made = rendered(tmp_path, pool)

    assert limits(made) == {"a": expected}
    (said,) = [finding for finding in made.findings if finding.code == Code.USD_REASONING]
    assert (said.severity, said.at.line, "(us-east-1, 2026-07-06, on-demand)" in said.message) == (
        "info",
        7,
        True,
    )


def test_how_it_was_worked_out(tmp_path: Path) -> None:
    (said,) = rendered(tmp_path, f"{H100}, limits: {{usdPerHour: 110.08}}").findings

    assert said.message == (
        "110.08 USD/h becomes a limit of 16 accelerators: one costs up to 55.04 / 8 = 6.88 USD/h in p5.48xlarge "
        "(us-east-1, 2026-07-06, on-demand)"
    )


def test_a_tier_takes_its_share_of_the_money(tmp_path: Path) -> None:
    pool = (
        f"{H100}, limits: {{usdPerHour: 440.32}}, tiers: {{spot: {{capacity: spot, limits: 50%}},"
        " steady: {limits: 25%}, own: {limits: {usdPerHour: 60}}, rest: {}}"
    )

    made = rendered(tmp_path, pool)

    expected = {"a-spot": 32, "a-steady": 16, "a-own": 8, "a-rest": 64}
    assert limits(made) == {name: {"nvidia.com/gpu": count} for name, count in expected.items()}


ERRORS = {
    "no accelerators": (
        "instances: {categories: c}, limits: {usdPerHour: 50}", "this pool matches none", "set `cpu` or `nodes`",
    ),
    "accelerator: none": ("accelerator: none, limits: {usdPerHour: 50}", "this pool matches none", "set `cpu`"),
    "chips that nobody counts": (
        "instances: {families: dl2q}, limits: {usdPerHour: 50}", "does not count those of qualcomm", "set `nodes`",
    ),
    "no price": ("accelerator: rtx-pro-4500, limits: {usdPerHour: 50}", "no price in us-east-1 (2026-07-06) for g7.12xlarge, g7.24xlarge", "exclude them"),
    "fractions of a GPU": (
        "instances: {families: [g6, g6f]}, limits: {usdPerHour: 50}", "without `nvidia.com/gpu`", "{gpus: {above: 0}}",
    ),
    "CPU machines": (
        "instances: {families: [g6, c7i]}, limits: {usdPerHour: 50}", "c7i.12xlarge, c7i.16xlarge", "{gpus: {above: 0}}",
    ),
    "CPU machines beside Neuron": (
        "instances: {families: [inf2, c7i]}, limits: {usdPerHour: 50}", "without `aws.amazon.com/neuron`", "accelerator: neuron",
    ),
    "nothing offered here": ("accelerator: h200, instances: {families: p5e}, limits: {usdPerHour: 50}", "is offered in us-east-1", ""),
    "nothing in this zone": (f"{H100}, zones: use1-az9, limits: {{usdPerHour: 50}}", "is offered in us-east-1", ""),
    "not even one": (f"{H100}, limits: {{usdPerHour: 6.87}}", "less than one accelerator costs: 6.88 USD/h in p5.48xlarge", "set at least `usdPerHour: 6.88`"),
    "several kinds": (
        "instances: {types: [g6.xlarge, trn1.2xlarge]}, limits: {usdPerHour: 50}", "without `nvidia.com/gpu`", "above: 0",
    ),
    "several kinds by size alone": (
        "instances: {cpu: 96, generation: {below: 6}}, limits: {usdPerHour: 50}", "matches several kinds: ", "select one with",
    ),
    "a share of too little": (
        f"{H100}, limits: {{usdPerHour: 7}}, tiers: {{x: {{limits: 50%}}}}", "3.5 USD/h is less than one accelerator", "set at least `usdPerHour: 6.88`",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("pool", "message", "fix"), ERRORS.values(), ids=ERRORS)
def test_money_that_limits_nothing(pool: str, message: str, fix: str, tmp_path: Path) -> None:
    (found,) = wrong(tmp_path, pool)

    assert (found.code, found.at.line) == (Code.USD_LIMIT, 7)
    assert message in found.message
    assert fix in found.fix


BOTH = {
    "fewer GPUs": (f"{H100}, limits: {{usdPerHour: 110.08, gpus: 8}}", 8, "`usdPerHour: 110.08` has no effect", "16", "8"),
    "GPUs first": (f"{H100}, limits: {{gpus: 8, usdPerHour: 110.08}}", 8, "`usdPerHour: 110.08` has no effect", "16", "8"),
    "less money": (f"{H100}, limits: {{gpus: 64, usdPerHour: 110.08}}", 16, "`gpus: 64` has no effect", "64", "16"),
    "the resource's own name": (
        f"{H100}, limits: {{nvidia.com/gpu: 64, usdPerHour: 110.08}}", 16, "`nvidia.com/gpu: 64` has no effect", "64", "16",
    ),
    "slices": (
        f"{H100}, sharing: {{timeSlicing: 4}}, limits: {{gpus: 20, usdPerHour: 110.08}}", 64, "`gpus: 20` has no effect", "80", "64",
    ),
    "a pool and its tier": (
        f"{H100}, limits: {{gpus: 4}}, tiers: {{x: {{limits: {{usdPerHour: 110.08}}}}}}", 4, "`usdPerHour: 110.08`", "16", "4",
    ),
    "a share": (
        f"{H100}, limits: {{gpus: 64, usdPerHour: 220.16}}, tiers: {{x: {{limits: 50%}}}}", 16, "`gpus: 32` has no effect", "32", "16",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("pool", "limit", "text", "other", "chosen"), BOTH.values(), ids=BOTH)
def test_the_smaller_of_money_and_a_number_counts(
    pool: str, limit: int, text: str, other: str, chosen: str, tmp_path: Path
) -> None:
    made = rendered(tmp_path, pool)

    assert list(limits(made).values()) == [{"nvidia.com/gpu": limit}]
    (note,) = [each for each in made.findings if each.code == Code.LIMIT_WITHOUT_EFFECT]
    assert note.severity is Severity.INFO
    assert text in note.message
    assert f"limit of {other} `nvidia.com/gpu`" in note.message
    assert f"one of {chosen};" in note.message


def test_money_and_a_number_that_are_the_same(tmp_path: Path) -> None:
    made = rendered(tmp_path, f"{H100}, limits: {{gpus: 16, usdPerHour: 110.08}}")

    assert limits(made) == {"a": {"nvidia.com/gpu": 16}}
    assert Code.LIMIT_WITHOUT_EFFECT not in [each.code for each in made.findings]


@pytest.mark.parametrize(("gpus", "limit"), [(3, 3), (64, 16)])
def test_money_and_a_number_of_amd(gpus: int, limit: int) -> None:
    """EC2 no longer sells AMD's GPUs, so no blueprint gets this far."""
    at = Location("pools.yaml", 1, 1)
    both = BlueprintLimits(Located({"gpus": Located(gpus, at), "usdPerHour": Located(500, at)}, at))
    findings: list[Finding] = []

    made = to_karpenter_limits(both, Maker.AMD, 1, lambda usd: ("amd.com/gpu", leaf(16, usd)), (), findings)

    assert plain(made) == {"amd.com/gpu": limit}
    assert [each.code for each in findings] == [Code.LIMIT_WITHOUT_EFFECT]


def test_a_later_layer_adds_a_limit_in_the_other_unit(tmp_path: Path) -> None:
    pool = f"{H100}, limits: {{gpus: 40, nodes: 9}}, tiers: {{x: {{limits: {{usdPerHour: 110.08}}}}}}"

    assert limits(rendered(tmp_path, pool)) == {"a-x": {"nodes": 9, "nvidia.com/gpu": 16}}


@pytest.mark.parametrize("money", ["0", "-1", "'50'", "true", "2000000000", "50 USD"])
def test_what_is_no_amount(money: str, tmp_path: Path) -> None:
    (found,) = wrong(tmp_path, f"{H100}, limits: {{usdPerHour: {money}}}")

    assert found.code in (Code.WRONG_TYPE, Code.WRONG_VALUE)
    assert "pools.a.limits.usdPerHour" in found.path


def test_less_than_one_machine_is_a_warning(tmp_path: Path) -> None:
    made = rendered(tmp_path, f"{H100}, limits: {{usdPerHour: 50}}")

    (found,) = [finding for finding in made.findings if finding.severity is Severity.WARNING]
    assert (found.code, found.fix) == (Code.USD_LIMIT, "set at least `usdPerHour: 55.04`")
    assert found.message == "50 USD/h pays for 7 accelerators, fewer than any node has: 8 in p5.48xlarge"


def test_a_region_without_prices_of_its_own(tmp_path: Path) -> None:
    made = rendered(tmp_path, f"{H100}, limits: {{usdPerHour: 110.08}}", "name: lab, region: eu-north-1")

    assert limits(made) == {"a": {"nvidia.com/gpu": 16}}
    (found,) = [finding for finding in made.findings if finding.code == Code.OTHER_PRICES]
    assert (found.severity, found.message) == (
        "info", "the catalogue has no prices for eu-north-1; using those of us-east-1",
    )  # fmt: skip


def test_a_region_with_prices_of_its_own(tmp_path: Path) -> None:
    made = rendered(
        tmp_path, "accelerator: t4, instances: {types: g4dn.xlarge}, limits: {usdPerHour: 10}", "name: lab, region: us-gov-west-1",
    )  # fmt: skip

    place = load_shipped().position("g4dn.xlarge")
    prices = load_shipped().prices("us-gov-west-1")
    assert place is not None
    assert prices is not None
    price = Fraction(str(prices.amounts[place]))
    assert price != Fraction("0.526")
    assert limits(made) == {"a": {"nvidia.com/gpu": 10 // price}}
    assert [finding.code for finding in made.findings] == [Code.USD_REASONING]


def test_prices_in_another_currency(tmp_path: Path) -> None:
    (found,) = wrong(tmp_path, "accelerator: t4, limits: {usdPerHour: 10}", "name: lab, region: cn-north-1")

    assert (found.code, found.message) == (Code.USD_LIMIT, "the prices of cn-north-1 are in CNY, not in USD")


def test_without_a_region_what_is_still_offered_somewhere_counts(tmp_path: Path) -> None:
    cluster = "name: lab"
    # p3, which is retired, was dearer by the GPU than p3dn's 31.212 / 8 is not; p3dn alone is left.
    made = rendered(tmp_path, "accelerator: v100, limits: {usdPerHour: 31.212}", cluster)

    assert limits(made) == {"a": {"nvidia.com/gpu": 8}}
    (found,) = wrong(tmp_path, "accelerator: k80, limits: {usdPerHour: 50}", cluster)
    assert found.message == "the pool matches no instance type that is offered"


def test_words_that_are_wrong_say_so_alone(tmp_path: Path) -> None:
    (found,) = wrong(tmp_path, "accelerator: h10O, limits: {usdPerHour: 50}")

    assert found.code == Code.MISSPELT_NAME


def test_a_declared_class_narrows_the_machines(tmp_path: Path) -> None:
    pool = "nodeClass: old, accelerator: l4, instances: {sizes: xlarge}, limits: {usdPerHour: 8.048}"
    kubelet = "nodeClasses: {old: {external: true, kubelet: {maxPods: 20}}}\n"

    assert limits(rendered(tmp_path, pool, rest=kubelet)) == {"a": {"nvidia.com/gpu": 10}}


def test_caps_on_the_money_of_all_pools(tmp_path: Path) -> None:
    pools = f"{H100}, limits: {{usdPerHour: 110.08}}}}\n  b: {{accelerator: none, limits: {{cpu: 8}}"

    assert len(rendered(tmp_path, pools, rest="limits: {usdPerHour: 110.08}\n").manifests) == 4
    (over,) = wrong(tmp_path, pools, rest="limits: {usdPerHour: 110}\n")
    assert (
        over.message
        == "the pools' limits on `usdPerHour` add up to 110.08, more than the cap of 110: a 110.08"
    )
    (open_ended,) = wrong(tmp_path, f"{H100}, limits: {{gpus: 8}}", rest="limits: {usdPerHour: 110}\n")
    assert "no such limit in a" in open_ended.message


def test_the_guide_shows_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = dict(
        re.findall(
            r"```(yaml|text)\n(.*?)```", GUIDE.read_text("utf-8").partition("## Limits,")[2], re.DOTALL
        )[:2]
    )
    (tmp_path / "budget.yaml").write_text(blocks["yaml"], "utf-8")
    monkeypatch.chdir(tmp_path)

    assert main(["render", "-v", "-f", "budget.yaml"]) == 0

    printed = capsys.readouterr()
    assert printed.err == blocks["text"]
    assert "nvidia.com/gpu: 16\n" in printed.out


@cache
def of_one_type() -> dict[str, tuple[str, int]]:
    """Return the price, as it is written, and the GPUs of each GPU type that us-east-1 offers."""
    document = json.loads(gzip.decompress(SHIPPED.read_bytes()))
    assert isinstance(document, dict)
    catalogue, prices = load_shipped(), load_shipped().prices("us-east-1")
    zones = catalogue.offered("us-east-1")
    assert prices is not None
    assert zones is not None
    found = {}
    for place, name in enumerate(catalogue.names):
        gpus = catalogue.columns["gpus"].at(place)
        if isinstance(gpus, tuple) and isinstance(gpus[0], tuple) and zones.at(place):
            maker, count, price = gpus[0][1], gpus[0][2], prices.amounts[place]
            if maker == "NVIDIA" and isinstance(count, int) and count and price is not None:
                found[name] = (repr(price), count)
    return found


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=examples(60),
    deadline=None,
    derandomize=True,
    database=None,
)
@given(
    st.lists(st.sampled_from(sorted(of_one_type())), min_size=1, max_size=3, unique=True),
    st.decimals(min_value="0.01", max_value="5000", places=4),
)
def test_the_limit_is_the_largest_that_the_money_pays_for(
    tmp_path: Path, types: list[str], money: object
) -> None:
    pool = f"instances: {{types: [{', '.join(types)}]}}, limits: {{usdPerHour: {money}}}"
    dearest = max(Fraction(price) / count for price, count in (of_one_type()[name] for name in types))
    expected = Fraction(str(money)) // dearest

    if expected:
        (made,) = limits(rendered(tmp_path, pool)).values()
        assert made == {"nvidia.com/gpu": expected}
        assert expected * dearest <= Fraction(str(money)) < (expected + 1) * dearest
    else:
        (found,) = wrong(tmp_path, pool)
        assert found.code == Code.USD_LIMIT
