"""Limits in the units people think in become Karpenter's."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from gpupool.blueprint.migration_hints import foreign_answer
from gpupool.catalogue.accelerators import RESOURCES, Maker
from gpupool.codes import Code
from gpupool.expansion.problem import Problem, error, info, warning
from gpupool.karpenter.quantities import parse_amount
from gpupool.scheduling.types.typemasks import positions
from gpupool.shapes.error_messages import nearest
from gpupool.yamlio.located import Located, find, leaf, mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gpupool.expansion.expanded import ExpandedPool
    from gpupool.expansion.instance_types import Machines
    from gpupool.findings import Finding


_GPUS = {
    None: RESOURCES[Maker.NVIDIA],
    Maker.NVIDIA: RESOURCES[Maker.NVIDIA],
    Maker.AMD: RESOURCES[Maker.AMD],
}
"""What `gpus` counts; where nothing tells the maker, it is NVIDIA."""

USD = "usdPerHour"
_COUNTED = ("nodes", "cpu", "memory", "pods", "ephemeral-storage")


def shared_out(limits: Located, share: Located) -> Located:
    """Return a tier its share (`25%`) of the pool's limits, rounded down, at least 1.

    Raises:
        Problem: where the pool has no limits, or one that is no plain number.
    """
    said = mapping(limits)
    if not said:
        raise Problem(
            Code.LIMIT_SHARE,
            f"`limits: {share.value}` is a share of the pool's limits, but the pool has none",
            share,
        )
    percent = int(str(share.value).removesuffix("%"))
    return Located({key: _part(key, node, percent, share) for key, node in said.items()}, share.at, share.key)


def dollars(node: Located) -> Decimal:
    """Return the amount that stands in a file, exactly as it is written there."""
    return Decimal(node.text if isinstance(node.value, float) and node.text else str(node.value))


def _part(key: str, node: Located, percent: int, share: Located) -> Located:
    if node.value is None:
        return node
    if key == USD:
        return leaf(f"{dollars(node) * percent / 100:f}", share)
    digits = str(node.value).rstrip("GKMTPEik")
    if not digits.isdigit():
        raise Problem(
            Code.LIMIT_SHARE,
            f"can't calculate {percent}% of `{key}: {node.value}`",
            share,
            "set the tier's limits one by one",
        )
    amount = max(1, int(digits) * percent // 100)
    unit = str(node.value)[len(digits) :]
    return leaf(f"{amount}{unit}" if isinstance(node.value, str) else amount, share)


def karpenters(
    limits: Located,
    maker: Maker | None,
    replicas: int,
    priced: Callable[[Located], tuple[str, Located] | None],
) -> Located:
    """Return Karpenter's limits; `gpus` counts physical GPUs, of which sharing shows `replicas` each.

    `priced` gives the resource and its limit for an amount of `usdPerHour`, or None where it can't tell yet.

    Raises:
        Problem: for `gpus` where the pool's accelerators are no GPUs, and for `usdPerHour` as `priced` does.
    """
    made: dict[str, Located] = {}
    for key, node in mapping(limits).items():
        if key == "gpus" and node.value is not None:
            count = int(str(node.value)) * replicas
            note = f"{node.value} GPUs, {replicas} pods on each" if replicas > 1 else ""
            made[gpu_resource(maker, node)] = leaf(count, node, note)
        elif key == USD and node.value is not None:
            made |= filter(None, (priced(node),))
        else:
            made[_known(key, node)] = node
    return Located(dict(sorted(made.items())), limits.at, limits.key)


def _known(key: str, node: Located) -> str:
    """Return a resource's name; a bare one that Karpenter does not count would limit nothing."""
    if "/" in key or key in _COUNTED:
        return key
    near = nearest(key, ("gpus", USD, *_COUNTED))
    fix = foreign_answer(key) or (f"did you mean `{near}`?" if near else "set the resource's full name")
    raise Problem(
        Code.LIMIT_KEY,
        f"unknown resource `{key}`: Karpenter does not count it, so it limits nothing",
        node,
        fix,
    )


def gpu_resource(maker: Maker | None, node: Located) -> str:
    """Return the resource that `gpus` counts on a pool with this maker's accelerators."""
    if maker in _GPUS:
        return _GPUS[maker]
    resource = RESOURCES.get(maker) if maker else None
    counted = f"are counted as `{resource}`" if resource else "are not counted by Karpenter"
    fix = f"set `{resource}: {node.value}`" if resource else "set `nodes` or `cpu` instead"
    raise Problem(Code.LIMIT_UNIT, f"`gpus` counts GPUs, but this pool's chips {counted}", node, fix)


