"""Fixtures of the real components, and the mark `server` for every test in this folder.

Where a component can't be built, its tests fail: an unasked API server says nothing about our output.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rig import charts, conformance, server

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder before `-m` is looked at."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("server")


@pytest.fixture(scope="session")
def api_server() -> Iterator[server.ApiServer]:
    """A kube-apiserver with Karpenter's CRDs, one for the whole run (one per worker under pytest-xdist)."""
    with server.api_server() as found:
        yield found


@pytest.fixture(scope="session")
def kubeconform() -> conformance.Kubeconform:
    """`kubeconform(files) -> list[Conformance]`: strict verdicts by schemas made from Karpenter's CRDs."""
    return conformance.built()


@pytest.fixture(scope="session")
def helm_template() -> charts.HelmTemplate:
    """`helm_template(chart, values_text) -> list[dict]`: the objects the real chart renders."""
    return charts.built()
