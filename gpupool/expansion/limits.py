"""Conversion of limits (GPUs, US dollars per hour, shares) to Karpenter's resource limits."""

from __future__ import annotations

from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from gpupool.blueprint.migration_hints import foreign_answer
from gpupool.blueprint.pool import BlueprintLimits
from gpupool.catalogue.accelerators import RESOURCES, Maker
from gpupool.codes import Code
from gpupool.expansion.causes import add_causes, collect_causes
from gpupool.expansion.problem import Problem, error, info, warning
from gpupool.karpenter.quantities import parse_amount
from gpupool.scheduling.types.capacity import ACCELERATORS, EFA, IPV4, POD_ENI
from gpupool.scheduling.types.typemasks import positions
from gpupool.shapes.error_messages import find_close_match
from gpupool.yamlio.located import Located, leaf, mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gpupool.expansion.expanded import ExpandedPool
    from gpupool.expansion.instance_types import MatchingTypes
    from gpupool.findings import Finding


_GPUS = {
    None: RESOURCES[Maker.NVIDIA],
    Maker.NVIDIA: RESOURCES[Maker.NVIDIA],
    Maker.AMD: RESOURCES[Maker.AMD],
}
"""The resource that `gpus` counts; NVIDIA's where the maker is unknown."""

GPUS, USD, NODES = BlueprintLimits.gpus.key, BlueprintLimits.usd_per_hour.key, BlueprintLimits.nodes.key
_COUNTED = ("nodes", "cpu", "memory", "pods", "ephemeral-storage")
_EXTENDED = (*ACCELERATORS, EFA, POD_ENI, IPV4)
_OTHERS = frozenset({"nvidia.com/pgpu"})
"""Real resources of other device plugins that differ from Karpenter's in one letter."""

_TYPO = 0.92
"""How similar a typo of an extended resource is; `nvidia.com/gpu.shared` and the like are less similar."""

_MAX_NAMES = 5
_SMALLEST = Decimal("0.000001")
"""Price lists have at most six decimal places."""


class AcceleratorPrice(NamedTuple):
    """An instance type, its price per hour, and its number of accelerators."""

    name: str
    price: Fraction
    quantity: int
    """The number of accelerators."""

    @property
    def unit_price(self) -> Fraction:
        """Return the price of one accelerator."""
        return self.price / self.quantity


def calculate_share(limits: BlueprintLimits, share: Located) -> BlueprintLimits:
    """Return a tier's share (`25%`) of the pool's limits, rounded down, at least 1.

    Raises:
        Problem: where the pool has no limits, or a limit that is not a whole number.
    """
    entries = limits.entries()
    if not entries:
        raise Problem(
            Code.LIMIT_SHARE,
            f"`limits: {share.value}` is a share of the pool's limits, but the pool has none",
            share,
            "set the pool's `limits`, or an amount such as `limits: {gpus: 8}` here",
        )
    percent = int(str(share.value).removesuffix("%"))
    parts = {key: _calculate_part(key, node, percent, share) for key, node in entries.items()}
    return BlueprintLimits(Located(parts, share.at, share.key))


def dollars(node: Located) -> Decimal:
    """Return an amount of US dollars, exactly as written in the file."""
    return Decimal(node.text if isinstance(node.value, float) and node.text else str(node.value))


def _calculate_part(key: str, node: Located, percent: int, share: Located) -> Located:
    if key == USD:
        return leaf(f"{dollars(node) * percent / 100:f}", share, also=(node,))
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
    return leaf(f"{amount}{unit}" if isinstance(node.value, str) else amount, share, also=(node,))


