"""The pools of the source documents: what they launch in us-east-1, and what that costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gpupool.api import pools
from gpupool.codes import Code
from gpupool.scheduling.cost import calculate_ceiling
from gpupool.scheduling.explained import explain
from gpupool.scheduling.limits import find_exceeded_limits
from gpupool.scheduling.traps.find import find_traps
from gpupool.scheduling.types.typemasks import positions
from tests.scheduling.classes import CLASSES
from tests.scheduling.worlds import REGION, market
from tests.test_sources import BLUEPRINTS, KEYS, documented, rendered, with_documents

if TYPE_CHECKING:
    from gpupool.scheduling.explained import PoolExplanation
    from gpupool.scheduling.traps.trap import Trap
    from tests.rig.scheduling import Body

NODE_POOLS = [key for key in KEYS if key.kind == "NodePool"]
TYPES = {
    "gpu-general": (51, 45),
    "gpu-training": (12, 12),
    "gpu-inference": (14, 14),
    "gpu-spot-inference": (21, 21),
    "gpu-training-protected": (59, 53),
    "inferentia": (4, 4),
}
"""How many types are offered, and how many of these have a price: g7 has none."""


def body(name: str, source: str = "001") -> Body:
    """Return a pool as its blueprint renders it; tests of the sources hold that against the document."""
    return {"metadata": {"name": name}, "spec": next(spec for key, spec in rendered(source).items() if key == (source, "NodePool", name))}  # fmt: skip


def explained(name: str, source: str = "001") -> PoolExplanation:
    return explain(body(name, source), market(CLASSES["al2023"]))


def said(name: str, source: str = "001") -> dict[Code, list[Trap]]:
    found: dict[Code, list[Trap]] = {}
    for trap in find_traps(body(name, source), explained(name, source)):
        found.setdefault(trap.code, []).append(trap)
    return found


@pytest.mark.parametrize("name", TYPES)
def test_how_many_types_they_launch(name: str) -> None:
    found = explained(name).match

    assert (found.offered.bit_count(), found.launchable.bit_count()) == TYPES[name]


@with_documents
@pytest.mark.parametrize("key", NODE_POOLS, ids="/".join)
def test_a_document_s_own_pool_gets_the_same_types(key: Any) -> None:  # noqa: ANN401 - a key of the sources
    where = market(CLASSES["al2023"])
    own: Body = {"metadata": {"name": key.name}, "spec": documented(key.source)[key]}

    ours, theirs = explained(key.name, key.source), explain(own, where)

    assert theirs.match == ours.match
    assert theirs.ceiling == ours.ceiling


def test_one_machine_alone_breaks_the_memory_limit() -> None:
    found = explained("gpu-general")
    over = [
        found.market.kind(place).name
        for place in positions(found.match.launchable)
        if find_exceeded_limits(found.market.capacity(place), found.pool.limits)
    ]

    assert over == ["p6-b300.48xlarge"]
    assert [trap.message for trap in said("gpu-general")[Code.LIMIT_BELOW_NODE]] == [
        ("limit `memory: 2000Gi` excludes 1 of 45 types, because one node has more: p6-b300.48xlarge")
    ]


def test_32_gpus_are_dearest_one_by_one() -> None:
    found = explained("gpu-training")

    assert found.ceiling is not None
    assert found.ceiling.is_exact
    assert f"{found.ceiling.hourly:.2f}" == "220.16"
    place = found.market.catalogue.position("p5.4xlarge")
    assert place is not None
    assert f"{calculate_ceiling(found.market, 1 << place, found.pool.limits).hourly:.2f}" == "220.16"


@pytest.mark.parametrize("name", ["gpu-inference", "gpu-spot-inference"])
def test_four_machines_with_a_share_of_a_gpu_make_the_cost_unbounded(name: str) -> None:
    found = explained(name)
    shares = [
        each.kind.name
        for each in found.candidates
        if each.is_launchable and not each.allocatable["nvidia.com/gpu"]
    ]

    assert sorted(shares) == ["g6f.2xlarge", "g6f.4xlarge", "g6f.xlarge", "gr6f.4xlarge"]
    assert found.ceiling is not None
    assert (found.ceiling.hourly, found.ceiling.unbounded_by) == (None, "gr6f.4xlarge")
    assert Code.FRACTIONAL_GPUS in said(name)


def test_a_pool_without_limits_is_unbounded() -> None:
    found = explained("gpu-training-protected")

    assert found.pool.limits == {}
    assert found.ceiling is not None
    assert found.ceiling.hourly is None


def test_inferentia_costs_what_the_dearest_of_one_device_does() -> None:
    found = explained("inferentia")

    assert found.ceiling is not None
    assert found.ceiling.is_exact
    assert f"{found.ceiling.hourly:.2f}" == "62.97"


def test_limits_that_do_not_fit_together_are_told() -> None:
    """Of 64 GPUs, CPUs and memory admit at most 45, whichever of its machines the pool launches."""
    assert [trap.message for trap in said("gpu-inference-pool", "002")[Code.LIMIT_NOT_REACHED]] == [
        "limit `cpu: 1000` is never reached: the pool can use 960 at most",
        "limit `nvidia.com/gpu: 64` is never reached: the pool can use 45 at most",
    ]
    nodes = {
        each.kind.name: (each.admitted.nodes, each.admitted.registered, each.admitted.by)
        for each in explained("gpu-inference-pool", "002").candidates
    }
    assert nodes["p5.48xlarge"] == (2, 1, "memory")


def test_a_family_that_its_sizes_leave_out_is_told() -> None:
    assert [trap.message for trap in said("gpu", "003")[Code.DEAD_VALUE]] == [
        "`p3` matches no instance type of the pool: p3.2xlarge is not offered in us-east-1",
        "`p4d` matches no instance type of the pool: `karpenter.k8s.aws/instance-size` excludes its 1 type",
        "`p5` matches no instance type of the pool: `karpenter.k8s.aws/instance-size` excludes its 2 types",
    ]


def test_192_cpus_admit_twelve_of_the_smallest_p5() -> None:
    found = {each.kind.name: each.admitted.nodes for each in explained("gpu-training", "000").candidates}

    assert found == {"p5.4xlarge": 12, "p5.48xlarge": 1}


def test_the_blueprints_are_explained_whole() -> None:
    for path in sorted(BLUEPRINTS.glob("*.yaml")):
        found = pools([str(path)], region=REGION)
        assert {each.name for each in found.items} == {
            key.name for key in NODE_POOLS if key.source == path.stem
        }
