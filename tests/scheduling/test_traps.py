"""What surprises people in a pool's machines: where it bites, where it doesn't, what is said and of which line."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from gpupool.codes import Code
from gpupool.findings import Severity
from gpupool.karpenter import labels
from gpupool.scheduling.explained import explain
from gpupool.scheduling.traps.find import find_traps
from tests.scheduling.classes import CLASSES, node_class
from tests.scheduling.pools import node_pool
from tests.scheduling.worlds import market

if TYPE_CHECKING:
    from gpupool.scheduling.traps.trap import Trap
    from gpupool.scheduling.types.market import Market
    from tests.rig.scheduling import Body

GPUS, NAME, FAMILY = labels.INSTANCE_GPU_COUNT, labels.INSTANCE_GPU_NAME, labels.INSTANCE_FAMILY
SIZE, TYPE, CATEGORY = labels.INSTANCE_SIZE, labels.INSTANCE_TYPE, labels.INSTANCE_CATEGORY
GPU = "nvidia.com/gpu"
ENTRY = "spec.template.spec.requirements"


def pool(*said: str, **spec: object) -> Body:
    """Return a pool of conditions as `key In a,b`."""
    entries: list[Body] = []
    for each in said:
        key, operator, *values = each.split(" ")
        entries.append({"key": key, "operator": operator, "values": values[0].split(",") if values else []})
        if len(values) > 1:
            entries[-1]["minValues"] = int(values[1])
    return node_pool("p", entries, **spec)


def found(body: Body, where: Market | None = None) -> dict[Code, list[Trap]]:
    where = where or market(CLASSES["al2023"])
    said: dict[Code, list[Trap]] = {}
    for trap in find_traps(body, explain(body, where)):
        said.setdefault(trap.code, []).append(trap)
    return said


class Bite(NamedTuple):
    """A pool with a surprise, what is said of it and at which path, and a pool like it without."""

    code: Code
    pool: Body
    words: str
    path: str
    fix: str
    harmless: Body


IN = "list the values with In; Exists or a bound beside NotIn does not exclude such types"
TYPES = f"{TYPE} In p5.48xlarge"
BITES = {
    "bounds that contradict each other": Bite(
        Code.CONTRADICTION,
        pool(f"{GPUS} Gt 4", f"{GPUS} Lt 2"),
        f"requirements on `{GPUS}` conflict, which Karpenter reads as DoesNotExist: it launches 1270 "
        "types without that label",
        f"{ENTRY}.0",
        "change the requirements so that one value meets all of them",
        pool(f"{GPUS} Gt 1", f"{GPUS} Lt 5"),
    ),
    "two GPU names, each in an entry of its own": Bite(
        Code.CONTRADICTION,
        pool(f"{FAMILY} Exists", f"{NAME} In l4", f"{NAME} In h100"),
        f"requirements on `{NAME}` conflict, which Karpenter reads as DoesNotExist: it launches 1270 "
        "types without that label",
        f"{ENTRY}.1",
        "change the requirements so that one value meets all of them",
        pool(f"{NAME} In l4,h100", f"{NAME} In h100"),
    ),
    "a contradiction that leaves nothing": Bite(
        Code.CONTRADICTION,
        pool(f"{FAMILY} In g6", f"{FAMILY} In p5"),
        f"requirements on `{FAMILY}` conflict, which Karpenter reads as DoesNotExist",
        f"{ENTRY}.0",
        "change the requirements so that one value meets all of them",
        pool(f"{NAME} DoesNotExist", f"{NAME} DoesNotExist"),
    ),
    "NotIn of a GPU name": Bite(
        Code.CPU_TYPES,
        pool(f"{NAME} NotIn h100"),
        "the pool also matches 1259 types without a GPU or Neuron device: t4g.nano, t3a.nano, t3.nano, "
        f"t2.nano and 1255 more; `{NAME}` with NotIn also matches instance types without the label",
        f"{ENTRY}.0",
        IN,
        pool(f"{NAME} NotIn h100", f"{CATEGORY} In g,p"),
    ),
    "NotIn beside a bound": Bite(
        Code.CPU_TYPES,
        pool(f"{GPUS} Gt 0", f"{GPUS} NotIn 8"),
        f"; `{GPUS}` with NotIn beside a bound also matches instance types without the label",
        f"{ENTRY}.0",
        IN,
        pool(f"{GPUS} Gt 0", f"{GPUS} Lt 8"),
    ),
    "a pool with a limit on GPUs alone": Bite(
        Code.CPU_TYPES,
        pool(f"{TYPE} In g6.xlarge,m7i.large", limits={GPU: "8", "cpu": "99"}),
        "the pool also matches 1 type without a GPU or Neuron device: m7i.large",
        ENTRY,
        IN.partition(";")[0],
        pool(f"{TYPE} In m7i.large", limits={"cpu": "99"}),
    ),
    "g6f in the category g": Bite(
        Code.FRACTIONAL_GPUS,
        pool(f"{CATEGORY} In g", f"{labels.INSTANCE_GENERATION} In 6", limits={GPU: "8"}),
        "g6f.large, g6f.xlarge, g6f.2xlarge, g6f.4xlarge have a fraction of a GPU, which counts as 0: only pods "
        "that request no GPU land there",
        ENTRY,
        f'add `{{key: {GPUS}, operator: Gt, values: ["0"]}}` to the requirements',
        pool(f"{CATEGORY} In g", f"{labels.INSTANCE_GENERATION} In 6", f"{GPUS} Gt 0"),
    ),
    "gr6f": Bite(
        Code.FRACTIONAL_GPUS,
        pool(f"{GPUS} Lt 4", f"{CATEGORY} In gr"),
        "gr6f.4xlarge has a fraction of a GPU",
        f"{ENTRY}.0",
        f'add `{{key: {GPUS}, operator: Gt, values: ["0"]}}` to the requirements',
        pool(f"{GPUS} In 1", f"{CATEGORY} In gr"),
    ),
    "g5g in the category g": Bite(
        Code.MIXED_ARCHITECTURES,
        pool(f"{CATEGORY} In g", f"{labels.INSTANCE_GENERATION} In 5"),
        "g5g.xlarge, g5g.2xlarge, g5g.4xlarge, g5g.8xlarge and 2 more are arm64 and the others amd64; an image "
        "for one does not start on the other",
        ENTRY,
        f'add `{{key: {labels.ARCH}, operator: In, values: ["amd64"]}}` to the requirements',
        pool(f"{CATEGORY} In g", f"{labels.INSTANCE_GENERATION} In 5", f"{labels.ARCH} In amd64"),
    ),
    "a family that is none": Bite(
        Code.DEAD_VALUE,
        pool(f"{FAMILY} In g6,p4"),
        f"`p4` matches no instance type of the pool: no instance type has `{FAMILY}` p4",
        f"{ENTRY}.0.values.1",
        "remove it, or change what excludes it",
        pool(f"{FAMILY} In g6,p4d"),
    ),
    "a family of which no size is left": Bite(
        Code.DEAD_VALUE,
        pool(f"{SIZE} In xlarge,24xlarge", f"{FAMILY} In p5,g6"),
        f"`p5` matches no instance type of the pool: `{SIZE}` excludes its 2 types",
        f"{ENTRY}.1.values.0",
        "remove it, or change what excludes it",
        pool(f"{SIZE} In xlarge,48xlarge", f"{FAMILY} In p5,g6"),
    ),
    "a family that the region lacks": Bite(
        Code.DEAD_VALUE,
        pool(f"{FAMILY} In p5e,p5"),
        "`p5e` matches no instance type of the pool: p5e.48xlarge is not offered in us-east-1",
        f"{ENTRY}.0.values.0",
        "remove it, or change what excludes it",
        pool(f"{FAMILY} In p5en,p5"),
    ),
    "a GPU name in capitals": Bite(
        Code.DEAD_VALUE,
        pool(f"{NAME} In L4,l4"),
        f"`L4` matches no instance type of the pool: no instance type has `{NAME}` L4",
        f"{ENTRY}.0.values.0",
        "remove it, or change what excludes it",
        pool(f"{NAME} In l4"),
    ),
    "a limit below one of the machines": Bite(
        Code.LIMIT_BELOW_NODE,
        pool(f"{TYPE} In g6.xlarge,p5.48xlarge", limits={GPU: "4"}),
        f"limit `{GPU}: 4` excludes 1 of 2 types, because one node has more: p5.48xlarge",
        f"spec.limits.{GPU}",
        "raise the limit, or exclude these types",
        pool(f"{TYPE} In g6.xlarge,p5.48xlarge", limits={GPU: "8"}),
    ),
    "a limit of memory below every machine": Bite(
        Code.LIMIT_BELOW_NODE,
        pool(f"{TYPE} In p5.48xlarge,p5en.48xlarge", limits={GPU: "8", "memory": "1Ti"}),
        "limit `memory: 1Ti` excludes every type, because one node has more: p5.48xlarge, "
        "p5en.48xlarge",
        "spec.limits.memory",
        "raise the limit, or exclude these types",
        pool(f"{TYPE} In p5.48xlarge,p5en.48xlarge", limits={GPU: "8", "memory": "2Ti"}),
    ),
    "one GPU on a machine of eight": Bite(
        Code.LARGE_TYPE,
        pool(f"{FAMILY} In p5"),
        "a 1-GPU pod can land on p5.48xlarge (8 GPUs, 55.04 USD/h) when cheaper types are unavailable; the first "
        "choice is p5.4xlarge (6.88 USD/h)",
        ENTRY,
        f'add `{{key: {GPUS}, operator: Lt, values: ["2"]}}` to the requirements',
        pool(f"{FAMILY} In p5", f"{GPUS} Lt 2"),
    ),
    "one GPU on a machine of four": Bite(
        Code.LARGE_TYPE,
        pool(f"{TYPE} In g6.xlarge,g6.12xlarge"),
        "a 1-GPU pod can land on g6.12xlarge (4 GPUs, 4.60 USD/h) when cheaper types are unavailable",
        ENTRY,
        f'add `{{key: {GPUS}, operator: Lt, values: ["2"]}}` to the requirements',
        pool(f"{TYPE} In g6.xlarge,g6.16xlarge"),
    ),
    "no price": Bite(
        Code.NO_PRICE,
        pool(f"{FAMILY} In g7,g6"),
        "have no price: Karpenter launches such types only from a reservation, or with a price from a "
        "NodeOverlay",
        f"{ENTRY}.0",
        "",
        pool(f"{FAMILY} In g6"),
    ),
    "a family that is nowhere in the region": Bite(
        Code.NOTHING_LEFT,
        pool(f"{FAMILY} In p5e"),
        "the pool can't launch a node: p5e.48xlarge is excluded (not offered in us-east-1)",
        ENTRY,
        "run `gpupool explain p --why TYPE` for a type that should match",
        pool(f"{FAMILY} In p5en"),
    ),
    "too few families for minValues": Bite(
        Code.NOTHING_LEFT,
        pool(f"{FAMILY} In p5,p5en,p6-b200 3", f"{SIZE} In 4xlarge"),
        f"the pool can't launch a node: `{FAMILY}` has 1 different value, and minValues requires 3",
        ENTRY,
        "run `gpupool explain p --why TYPE` for a type that should match",
        pool(f"{FAMILY} In p5,p5en,p6-b200 3", f"{SIZE} In 48xlarge"),
    ),
    "a GPU name in capitals alone": Bite(
        Code.NOTHING_LEFT,
        pool(f"{NAME} In L4"),
        "the pool can't launch a node: no instance type meets all requirements",
        ENTRY,
        "run `gpupool explain p --why TYPE` for a type that should match",
        pool(f"{NAME} In l4"),
    ),
    "two types on spot": Bite(
        Code.FEW_SPOT_TYPES,
        pool(f"{TYPE} In g6.xlarge,g6.2xlarge", f"{labels.CAPACITY_TYPE} In spot"),
        "only 2 types can launch as spot: g6.xlarge, g6.2xlarge",
        f"{ENTRY}.1",
        "allow more types or sizes, or on-demand as well",
        pool(f"{FAMILY} In g6,g5", f"{labels.CAPACITY_TYPE} In spot"),
    ),
    "a limit on nodes alone": Bite(
        Code.SOFT_NODES,
        pool(TYPES, limits={"nodes": "4"}),
        "a limit on `nodes` alone can be exceeded when many pods arrive at once",
        "spec.limits.nodes",
        "also limit accelerators or cpu",
        pool(TYPES, limits={"nodes": "4", GPU: "32"}),
    ),
    "20 GPUs of machines with eight": Bite(
        Code.LIMIT_NOT_REACHED,
        pool(TYPES, limits={GPU: "20"}),
        f"limit `{GPU}: 20` is never reached: the pool can use 16 at most",
        f"spec.limits.{GPU}",
        "",
        pool(TYPES, limits={GPU: "16"}),
    ),
    "100 GPUs that the CPUs don't admit": Bite(
        Code.LIMIT_NOT_REACHED,
        pool(TYPES, limits={"cpu": "192", GPU: "100"}),
        f"limit `{GPU}: 100` is never reached: the pool can use 8 at most",
        f"spec.limits.{GPU}",
        "",
        pool(TYPES, limits={"cpu": "192", GPU: "8"}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BITES)
def test_where_it_bites_it_is_said(name: str) -> None:
    bite = BITES[name]

    said = found(bite.pool)[bite.code]

    meant = [trap for trap in said if ".".join(map(str, trap.path)) == bite.path]
    assert len(meant) == 1
    assert bite.words in meant[0].message
    assert meant[0].fix == bite.fix


@pytest.mark.parametrize("name", BITES)
def test_where_it_does_not_bite_nothing_is_said(name: str) -> None:
    assert BITES[name].code not in found(BITES[name].harmless)


@pytest.mark.parametrize("said", ["Exists", "Gt 0", "Lt 99999"])
def test_nothing_beside_notin_keeps_machines_without_a_gpu_out(said: str) -> None:
    beside = pool(f"{labels.INSTANCE_GPU_MEMORY} NotIn 24576", f"{labels.INSTANCE_GPU_MEMORY} {said}")

    assert "1259 types without a GPU" in found(beside)[Code.CPU_TYPES][0].message


def test_a_region_that_nobody_knows_leaves_the_offers_open() -> None:
    body = pool(TYPES, limits={GPU: "16"})

    for region, words in (
        ("eu-moon-1", "region eu-moon-1 is not in the catalogue"),
        (None, "no region is set"),
    ):
        said = found(body, market(CLASSES["al2023"], region))  # type: ignore[arg-type] # nobody named one
        assert [trap.message for trap in said.pop(Code.NOT_JUDGED)] == [
            f"{words}: zones, prices and offerings are not checked"
        ]
        assert said == {}
    assert found(body) == {}


@pytest.mark.parametrize(
    ("word", "value", "words"),
    [
        (
            "capacityReservationSelectorTerms",
            [{"id": "cr-1"}],
            "capacity reservations are not checked: only AWS knows their instance types",
        ),
        (
            "placementGroupSelector",
            {"name": "near"},
            "the placement group is not checked: only AWS knows its strategy",
        ),
    ],
    ids=["reservations", "placement group"],
)
def test_what_only_aws_knows_is_left_open(word: str, value: object, words: str) -> None:
    said = found(pool(TYPES), market(node_class("c", **{word: value})))

    assert [trap.message for trap in said[Code.NOT_JUDGED]] == [words]


def test_reservations_of_a_pool_that_allows_none_are_no_question() -> None:
    where = market(node_class("c", capacityReservationSelectorTerms=[{"id": "cr-1"}]))

    assert Code.NOT_JUDGED not in found(pool(TYPES, f"{labels.CAPACITY_TYPE} In on-demand"), where)
    assert Code.NOTHING_LEFT not in found(pool(TYPES, f"{labels.CAPACITY_TYPE} In reserved"), where)
    assert Code.NOTHING_LEFT in found(pool(TYPES, f"{labels.CAPACITY_TYPE} In reserved"))


def test_a_price_that_is_missing_elsewhere_is_said() -> None:
    said = found(pool(f"{FAMILY} In p5,p5e"), market(CLASSES["al2023"], "us-east-2"))

    assert said[Code.NO_PRICE][0].message.startswith("p5e.48xlarge has no price: Karpenter")
    assert "no price in the list" in said[Code.DEAD_VALUE][0].message


def test_limits_that_leave_too_few_families_are_an_error() -> None:
    """The types within the limits no longer have the values that minValues asks for."""
    body = pool(f"{FAMILY} In g6,p5 2", f"{SIZE} In xlarge,48xlarge", limits={GPU: "4"})

    said = found(body)[Code.NOTHING_LEFT]

    assert [(trap.severity, trap.path) for trap in said] == [(Severity.ERROR, ("spec", "limits"))]
    assert found(pool(f"{FAMILY} In g6,p5 2", f"{SIZE} In xlarge,48xlarge", limits={GPU: "8"})).get(
        Code.NOTHING_LEFT
    ) is None  # fmt: skip


def test_the_worst_is_said_first() -> None:
    order = [*Severity]
    for bite in BITES.values():
        said = [
            order.index(trap.severity)
            for trap in find_traps(bite.pool, explain(bite.pool, market(CLASSES["al2023"])))
        ]
        assert said == sorted(said)


def test_a_plain_pool_of_one_machine_has_no_surprise() -> None:
    assert found(pool(TYPES, limits={GPU: "16", "cpu": "384"})) == {}


def test_every_trap_is_shown_here() -> None:
    # Overlays have tests of their own.
    shown = {bite.code for bite in BITES.values()} | {Code.NOT_JUDGED, Code.OVERLAY_NOT_COUNTED}

    assert {code for code in Code if code.startswith("GP50")} == shown
