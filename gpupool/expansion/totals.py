"""Amounts: what limits add up to over pools and tiers, and whether the blueprint's caps hold."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from gpupool.catalogue.accelerators import RESOURCES, Maker
from gpupool.codes import Code
from gpupool.expansion.expanded import ExpandedPool
from gpupool.expansion.problem import error, info
from gpupool.findings import Finding
from gpupool.yamlio.nodes import Node, mapping


def total_limits(caps: Node | None, pools: Sequence[ExpandedPool]) -> Iterator[Finding]:
    """Find caps on the whole blueprint that the pools' own limits do not keep."""
    for key, cap in mapping(caps).items():
        if cap.value is None:
            continue
        counted = [pool for pool in pools if key != "gpus" or pool.maker in (Maker.NVIDIA, Maker.AMD)]
        open_ended = [pool.name for pool in counted if _limit(pool, key) is None]
        total = sum((_limit(pool, key) or Decimal(0) for pool in counted), Decimal(0))
        if open_ended:
            message = (
                f"the cap of {cap.value} on `{key}` does not hold: no limit in {', '.join(open_ended[:5])}"
            )
            yield error(Code.TOTAL_LIMIT, message, cap, f"give each pool a limit on `{key}`")
        elif total > quantity(str(cap.value)):
            parts = ", ".join(f"{pool.name} {_limit(pool, key):f}" for pool in counted[:8])
            message = (
                f"the pools' limits on `{key}` add up to {total:f}, over the cap of {cap.value}: {parts}"
            )
            yield error(Code.TOTAL_LIMIT, message, cap, "lower a pool's limit or raise the cap")


def tier_sums(pools: Sequence[ExpandedPool]) -> Iterator[Finding]:
    """State what the tiers of a pool may hold together: Karpenter has no limit over several NodePools."""
    by_pool: dict[str, list[ExpandedPool]] = {}
    for item in pools:
        by_pool.setdefault(item.pool, []).append(item)
    for name, tiers in by_pool.items():
        keys = {key for tier in tiers for key in mapping(tier.limits)} if len(tiers) > 1 else set()
        for key in sorted(keys):
            amounts = [(tier.name, quantity(str(mapping(tier.limits)[key].value))) for tier in tiers
                       if key in mapping(tier.limits)]  # fmt: skip
            if len(amounts) == len(tiers):
                parts = " + ".join(f"{tier} {amount:f}" for tier, amount in amounts)
                message = (
                    f"pool `{name}` may hold {sum(amount for _, amount in amounts):f} `{key}` in all: {parts}"
                )
                yield info(Code.TIER_SUM, message, mapping(tiers[0].limits)[key])


_QUANTITY = re.compile(r"([+-]?[0-9.]+)(?:([KMGTPE]i|[numkMGTPE])|[eE](.+))?")
_SUFFIXES = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
"""Powers of ten."""
_FURTHEST = Decimal(30)
"""Kubernetes keeps no amount over 2^63 and none below a nano, so what lies beyond this tells nothing more."""

_BINARY_SUFFIXES = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
"""Powers of 1024, from the first on."""


def quantity(text: str) -> Decimal:
    """Give the amount of a Kubernetes quantity that its pattern lets through, as in `2000Gi` or `500m`.

    Raises:
        ValueError: for a text that is no quantity.
    """
    found = _QUANTITY.fullmatch(text)
    if found is None:
        message = f"{text!r} is no quantity"
        raise ValueError(message)
    number, suffix, exponent = found.groups()
    if suffix in _BINARY_SUFFIXES:
        return Decimal(number) * (1 << 10 * (_BINARY_SUFFIXES.index(suffix) + 1))
    # The pattern takes a fractional exponent, as in 1e3.5, and so has this.
    power = Decimal(exponent) if exponent else Decimal(_SUFFIXES.get(suffix or "", 0))
    return Decimal(number) * Decimal(10) ** min(max(power, -_FURTHEST), _FURTHEST)


def _limit(pool: ExpandedPool, key: str) -> Decimal | None:
    keys = (RESOURCES[Maker.NVIDIA], RESOURCES[Maker.AMD]) if key == "gpus" else (key,)
    amounts = [quantity(str(node.value)) for name, node in mapping(pool.limits).items() if name in keys]
    return sum(amounts, Decimal(0)) / (pool.slices if key == "gpus" else 1) if amounts else None
