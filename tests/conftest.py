"""Options of the whole test run."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what is rendered over the expected files of tests/golden, to be read in the diff",
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Say whether expected files are to be written instead of compared."""
    return bool(request.config.getoption("--update-golden"))
