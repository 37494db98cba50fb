"""Amounts: what limits add up to over pools and tiers, and whether the blueprint's caps hold."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from gpupool.catalogue.accelerators import RESOURCES, Maker
from gpupool.codes import Code
from gpupool.expansion.expanded import ExpandedPool
from gpupool.expansion.limits import USD, dollars, unknown_resource
from gpupool.expansion.problem import error, info
from gpupool.findings import Finding
from gpupool.karpenter.quantities import amount
from gpupool.yamlio.nodes import Node, mapping


def total_limits(caps: Node | None, pools: Sequence[ExpandedPool]) -> Iterator[Finding]:
    """Find caps on the whole blueprint that the pools' own limits do not keep."""
    for key, cap in mapping(caps).items():
        if cap.value is None:
            continue
        if key not in ("gpus", USD) and (unknown := unknown_resource(key, cap)):
            yield unknown.finding
            continue
        counted = [pool for pool in pools if _counts(pool, key)]
        open_ended = [pool.name for pool in counted if _limit(pool, key) is None]
        total = sum((_limit(pool, key) or Decimal(0) for pool in counted), Decimal(0))
        if open_ended:
            message = (
                f"`limits.{key}` {cap.value} is not guaranteed: no such limit in {', '.join(open_ended[:5])}"
            )
            yield error(Code.TOTAL_LIMIT, message, cap, f"set a limit on `{key}` in each pool")
        elif total > (dollars(cap) if key == USD else amount(str(cap.value))):
            parts = ", ".join(f"{pool.name} {_limit(pool, key):f}" for pool in counted[:8])
            message = (
                f"the pools' limits on `{key}` add up to {total:f}, more than the cap of {cap.value}: {parts}"
            )
            yield error(Code.TOTAL_LIMIT, message, cap, "lower a pool's limit, or raise the cap")


def tier_sums(pools: Sequence[ExpandedPool]) -> Iterator[Finding]:
    """State what the tiers of a pool may hold together: Karpenter has no limit over several NodePools."""
    by_pool: dict[str, list[ExpandedPool]] = {}
    for item in pools:
        by_pool.setdefault(item.pool, []).append(item)
    for name, tiers in by_pool.items():
        keys = {key for tier in tiers for key in mapping(tier.limits)} if len(tiers) > 1 else set()
        for key in sorted(keys):
            amounts = [(tier.name, Decimal(amount(str(mapping(tier.limits)[key].value)))) for tier in tiers
                       if key in mapping(tier.limits)]  # fmt: skip
            if len(amounts) == len(tiers):
                parts = " + ".join(f"{tier} {each:f}" for tier, each in amounts)
                total = sum(each for _, each in amounts)
                message = f"the tiers of pool `{name}` can hold {total:f} `{key}` together: {parts}"
                yield info(Code.TIER_SUM, message, mapping(tiers[0].limits)[key])


def _counts(pool: ExpandedPool, key: str) -> bool:
    """Say whether a cap is on what the pool has: GPUs, or money for accelerators."""
    if key == USD:
        return pool.maker is not None or pool.usd_per_hour is not None
    return key != "gpus" or pool.maker in (Maker.NVIDIA, Maker.AMD)


def _limit(pool: ExpandedPool, key: str) -> Decimal | None:
    if key == USD:
        return None if pool.usd_per_hour is None else dollars(pool.usd_per_hour)
    keys = (RESOURCES[Maker.NVIDIA], RESOURCES[Maker.AMD]) if key == "gpus" else (key,)
    amounts = [
        Decimal(amount(str(node.value))) for name, node in mapping(pool.limits).items() if name in keys
    ]
    return sum(amounts, Decimal(0)) / (pool.slices if key == "gpus" else 1) if amounts else None
