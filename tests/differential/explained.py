"""Why some refused objects are blamed on other fields: each difference by class, with its reason."""

from collections.abc import Callable, Iterable

from gpupool.codes import Code
from tests.differential.verdicts import Comparison, canonical

TOO_MANY = (
    "gpupool does not look into a list or map that has more entries than it may have: "
    "the first thing to do is to shorten it, and thousands of findings would hide that"
)
ODD_ENTRY = (
    "gpupool counts the entries of a list or map once each of them is what it should be: "
    "the count is told as soon as the entry is mended"
)


def _too_many(comparison: Comparison) -> bool:
    counted = _below(each.path for each in comparison.ours if each.code == Code.FIELD_VALUE)
    return not comparison.extra and all(field.startswith(counted) for field in comparison.missing)


def _odd_entry(comparison: Comparison) -> bool:
    blamed = [canonical(each.path) for each in comparison.ours]
    return not comparison.extra and all(
        f"{field}: Too many" in comparison.verdict.message
        and any(path.startswith(_below([field])) for path in blamed)
        for field in comparison.missing
    )


def _below(fields: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{canonical(field)}{mark}" for field in fields for mark in ".[")


EXPLAINED: dict[str, Callable[[Comparison], bool]] = {TOO_MANY: _too_many, ODD_ENTRY: _odd_entry}
"""By reason: whether a comparison is one of that class."""


def explanation(comparison: Comparison) -> str:
    """Return the reason why the fields differ; empty where there is none."""
    return next((reason for reason, fits in EXPLAINED.items() if fits(comparison)), "")
