"""How explain's answers read: requirements in words, columns, and what limits and cost are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gpupool.explain.explanation import Explanation, explain_pool
from gpupool.karpenter.labels import INSTANCE_FAMILY, INSTANCE_GPU_COUNT, INSTANCE_TYPE
from gpupool.karpenter.requirements import build_requirement
from gpupool.pools import LoadedNodePool, LoadedNodePools
from gpupool.reports.explain.json_text import to_json
from gpupool.reports.explain.text import MAX_ROWS, format_requirement, render_overview, render_page
from gpupool.reports.tables import align_rows
from gpupool.scheduling.types.typemasks import positions
from gpupool.yamlio.documents import read_documents
from tests.scheduling.classes import CLASSES
from tests.scheduling.pools import node_pool
from tests.scheduling.worlds import REGION, market, masks

if TYPE_CHECKING:
    from tests.rig.scheduling import Body

REQUIREMENTS = {
    "a value": (build_requirement("key", "In", ("a",)), "`key` In [a]"),
    "values in order": (build_requirement("key", "NotIn", ("b", "a")), "`key` NotIn [a, b]"),
    "many values": (
        build_requirement("key", "In", tuple("abcdefghijk")),
        "`key` In [a, b, c, d, e, f, g, h and 3 more]",
    ),
    "none": (build_requirement("key", "In"), "`key` DoesNotExist"),
    "any": (build_requirement("key", "Exists"), "`key` Exists"),
    "a bound": (build_requirement("key", "Gt", ("4",)), "`key` >= 5"),
    "two bounds": (
        build_requirement("key", "Gt", ("4",)).intersection(build_requirement("key", "Lte", ("8",))),
        "`key` >= 5 and <= 8",
    ),
    "a bound beside NotIn": (
        build_requirement("key", "Gt", ("0",)).intersection(build_requirement("key", "NotIn", ("8",))),
        "`key` NotIn [8] >= 1",
    ),
    "what a terminal would obey": (build_requirement("k\x1b[2J", "In", ("a\nb",)), r"`k\x1b[2J` In [a\nb]"),
}  # fmt: skip


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_a_requirement_in_words(name: str) -> None:
    found, words = REQUIREMENTS[name]

    assert format_requirement(found) == words


def test_columns_stand_under_each_other() -> None:
    rows = [("NAME", "N", ""), ("a", "10", "x"), ("long", "9", "")]

    assert list(align_rows(rows, right={1})) == ["NAME   N", "a     10  x", "long   9"]


def explained(body: Body, region: str | None = REGION) -> Explanation:
    """Explain a NodePool that stands in a file."""
    where = market(CLASSES["al2023"], region)  # type: ignore[arg-type] # nobody named one
    return explain_pool(LoadedNodePools((entry(body, where),), region, (), ()), body["metadata"]["name"])


def entry(body: Body, where: Any) -> LoadedNodePool:  # noqa: ANN401 - a market
    import json

    node = next(read_documents(json.dumps(body).encode(), "pool.yaml")).node
    assert node is not None
    return LoadedNodePool(body["metadata"]["name"], body["metadata"]["name"], node, body, where, "c")


def pool(*types: str, **spec: object) -> Body:
    entries = [{"key": INSTANCE_TYPE, "operator": "In", "values": [*types]}] if types else []
    return node_pool("gpu", entries, **spec)


def lines(body: Body, region: str | None = REGION) -> list[str]:
    return render_page(explained(body, region)).splitlines()


def test_more_types_than_a_page_holds_are_counted() -> None:
    written = lines(pool(limits={"cpu": "8"}))

    table = written[written.index("1400 candidate types, 1328 launchable") + 1 :]
    assert table[0].startswith("TYPE ")
    assert table[MAX_ROWS + 1] == f"... and {1400 - MAX_ROWS} more; -o json lists all of them"


def test_the_cheapest_stand_first_and_those_without_a_price_last() -> None:
    prices = [each.price for each in explained(pool()).answers[0].explained.candidates]
    known = [price for price in prices if price is not None]

    assert known == sorted(known)
    assert prices[len(known) :] == [None] * (len(prices) - len(known))
    assert len(known) < len(prices)


def test_memory_of_registered_nodes_is_told_beside_what_karpenter_expects() -> None:
    written = lines(pool("p5.48xlarge", limits={"memory": "4000Gi"}))

    row = next(line for line in written if line.startswith("p5.48xlarge"))
    assert row.endswith("  abcdef    1-2")
    assert any(line.startswith("  NODES with two numbers: ") for line in written)
    assert not any("NODES with two" in line for line in lines(pool("p5.48xlarge", limits={"cpu": "400"})))


LIMITS = {
    "binds": ({"nvidia.com/gpu": "16"}, ["  nvidia.com/gpu  16  binds"]),
    "is never reached": (
        {"nvidia.com/gpu": "16", "cpu": "1000"},
        ["  nvidia.com/gpu    16  binds", "  cpu             1000  never reached: 384 can be used within the limits"],
    ),
    "of memory is in Gi": ({"memory": "2000Gi"}, ["  memory  2000Gi  never reached: 1894.4Gi can be used within the limits"]),
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_that(name: str) -> None:
    limits, words = LIMITS[name]
    written = lines(pool("p5.48xlarge", limits=limits))

    start = written.index("Limits") + 1
    assert written[start : start + len(words)] == words


COSTS = {
    "is exact": (
        pool("p5.48xlarge", limits={"nvidia.com/gpu": "16"}),
        "Cost when the limits are reached: 110.08 USD an hour, 80,358 USD a month",
        "110.08",
    ),
    # Nine GPUs at an eighth of p5.48xlarge's 55.04; 55.84 is what a mix really costs.
    "is bounded": (
        pool("p5.48xlarge", "g6.xlarge", limits={"memory": "2000Gi", "cpu": "300", "nvidia.com/gpu": "9"}),
        "Cost when the limits are reached: at most 61.92 USD an hour, 45,202 USD a month",
        "61.92",
    ),
    "has no bound": (
        pool("g6.xlarge", "g6f.large", limits={"nvidia.com/gpu": "9"}),
        "Cost: unbounded: no limit counts a resource of g6f.large",
        "unbounded (g6f.large)",
    ),
}


@pytest.mark.parametrize("name", COSTS)
def test_a_cost_that(name: str) -> None:
    body, words, short = COSTS[name]

    assert next(line for line in lines(body) if line.startswith("Cost")) == words
    assert render_overview([explained(body)]).splitlines()[1].split("  ")[-1] == short


def test_without_a_region_nothing_is_said_of_prices() -> None:
    found = explained(pool("p5.48xlarge", limits={"nvidia.com/gpu": "16"}), None)

    text, told = render_page(found), to_json(found)

    assert "USD an hour" not in text
    assert "  region  not set" in text
    assert (told["cost"], told["onePod"], told["offeringsJudged"]) == (None, None, False)
    assert render_overview([found]).splitlines()[1].split() == ["gpu", "0", "1", "-", "-"]


def test_limits_of_types_as_programs_read_them() -> None:
    body = node_pool("gpu", [{"key": INSTANCE_FAMILY, "operator": "In", "values": ["g6"]},
                             {"key": INSTANCE_GPU_COUNT, "operator": "Gt", "values": ["1"]}], limits={"nvidia.com/gpu": "4"})  # fmt: skip

    told: Any = to_json(explained(body))["limits"]

    assert told["nodes"] == {"g6.12xlarge": 1, "g6.24xlarge": 1, "g6.48xlarge": 0}
    assert told["never"] == ["g6.48xlarge"]
    assert told["reached"] == {"nvidia.com/gpu": {"most": 4, "exact": True, "binds": True}}


def test_as_many_types_as_a_page_holds_are_all_there() -> None:
    names = [
        masks().catalogue.names[place]
        for place in positions(
            masks().find_types_by_fact(
                "family", lambda it: it in {"m5", "c5", "r5", "m6i", "c6i", "r6i", "m7i"}
            )
        )
    ]
    held = lines(pool(*names[:MAX_ROWS]))
    one_more = lines(pool(*names[: MAX_ROWS + 1]))

    assert f"{MAX_ROWS} candidate types" in "\n".join(held)
    assert [line for line in held if "-o json" in line] == []
    assert [line for line in one_more if "-o json" in line] == ["... and 1 more; -o json lists all of them"]
