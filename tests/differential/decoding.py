"""Objects that the API server mostly takes, with one value that Go has to read when Karpenter decodes them."""

import random
from collections.abc import Iterator

from tests.differential import texts
from tests.differential.mutants import Mutant
from tests.differential.trees import Body, Path, changed
from tests.karpenter.examples import EC2NODECLASS, NODEOVERLAY, NODEPOOL

Decoded = tuple[Body, Path, object]

_EDGES = {"h": 2_562_047, "m": 153_722_867, "s": 9_223_372_036}
"""The most of each unit that fits into 64 bits of nanoseconds."""

_BESIDE = (-(10**6), -2, -1, 0, 0, 1, 2, 10, 10**9)
_REST = (0, 1, 16, 17, 47, 48, 59, 999)
_DIGITS = ("0", "1", "12", "9" * 18, "9" * 19, "9223372036854775807", "9" * 40, "00", "0" * 25 + "1")
_FRACTIONS = ("", "", ".", ".5", ".000000001", ".0000000001", "." + "9" * 30)
_EXPONENTS = ("0", "3", "18", "19", "400", "3.5", "3.", ".5", "0.0", "-3", "-19", "-400", "-3.5", "+3", "+400", "9" * 20)  # fmt: skip
STALLING = (
    "1e-2147483648",
    "9e-2147483647",
    "1e2147483647",
    "1e2147483648",
    "1e99999999999",
    "9" * 19 + "e2147483647",
    "0." + "0" * 20 + "1e2000000000",
)
"""Quantities over which Go reckons for hours when it reads or compares them: numbers of billions of digits."""

_NUMBERS = (
    "0", "1", "1.5", ".5", "5.", ".", "", "-1", "+1", "-.5s1", "1_0", "9223372036", "9223372037", "2562047", "2562048", "0" * 30 + "1", "9" * 30, "1e3", "\u0661", "0." + "9" * 40,
)  # fmt: skip
_UNITS = ("s", "m", "h", "ms", "us", "\u00b5s", "\u03bcs", "ns", "d", "", " s", "S", "sec", "s ", "\n")
_MORE = ("", "", "1m", "30s", "1.5h", "1ns", "x")
_DATES = (
    "0000-01-01",
    "0001-12-31",
    "1970-06-30",
    "2026-02-28",
    "2026-02-29",
    "2028-02-29",
    "2026-06-31",
    "2026-11-21",
    "9999-12-31",
)
_CLOCKS = ("T00:00:00", "T09:59:59", "t23:59:59", "T9:00:00", "T24:00:00", "T12:60:00", "T12:00:60")
_SECONDS = ("", ".5", ",5", ".123456789", "." + "1" * 15, ".")
_ZONES = (
    "Z",
    "z",
    "+00:00",
    "-23:59",
    "+24:00",
    "+23:60",
    "+24:01",
    "-99:99",
    "+14:00",
    "+25:00",
    "+0200",
    "",
)
_LISTS: tuple[object, ...] = ([], ["2026-08-20T12:00:00Z"], [1], [[]])

_DURATIONS: tuple[Path, ...] = (
    ("spec", "template", "spec", "expireAfter"),
    ("spec", "template", "spec", "terminationGracePeriod"),
    ("spec", "disruption", "consolidateAfter"),
)
_WINDOW: Path = ("spec", "disruption", "budgets", 1, "duration")
_QUANTITIES: tuple[tuple[Body, Path], ...] = (
    (NODEPOOL, ("spec", "limits", "cpu")),
    (NODEOVERLAY, ("spec", "capacity", "nvidia.com/gpu")),
)
_GRACE: Path = ("spec", "kubelet", "evictionSoftGracePeriod", "memory.available")
_TIME: Path = ("spec", "template", "spec", "taints", 0, "timeAdded")
_SIZE: Path = ("spec", "blockDeviceMappings", 0, "ebs", "volumeSize")


def decoded(count: int, seed: int) -> Iterator[Mutant]:
    """Yield objects with one time, amount or size that Go has to read."""
    chance = random.Random(seed)  # noqa: S311 - a fixed sequence is what we want
    for _ in range(count):
        body, path, value = chance.choice(_DECODED)(chance)
        yield Mutant(changed(body, path, value), body, "decode")


def _duration(chance: random.Random) -> Decoded:
    unit = chance.choice(list(_EDGES))
    long = f"{'0' * chance.choice((0, 0, 0, 30))}{_EDGES[unit] + chance.choice(_BESIDE)}{unit}"
    # Amounts that fit each alone need not fit together.
    others = chance.sample(list(_EDGES), chance.choice((0, 0, 1, 2)))
    rest = "".join(f"{chance.choice(_REST)}{other}" for other in others)
    text = chance.choice((long + rest, rest + long, chance.choice(texts.SPANS)))
    return NODEPOOL, chance.choice(_DURATIONS), text


def _window(chance: random.Random) -> Decoded:
    hours, minutes = (_EDGES[unit] + chance.choice(_BESIDE) for unit in "hm")
    tail = chance.choice(("", "0s", "0m", "46m", "47m", "48m", "47m0s", "59m0s"))
    return (
        NODEPOOL,
        _WINDOW,
        chance.choice((f"{hours}h{tail}", f"{minutes}m", f"{minutes}m0s", "9" * 25 + "m")),
    )


def _quantity(chance: random.Random) -> Decoded:
    body, path = chance.choice(_QUANTITIES)
    if chance.random() < 0.3:
        return body, path, chance.choice([text for text in texts.QUANTITIES if text not in STALLING])
    number = chance.choice(("", "+", "-")) + chance.choice(_DIGITS) + chance.choice(_FRACTIONS)
    exponent = chance.choice("eE") + chance.choice(_EXPONENTS)
    return (
        body,
        path,
        number + chance.choice((exponent, exponent, chance.choice("numkMGTPE"), "Ki", "Ei", "")),
    )


def _grace(chance: random.Random) -> Decoded:
    span = chance.choice(_NUMBERS) + chance.choice(_UNITS) + chance.choice(_MORE)
    text = chance.choice((span, span, chance.choice(texts.SPANS), chance.choice(texts.EVERY)))
    return EC2NODECLASS, _GRACE, texts.edited(text, chance) if chance.random() < 0.2 else text


def _time(chance: random.Random) -> Decoded:
    text = "".join(map(chance.choice, (_DATES, _CLOCKS, _SECONDS, _ZONES)))
    return NODEPOOL, _TIME, chance.choice((text, text, chance.choice(texts.INSTANTS), chance.choice(_LISTS)))


def _size(chance: random.Random) -> Decoded:
    return EC2NODECLASS, _SIZE, chance.choice(texts.SIZES)


_DECODED = (_duration, _duration, _window, _quantity, _quantity, _grace, _grace, _time, _time, _size)
