"""How the tests are shared among the workers of a parallel run."""

from collections.abc import Sequence
from typing import Final

import pytest
from xdist.scheduler import LoadFileScheduling

LONG: Final = (
    "tests/server/test_end_to_end.py",
    "tests/server/test_overlays_oracle.py",
    "tests/server/test_matching_oracle.py",
    "tests/server/test_fit_oracle.py",
    "tests/server/test_instance_types_oracle.py",
    "tests/server/applying/test_signals.py",
    "tests/server/applying/test_crashes.py",
    "tests/install/",
    "tests/server/laws/test_apply_laws.py",
    "tests/server/commands/test_guide.py",
    "tests/server/commands/test_exit_codes.py",
    "tests/catalogue/test_refresh.py",
)
"""What takes longest, and so begins first: no worker is left with a minute of work when the others are done."""

TOGETHER: Final = "tests/install/"
"""A folder whose files share what is built once in a process."""


class ByFile(LoadFileScheduling):  # type: ignore[misc] # xdist has no types
    """Give a worker whole files, as servers and oracles are started once for each file that needs one."""

    def _split_scope(self, nodeid: str) -> str:
        return TOGETHER if nodeid.startswith(TOGETHER) else nodeid.partition("::")[0]


def place(item: pytest.Item) -> int:
    """Return the place in the order of long files; all others come after them."""
    return next((place for place, name in enumerate(LONG) if item.nodeid.startswith(name)), len(LONG))


def in_order(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the tests with the long files first, and in their own order otherwise."""
    return sorted(items, key=place)