def to_karpenter_limits(
    limits: BlueprintLimits,
    maker: Maker | None,
    replicas: int,
    to_accelerators: Callable[[Located], tuple[str, Located] | None],
    count_causes: tuple[Located, ...],
    findings: list[Finding],
) -> Located:
    """Convert limits to Karpenter's; each physical GPU of `gpus` counts `replicas` times, because of sharing.

    `to_accelerators` converts `usdPerHour` to a resource and its limit, or returns None after an error.
    `count_causes` determine the resource that `gpus` counts, and `replicas`. Where `usdPerHour` and another
    limit are on one resource, the smaller counts; a note about the other one is added to `findings`.

    Raises:
        Problem: for `gpus` where the pool's accelerators are not GPUs, and as `to_accelerators` does.
    """
    converted: dict[str, Located] = {}
    names: dict[str, str] = {}
    for key, node in limits.entries().items():
        if key == GPUS:
            count = int(str(node.value)) * replicas
            note = f"{node.value} GPUs, {replicas} pods on each" if replicas > 1 else ""
            resource = gpu_resource(maker, node)
            converted[resource] = leaf(count, node, note, (*node.also, *count_causes))
            names[resource] = f"{key}: {node.value}"
        elif key != USD:
            converted[_known(key, node)] = node
            names[key] = f"{key}: {node.value}"
    usd = limits.usd_per_hour
    if usd is not None and (priced := to_accelerators(usd)) is not None:
        resource, limit = priced
        if other := converted.get(resource):
            texts = (names[resource], f"{USD}: {usd.text or usd.value}")
            limit = _choose_smaller(resource, (other, limit), texts, findings)
        converted[resource] = limit
    return Located(dict(sorted(converted.items())), limits.here.at, limits.here.key)


def _choose_smaller(
    resource: str, limits: tuple[Located, Located], texts: tuple[str, str], findings: list[Finding]
) -> Located:
    """Return the smaller of two limits on a resource; `texts` are their settings in the blueprint."""
    amounts = [Decimal(parse_amount(str(limit.value))) for limit in limits]
    smaller = int(amounts[1] < amounts[0])
    chosen, other = limits[smaller], limits[1 - smaller]
    if amounts[0] != amounts[1]:
        message = (
            f"`{texts[1 - smaller]}` has no effect: it becomes a limit of {other.value} `{resource}`, and"
            f" `{texts[smaller]}` one of {chosen.value}; the smaller counts"
        )
        fix = f"remove it, or raise `{texts[smaller].partition(':')[0]}`"
        findings.append(info(Code.LIMIT_WITHOUT_EFFECT, message, other, fix))
    return add_causes(chosen, collect_causes(other))


def _known(key: str, node: Located) -> str:
    """Return a resource's name.

    Raises:
        Problem: for an unknown one.
    """
    if unknown := unknown_resource(key, node):
        raise unknown
    return key


def unknown_resource(key: str, node: Located) -> Problem | None:
    """Return the problem of a resource that limits nothing: a bare unknown one, or a typo of an extended one.

    Other extended resources are valid: a NodeOverlay can add them to instance types.
    """
    if key in (*_COUNTED, *_EXTENDED, *_OTHERS):
        return None
    if "/" in key:
        folded = {name.lower(): name for name in _EXTENDED}
        close = get_close_matches(key.lower(), folded, n=1, cutoff=_TYPO)
        if not close:
            return None
        near = folded[close[0]]
    else:
        near = find_close_match(key, (GPUS, USD, *_COUNTED))
    fix = foreign_answer(key) or (f"did you mean `{near}`?" if near else "set the resource's full name")
    message = f"unknown resource `{key}`: Karpenter does not count it, so it limits nothing"
    return Problem(Code.LIMIT_KEY, message, node, fix)


def gpu_resource(maker: Maker | None, node: Located) -> str:
    """Return the resource that `gpus` counts in a pool with the maker's accelerators."""
    if maker in _GPUS:
        return _GPUS[maker]
    resource = RESOURCES.get(maker) if maker else None
    counted = f"are counted as `{resource}`" if resource else "are not counted by Karpenter"
    fix = f"set `{resource}: {node.value}`" if resource else "set `nodes` or `cpu` instead"
    raise Problem(Code.LIMIT_UNIT, f"`gpus` counts GPUs, but this pool's chips {counted}", node, fix)


def find_lone_node_limit(limits: Located | None) -> Located | None:
    """Return the `nodes` limit where it is the only limit."""
    entries = {key: node for key, node in mapping(limits).items() if node.value is not None}
    return entries[NODES] if set(entries) == {NODES} else None


