"""Quantities as Go reads them: a text may fit the CRD's pattern and still be none."""

import re
from typing import Final

from gpupool.karpenter.integers import int64

_EXPONENT = re.compile(r"[+-]?[0-9.]*[eE](?P<digits>.+)", re.ASCII)
_REASONABLE: Final = range(-10_000, 10_001)
"""With exponents beyond, Go works out powers of ten for seconds up to for ever, when it reads or compares."""


def problem(text: str) -> str | None:
    """Say why Karpenter can't use a quantity that fits the CRDs' pattern, or give None.

    The words go on from the quantity: `1e3.5` *has an exponent that is no whole number*.
    """
    if not text:
        return "is empty"
    match = _EXPONENT.fullmatch(text)
    if match is None or match["digits"] == "i":
        return None
    exponent = int64(match["digits"])
    if exponent is None:
        return "has an exponent that is no whole number of 64 bits"
    if exponent not in _REASONABLE:
        return "has an exponent with which Karpenter would reckon for ever"
    return None
