"""Options of the whole test run."""

import gc
import signal
from typing import Any, Final

import pytest

from tests import shares, tiers

_GARBAGE: Final = 20_000
"""New objects until the youngest are looked through for cycles; with Python's 700 a sixth of the run's time goes into it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what is rendered over the expected files of tests/golden, to be read in the diff",
    )
    parser.addoption(
        "--thorough",
        action="store_true",
        help="ask every oracle at full volume, as the nightly run does (default: a tenth)",
    )


def pytest_configure(config: pytest.Config) -> None:
    # Before the test modules are imported, as some make their questions then.
    tiers.choose(thorough=bool(config.getoption("--thorough")))
    # A shell ignores SIGINT for what it starts in the background, nohup ignores SIGHUP, and the programs that tests
    # interrupt would inherit it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = shares.in_order(items)


def pytest_collection_finish() -> None:
    # Thousands of tests and the modules they import are here to stay, and no cycle among them is worth looking for.
    gc.freeze()
    gc.set_threshold(_GARBAGE)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> shares.ByFile | None:  # noqa: ANN401 - no types
    return shares.ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Return whether expected files are to be written instead of compared."""
    return bool(request.config.getoption("--update-golden"))
