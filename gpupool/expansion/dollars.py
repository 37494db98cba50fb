"""A limit in USD per hour becomes a number of accelerators: as many of the dearest as the money pays for."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from gpupool.catalogue.accelerators import RESOURCES
from gpupool.codes import Code
from gpupool.expansion.limits import dollars
from gpupool.expansion.problem import Problem, info, warning
from gpupool.scheduling.types.typemasks import positions
from gpupool.yamlio.nodes import leaf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpupool.catalogue.accelerators import Maker
    from gpupool.expansion.machines import Machines
    from gpupool.findings import Finding
    from gpupool.yamlio.nodes import Node

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
        """Give the price of one accelerator."""
        return self.price / self.pieces


def accelerator_limit(
    usd: Node, machines: Machines, maker: Maker | None, slices: int, found: list[Finding]
) -> tuple[str, Node]:
    """Give the resource and its limit, `slices` for each accelerator; how it came about goes to `found`.

    Raises:
        Problem: where the machines tell no number, or not even one accelerator is to be had.
    """
    resource = _resource(usd, machines, maker)
    types = _priced(usd, machines, resource)
    dearest = max(types, key=lambda each: (each.each, each.name))
    limit = int(Fraction(dollars(usd)) // dearest.each)
    if not limit:
        one = f"{_usd(dearest.each)} USD/h in {dearest.name}"
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


def _resource(usd: Node, machines: Machines, maker: Maker | None) -> str:
    """Give what the pool's accelerators are counted as: by its words, or else by its machines."""
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


def _priced(usd: Node, machines: Machines, resource: str) -> list[Priced]:
    market, here = machines.market, list(positions(machines.here))
    prices = market.price_list
    if not here:
        where = f" in {market.region}" if market.judged else ""
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


def _none_of(usd: Node, names: Sequence[str], resource: str) -> None:
    if not names:
        return
    message = (
        f"the pool also matches instance types without `{resource}`, which no limit stops: {_some(names)}"
    )
    fix = "set `instances: {gpus: {above: 0}}`"
    if resource == "aws.amazon.com/neuron":
        fix = "set `accelerator: neuron`"
    raise Problem(Code.USD_LIMIT, message, usd, fix)


def _reasoning(usd: Node, machines: Machines, dearest: Priced, limit: int) -> list[Finding]:
    market = machines.market
    prices = market.price_list
    whole = f"{_usd(dearest.price)} / {dearest.pieces} = " if dearest.pieces > 1 else ""
    message = (
        f"{usd.text or usd.value} USD/h becomes a limit of {_pieces(limit)}: one costs up to"
        f" {whole}{_usd(dearest.each)} USD/h in {dearest.name} ({prices.region}, {prices.date}, on-demand)"
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
