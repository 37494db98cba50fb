"""NodeOverlays as people and chance write them, in sets that bear on the same pools."""

import random
from functools import cache
from typing import Final

from gpupool.karpenter import labels
from tests.rig.scheduling import Body
from tests.scheduling.pools import node_pool
from tests.scheduling.worlds import masks

CAPACITY: Final = ("nvidia.com/gpu", "nvidia.com/gpu.shared", "example.com/slots", "hugepages-2Mi")
_POOLS: Final = (
    ("a", {"team": "vision"}),
    ("b", {"team": "speech", "example.com/tier": "2"}),
    ("c", {labels.INSTANCE_FAMILY: "g6"}),
)
_OF_TYPES: Final = (
    labels.INSTANCE_FAMILY, labels.INSTANCE_CATEGORY, labels.INSTANCE_SIZE, labels.INSTANCE_GPU_NAME,
    labels.INSTANCE_GPU_COUNT, labels.INSTANCE_GENERATION, labels.ARCH, labels.INSTANCE_LOCAL_NVME,
)  # fmt: skip
_ZONES: Final = ("us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d", "us-east-1e", "us-east-1f")
_IDS: Final = ("use1-az1", "use1-az2", "use1-az3", "use1-az4", "use1-az5", "use1-az6")
_OTHER: Final[dict[str, tuple[str, ...]]] = {
    labels.NODEPOOL: ("a", "b", "c", "other"),
    "team": ("vision", "speech"),
    "example.com/tier": ("1", "2", "3"),
    labels.CAPACITY_TYPE: ("on-demand", "spot"),
    labels.ZONE: _ZONES,
    labels.ZONE_ID: _IDS,
    labels.OS: ("linux", "windows"),
    labels.REGION: ("us-east-1", "eu-west-1"),
}


class Overlays:
    """An endless supply of sets of NodeOverlays, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - the same overlays for the same seed

    def pools(self) -> list[Body]:
        """Return three pools with labels that overlays ask for, each with a limit that overlays bear on."""
        name = self.chance.choice((*CAPACITY, "nvidia.com/gpu", "nvidia.com/gpu"))
        limit = self.chance.choice(("1", "3", "3", "100Mi" if name.startswith("huge") else "8"))
        return [node_pool(pool, [], labels=own, limits={name: limit}) for pool, own in _POOLS]

    def some(self) -> list[Body]:
        """Return overlays that are mostly for the same few types, of weights that are often equal."""
        names = masks().catalogue.names
        meant = [self.chance.choice(names) for _ in range(4)]
        if self.chance.random() < 0.5:
            meant[0] = self.chance.choice(("g5.xlarge", "g6.12xlarge", "p5.48xlarge", "g4dn.metal"))
        if self.chance.random() < 0.5:
            meant[1] = self.chance.choice(without_price())
        return [self._one(f"o{number}", meant) for number in range(self.chance.choice((1, 2, 3, 3, 4, 6)))]

    def _one(self, name: str, meant: list[str]) -> Body:
        chance = self.chance
        spec: Body = {"requirements": self._requirements(meant)}
        if chance.random() < 0.6:
            names = chance.sample(CAPACITY, chance.choice((1, 1, 2)))
            spec["capacity"] = {each: self._amount(each) for each in names}
        if chance.random() < 0.7 or "capacity" not in spec:
            key = chance.choice(("price", "priceAdjustment"))
            spec[key] = self._price() if key == "price" else self._change()
        if chance.random() < 0.8:
            spec["weight"] = chance.choice((1, 1, 5, 5, 7, 100))
        return {
            "apiVersion": "karpenter.sh/v1alpha1",
            "kind": "NodeOverlay",
            "metadata": {"name": name},
            "spec": spec,
        }

    def _requirements(self, meant: list[str]) -> list[Body]:
        chance = self.chance
        types = chance.sample(meant, chance.choice((1, 2, 4)))
        listed = {"key": labels.INSTANCE_TYPE, "operator": "In", "values": types}
        if chance.random() < 0.3:
            return [listed]
        made = [listed] if chance.random() < 0.3 else []
        return [*made, *(self._requirement(meant) for _ in range(chance.choice((0, 1, 1, 2))))]

    def _requirement(self, meant: list[str]) -> Body:
        chance = self.chance
        key = chance.choice(_OF_TYPES if chance.random() < 0.5 else [*_OTHER])
        values = _OTHER.get(key) or self._values(key, meant)
        operator = chance.choice(("In", "In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lte"))
        if operator in ("Exists", "DoesNotExist"):
            return {"key": key, "operator": operator}
        if operator in ("Gt", "Lte"):
            numbers = [value for value in values if value.isdigit()] or ["1"]
            return {"key": key, "operator": operator, "values": [chance.choice(numbers)]}
        chosen = chance.sample(values, min(len(values), chance.choice((1, 2, 5))))
        return {"key": key, "operator": operator, "values": chosen}

    def _values(self, key: str, meant: list[str]) -> list[str]:
        """Return what the types have that are meant, and something else."""
        places = [place for name in meant if (place := masks().catalogue.position(name)) is not None]
        own = {value for place in places for value in masks().values(key, place)}
        return sorted({*own, self.chance.choice(sorted(masks().list_values(key)))})

    def _amount(self, name: str) -> str:
        return self.chance.choice(
            ("2Mi", "1Gi", "64Gi") if name.startswith("huge") else ("0", "1", "4", "40")
        )

    def _price(self) -> str:
        return self.chance.choice(("0", "0.5", "1.234567", "33"))

    def _change(self) -> str:
        return self.chance.choice(("+10%", "-15%", "-100%", "+0.5", "-1.25", "-99.5%", "+.75", "+250%"))


@cache
def without_price() -> list[str]:
    """Return the types that Karpenter has no price of in us-east-1."""
    found = masks().catalogue.prices("us-east-1")
    names = masks().catalogue.names
    return (
        []
        if found is None
        else [name for name, price in zip(names, found.amounts, strict=True) if price is None]
    )