def only_nodes(limits: Located | None) -> Located | None:
    """Return the `nodes` limit where it stands alone."""
    said = {key: node for key, node in mapping(limits).items() if node.value is not None}
    return find(limits, "nodes") if set(said) == {"nodes"} else None


_MOST_NAMED = 5
_SMALLEST = Decimal("0.000001")
"""Price lists have no more places, and a share of a price needs no more."""


class Priced(NamedTuple):
    """One type with what it costs by the hour."""

    name: str
    price: Fraction
    pieces: int
    """How many accelerators it has."""

    @property
    def each(self) -> Fraction:
        """Return the price of one accelerator."""
        return self.price / self.pieces


def accelerator_limit(
    usd: Located, machines: Machines, maker: Maker | None, slices: int, found: list[Finding]
) -> tuple[str, Located]:
    """Return the resource and its limit, `slices` for each accelerator; how it came about goes to `found`.

    Raises:
        Problem: where the machines tell no number, or not even one accelerator is to be had.
    """
    resource = _resource(usd, machines, maker)
    types = _priced(usd, machines, resource)
    dearest = max(types, key=lambda each: (each.each, each.name))
    limit = int(Fraction(dollars(usd)) // dearest.each)
    if not limit:
        one = f"{_usd(dearest.each)} in {dearest.name}"
        message = f"{usd.text or usd.value} USD/h is less than one accelerator costs: {one}"
        raise Problem(
            Code.USD_LIMIT, message, usd, f"set at least `usdPerHour: {_usd(dearest.each, up=True)}`"
        )
    found += _reasoning(usd, machines, dearest, limit)
    smallest = min(types, key=lambda each: (each.pieces, each.price, each.name))
    if smallest.pieces > limit:
        fewest = f"{smallest.pieces} in {smallest.name}"
        message = (
            f"{usd.text or usd.value} USD/h pays for {_pieces(limit)}, fewer than any node has: {fewest}"
        )
        found.append(
            warning(
                Code.USD_LIMIT,
                message,
                usd,
                f"set at least `usdPerHour: {_usd(smallest.pieces * dearest.each, up=True)}`",
            )
        )
    return resource, leaf(limit * slices, usd, f"{_pieces(limit)} for {usd.text or usd.value} USD/h")


def _resource(usd: Located, machines: Machines, maker: Maker | None) -> str:
    """Return what the pool's accelerators are counted as: by its words, or else by its machines."""
    if maker is not None:
        if maker in RESOURCES:
            return RESOURCES[maker]
        message = f"`usdPerHour` limits accelerators, and Karpenter does not count those of {maker}"
        raise Problem(Code.USD_LIMIT, message, usd, "set `nodes` or `cpu` instead")
    found = {
        resource for place in positions(machines.here) for resource in RESOURCES.values()
        if machines.market.capacity(place).get(resource)
    }  # fmt: skip
    if len(found) == 1:
        return found.pop()
    which = f"matches several kinds: {', '.join(sorted(found))}" if found else "matches none"
    fix = "select one with `accelerator`" if found else "set `cpu` or `nodes` instead, or an `accelerator`"
    raise Problem(Code.USD_LIMIT, f"`usdPerHour` limits accelerators, and this pool {which}", usd, fix)


def _priced(usd: Located, machines: Machines, resource: str) -> list[Priced]:
    market, here = machines.market, list(positions(machines.here))
    prices = market.price_list
    if not here:
        where = f" in {market.region}" if market.is_judged else ""
        raise Problem(Code.USD_LIMIT, f"the pool matches no instance type that is offered{where}", usd)
    if prices.currency != "USD":
        message = f"the prices of {prices.region} are in {prices.currency}, not in USD"
        raise Problem(Code.USD_LIMIT, message, usd, "set `gpus` or the resource instead")
    counts = {place: int(market.capacity(place).get(resource, 0)) for place in here}
    _none_of(usd, [market.kind(place).name for place in here if not counts[place]], resource)
    amounts = {place: market.price(place) for place in here}
    unpriced = [market.kind(place).name for place in here if amounts[place] is None]
    if unpriced:
        message = f"no price in {prices.region} ({prices.date}) for {_some(unpriced)}"
        fix = "exclude them with `instances`, set a `cluster.catalogue` with their prices, or set `gpus`"
        raise Problem(Code.USD_LIMIT, message, usd, fix)
    return [Priced(market.kind(place).name, Fraction(str(amounts[place])), counts[place]) for place in here]


def _none_of(usd: Located, names: Sequence[str], resource: str) -> None:
    if not names:
        return
    message = (
        f"the pool also matches instance types without `{resource}`, which no limit stops: {_some(names)}"
    )
    fix = "set `instances: {gpus: {above: 0}}`"
    if resource == "aws.amazon.com/neuron":
        fix = "set `accelerator: neuron`"
    raise Problem(Code.USD_LIMIT, message, usd, fix)


def _reasoning(usd: Located, machines: Machines, dearest: Priced, limit: int) -> list[Finding]:
    market = machines.market
    prices = market.price_list
    whole = f"{_usd(dearest.price)} / {dearest.pieces} = " if dearest.pieces > 1 else ""
    message = (
        f"{usd.text or usd.value} USD/h is a limit of {_pieces(limit)}: one costs up to"
        f" {whole}{_usd(dearest.each)} in {dearest.name} ({prices.region}, {prices.date}, on demand)"
    )
    found = [info(Code.USD_REASONING, message, usd)]
    if market.region and market.region != prices.region:
        message = f"the catalogue has no prices for {market.region}; using those of {prices.region}"
        fix = "run `gpupool catalogue refresh --to FILE` and set `cluster.catalogue` to that file"
        found.append(info(Code.OTHER_PRICES, message, usd, fix))
    return found


def _pieces(count: int) -> str:
    return f"{count} accelerator{'s' if count > 1 else ''}"


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _usd(amount: Fraction, *, up: bool = False) -> str:
    """Write an amount with at most six places behind the point; rounded up, it is enough to pay with."""
    places = Fraction(_SMALLEST)
    steps = -(-amount // places) if up else round(amount / places)
    return f"{(Decimal(int(steps)) * _SMALLEST).normalize():f}"


def total_limits(caps: Located | None, pools: Sequence[ExpandedPool]) -> Iterator[Finding]:
    """Find caps on the whole blueprint that the pools' own limits do not keep."""
    for key, cap in mapping(caps).items():
        if cap.value is None:
            continue
        counted = [pool for pool in pools if _counts(pool, key)]
        open_ended = [pool.name for pool in counted if _limit(pool, key) is None]
        total = sum((_limit(pool, key) or Decimal(0) for pool in counted), Decimal(0))
        if open_ended:
            message = (
                f"`limits.{key}` {cap.value} is not guaranteed: no such limit in {', '.join(open_ended[:5])}"
            )
            yield error(Code.TOTAL_LIMIT, message, cap, f"set a limit on `{key}` in each pool")
        elif total > (dollars(cap) if key == USD else parse_amount(str(cap.value))):
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
            amounts = [(tier.name, Decimal(parse_amount(str(mapping(tier.limits)[key].value)))) for tier in tiers
                       if key in mapping(tier.limits)]  # fmt: skip
            if len(amounts) == len(tiers):
                parts = " + ".join(f"{tier} {each:f}" for tier, each in amounts)
                total = sum(each for _, each in amounts)
                message = f"the tiers of pool `{name}` can hold {total:f} `{key}` together: {parts}"
                yield info(Code.TIER_SUM, message, mapping(tiers[0].limits)[key])


def _counts(pool: ExpandedPool, key: str) -> bool:
    """Return whether a cap is on what the pool has: GPUs, or money for accelerators."""
    if key == USD:
        return pool.maker is not None or pool.usd_per_hour is not None
    return key != "gpus" or pool.maker in (Maker.NVIDIA, Maker.AMD)


def _limit(pool: ExpandedPool, key: str) -> Decimal | None:
    if key == USD:
        return None if pool.usd_per_hour is None else dollars(pool.usd_per_hour)
    keys = (RESOURCES[Maker.NVIDIA], RESOURCES[Maker.AMD]) if key == "gpus" else (key,)
    amounts = [
        Decimal(parse_amount(str(node.value))) for name, node in mapping(pool.limits).items() if name in keys
    ]
    return sum(amounts, Decimal(0)) / (pool.slices if key == "gpus" else 1) if amounts else None