def calculate_accelerator_limit(
    usd: Located, matching: MatchingTypes, maker: Maker | None, slices: int, findings: list[Finding]
) -> tuple[str, Located]:
    """Return the resource and its limit, `slices` for each accelerator; notes are added to `findings`.

    Raises:
        Problem: where the limit cannot be calculated, or is less than the price of one accelerator.
    """
    resource = _find_resource(usd, matching, maker)
    types = _find_prices(usd, matching, resource)
    dearest = max(types, key=lambda item: (item.unit_price, item.name))
    limit = int(Fraction(dollars(usd)) // dearest.unit_price)
    if not limit:
        price = f"{_format_usd(dearest.unit_price)} USD/h in {dearest.name}"
        message = f"{usd.text or usd.value} USD/h is less than one accelerator costs: {price}"
        raise Problem(
            Code.USD_LIMIT,
            message,
            usd,
            f"set at least `usdPerHour: {_format_usd(dearest.unit_price, up=True)}`",
        )
    findings += _explain_limit(usd, matching, dearest, limit)
    smallest = min(types, key=lambda item: (item.quantity, item.price, item.name))
    if smallest.quantity > limit:
        fewest = f"{smallest.quantity} in {smallest.name}"
        count = _format_count(limit)
        message = f"{usd.text or usd.value} USD/h pays for {count}, fewer than any node has: {fewest}"
        findings.append(
            warning(
                Code.USD_LIMIT,
                message,
                usd,
                f"set at least `usdPerHour: {_format_usd(smallest.quantity * dearest.unit_price, up=True)}`",
            )
        )
    return resource, leaf(limit * slices, usd, f"{_format_count(limit)} for {usd.text or usd.value} USD/h")


def _find_resource(usd: Located, matching: MatchingTypes, maker: Maker | None) -> str:
    """Return the resource of the pool's accelerators: by its maker, or else by its instance types."""
    if maker is not None:
        if maker in RESOURCES:
            return RESOURCES[maker]
        message = f"`usdPerHour` limits accelerators, and Karpenter does not count those of {maker}"
        raise Problem(Code.USD_LIMIT, message, usd, "set `nodes` or `cpu` instead")
    resources = {
        resource for position in positions(matching.offered) for resource in RESOURCES.values()
        if matching.market.capacity(position).get(resource)
    }  # fmt: skip
    if len(resources) == 1:
        return resources.pop()
    matched = f"matches several kinds: {', '.join(sorted(resources))}" if resources else "matches none"
    fix = (
        "select one with `accelerator`" if resources else "set `cpu` or `nodes` instead, or an `accelerator`"
    )
    raise Problem(Code.USD_LIMIT, f"`usdPerHour` limits accelerators, and this pool {matched}", usd, fix)


def _find_prices(usd: Located, matching: MatchingTypes, resource: str) -> list[AcceleratorPrice]:
    market, offered = matching.market, list(positions(matching.offered))
    prices = market.price_list
    if not offered:
        in_region = f" in {market.region}" if market.is_judged else ""
        raise Problem(Code.USD_LIMIT, f"the pool matches no instance type that is offered{in_region}", usd)
    if prices.currency != "USD":
        message = f"the prices of {prices.region} are in {prices.currency}, not in USD"
        raise Problem(Code.USD_LIMIT, message, usd, "set `gpus` or the resource instead")
    counts = {position: int(market.capacity(position).get(resource, 0)) for position in offered}
    _check_all_counted(
        usd, [market.kind(position).name for position in offered if not counts[position]], resource
    )
    amounts = {position: market.price(position) for position in offered}
    unpriced = [market.kind(position).name for position in offered if amounts[position] is None]
    if unpriced:
        message = f"no price in {prices.region} ({prices.date}) for {_format_names(unpriced)}"
        fix = "exclude them with `instances`, set a `cluster.catalogue` with their prices, or set `gpus`"
        raise Problem(Code.USD_LIMIT, message, usd, fix)
    return [
        AcceleratorPrice(market.kind(position).name, Fraction(str(amounts[position])), counts[position])
        for position in offered
    ]


def _check_all_counted(usd: Located, names: Sequence[str], resource: str) -> None:
    if not names:
        return
    listed = _format_names(names)
    message = f"the pool also matches instance types without `{resource}`, which no limit stops: {listed}"
    fix = "set `instances: {gpus: {above: 0}}`"
    if resource == "aws.amazon.com/neuron":
        fix = "set `accelerator: neuron`"
    raise Problem(Code.USD_LIMIT, message, usd, fix)


def _explain_limit(
    usd: Located, matching: MatchingTypes, dearest: AcceleratorPrice, limit: int
) -> list[Finding]:
    market = matching.market
    prices = market.price_list
    division = f"{_format_usd(dearest.price)} / {dearest.quantity} = " if dearest.quantity > 1 else ""
    message = (
        f"{usd.text or usd.value} USD/h becomes a limit of {_format_count(limit)}: one costs up to"
        f" {division}{_format_usd(dearest.unit_price)} USD/h in {dearest.name}"
        f" ({prices.region}, {prices.date}, on-demand)"
    )
    notes = [info(Code.USD_REASONING, message, usd)]
    if market.region and market.region != prices.region:
        message = f"the catalogue has no prices for {market.region}; using those of {prices.region}"
        fix = "run `gpupool catalogue refresh --to FILE` and set `cluster.catalogue` to that file"
        notes.append(info(Code.OTHER_PRICES, message, usd, fix))
    return notes


def _format_count(count: int) -> str:
    return f"{count} accelerator{'s' if count > 1 else ''}"


def _format_names(names: Sequence[str]) -> str:
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")


def _format_usd(amount: Fraction, *, up: bool = False) -> str:
    """Format an amount with at most six decimal places; `up` rounds up instead of to the nearest."""
    places = Fraction(_SMALLEST)
    steps = -(-amount // places) if up else round(amount / places)
    return f"{(Decimal(int(steps)) * _SMALLEST).normalize():f}"


def check_total_limits(caps: BlueprintLimits, pools: Sequence[ExpandedPool]) -> Iterator[Finding]:
    """Yield an error for each cap of the blueprint that the sum of the pools' limits can exceed."""
    for key, cap in caps.entries().items():
        if key not in (GPUS, USD) and (unknown := unknown_resource(key, cap)):
            yield unknown.finding
            continue
        counted = [pool for pool in pools if _is_capped(pool, key)]
        open_ended = [pool.name for pool in counted if _find_limit(pool, key) is None]
        total = sum((_find_limit(pool, key) or Decimal(0) for pool in counted), Decimal(0))
        if open_ended:
            message = (
                f"`limits.{key}` {cap.value} is not guaranteed: no such limit in {', '.join(open_ended[:5])}"
            )
            yield error(Code.TOTAL_LIMIT, message, cap, f"set a limit on `{key}` in each pool")
        elif total > (dollars(cap) if key == USD else parse_amount(str(cap.value))):
            parts = ", ".join(f"{pool.name} {_find_limit(pool, key):f}" for pool in counted[:8])
            message = (
                f"the pools' limits on `{key}` add up to {total:f}, more than the cap of {cap.value}: {parts}"
            )
            yield error(Code.TOTAL_LIMIT, message, cap, "lower a pool's limit, or raise the cap")


def report_tier_sums(pools: Sequence[ExpandedPool]) -> Iterator[Finding]:
    """Yield a note for each sum of the limits of a pool's tiers, because Karpenter limits each separately."""
    by_pool: dict[str, list[ExpandedPool]] = {}
    for item in pools:
        by_pool.setdefault(item.pool, []).append(item)
    for name, tiers in by_pool.items():
        keys = {key for tier in tiers for key in mapping(tier.limits)} if len(tiers) > 1 else set()
        for key in sorted(keys):
            set_limits = [
                (tier.name, mapping(tier.limits)[key]) for tier in tiers if key in mapping(tier.limits)
            ]
            amounts = [(name, Decimal(parse_amount(str(limit.value)))) for name, limit in set_limits]
            if len(amounts) == len(tiers):
                parts = " + ".join(f"{tier} {limit:f}" for tier, limit in amounts)
                total = sum(limit for _, limit in amounts)
                message = f"the tiers of pool `{name}` can hold {total:f} `{key}` together: {parts}"
                yield info(Code.TIER_SUM, message, mapping(tiers[0].limits)[key])


def _is_capped(pool: ExpandedPool, key: str) -> bool:
    """Return whether a cap applies to a pool: a GPU cap to pools with GPUs, a price cap to accelerators."""
    if key == USD:
        return pool.maker is not None or pool.usd_per_hour is not None
    return key != GPUS or pool.maker in (Maker.NVIDIA, Maker.AMD)


def _find_limit(pool: ExpandedPool, key: str) -> Decimal | None:
    if key == USD:
        return None if pool.usd_per_hour is None else dollars(pool.usd_per_hour)
    keys = (RESOURCES[Maker.NVIDIA], RESOURCES[Maker.AMD]) if key == GPUS else (key,)
    amounts = [
        Decimal(parse_amount(str(node.value))) for name, node in mapping(pool.limits).items() if name in keys
    ]
    return sum(amounts, Decimal(0)) / (pool.slices if key == GPUS else 1) if amounts else None
