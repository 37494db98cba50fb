"""Supported Karpenter minor versions, and the values and fields that came after the oldest."""

import re
from typing import Final, NamedTuple

from gpupool.shapes.annotations import Since

TARGETS: Final = ("1.9", "1.10", "1.11", "1.12", "1.13", "1.14")
LATEST: Final = TARGETS[-1]

VALUES_SINCE: Final[dict[tuple[str, str], Since]] = {
    ("consolidationPolicy", "Balanced"): Since("1.14"),
    ("operator", "Gte"): Since("1.9"),
    ("operator", "Lte"): Since("1.9"),
}
"""The first minor that accepts a value, by Karpenter's name of the field and the value.

Label keys have their version in `labels.WELL_KNOWN`, fields in their own annotation.
"""

STATUS_SINCE: Final[dict[tuple[str, str], Since]] = {
    ("EC2NodeClass", "status capacityReservations [] interruptible"): Since("1.10"),
}
"""The first minor with a field of a status, by the kind and the path; `[]` is each item of a list."""

REASONS_DIFFER_SINCE: Final = Since("1.13")
"""The first minor whose CRD rejects duplicate reasons in a budget."""


class Minor(NamedTuple):
    """A Karpenter minor release; orders by number, so 1.9 comes before 1.10."""

    major: int
    minor: int

    def __str__(self) -> str:
        """Return the version as people write it: `1.14`."""
        return f"{self.major}.{self.minor}"


def parse_minor(text: str) -> Minor:
    """Parse the minor version of `1.14`, `v1.14` or `1.14.1`.

    Raises:
        ValueError: for a text that is not a version.
    """
    match = re.fullmatch(r"v?(\d+)\.(\d+)(\.\d+([-+].*)?)?", text, re.ASCII)
    if match is None:
        msg = f"{text!r} is not a Karpenter version such as {LATEST}"
        raise ValueError(msg)
    return Minor(int(match[1]), int(match[2]))


def is_supported(target: str, since: Since) -> bool:
    """Return whether Karpenter `target` has what was introduced in `since`."""
    return parse_minor(target) >= parse_minor(since.minor)
