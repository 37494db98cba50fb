"""The fixture of every test here."""

import pytest

from tests.memory.worlds import Kept


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Kept:
    """What worlds need of a test: connections that lead to them, and a clock that needs no waiting."""
    return Kept(monkeypatch)
