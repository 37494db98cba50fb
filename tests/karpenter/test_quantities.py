"""Amounts of Kubernetes quantities, in every form that the CRD's pattern lets through."""

import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpupool.karpenter.checks import QUANTITY_PATTERN
from gpupool.karpenter.quantities import parse_amount
from tests.tiers import examples

AMOUNTS = {
    "16": 16, "+5": 5, "-1": -1, "1.5": Decimal("1.5"), ".5": Decimal("0.5"), "5.": 5, "500m": Decimal("0.5"),
    "5n": Decimal("5e-9"), "5u": Decimal("5e-6"), "2k": 2000, "1M": 10**6, "1E": 10**18, "1e3": 1000, "1E3": 1000,
    "1e-1": Decimal("0.1"), "1e99999999": 10**30, "2Ki": 2048, "2000Gi": 2000 * 2**30, "1.5n": Decimal("2e-9"), "-1.5n": Decimal("-2e-9"), "1Ei": 2**60,
}  # fmt: skip


@pytest.mark.parametrize(("text", "exact"), AMOUNTS.items(), ids=AMOUNTS)
def test_an_amount(text: str, exact: int | Decimal) -> None:
    assert parse_amount(text) == exact


@settings(derandomize=True, deadline=None, max_examples=examples(500))
@given(st.from_regex(re.compile(QUANTITY_PATTERN.replace("$", r"\Z"), re.ASCII), fullmatch=True))
def test_all_that_the_pattern_takes_has_an_amount(text: str) -> None:
    assert Decimal(parse_amount(text)).is_finite()


def test_no_quantity() -> None:
    with pytest.raises(ValueError, match="is not a quantity"):
        parse_amount("many")
