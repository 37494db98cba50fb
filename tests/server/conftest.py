"""Fixtures of the real components, and the mark `server` for every test in this folder.

Where a component can't be built, its tests fail: an unasked API server says nothing about our output.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rig import charts, conformance, fault_proxy, programs, server

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder before `-m` is looked at."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("server")


@pytest.fixture(scope="session")
def api_server(pytestconfig: pytest.Config) -> Iterator[server.ApiServer]:
    """A kube-apiserver with Karpenter's CRDs, one for the whole run (one per worker under pytest-xdist)."""
    _build(programs.API_SERVER, pytestconfig)
    with server.api_server() as found:
        yield found


@pytest.fixture
def faulty(api_server: server.ApiServer) -> Iterator[fault_proxy.FaultProxy]:
    """A way to the API server on which things go wrong once a test sets rules."""
    with fault_proxy.fault_proxy(api_server.access) as found:
        yield found


@pytest.fixture(scope="session")
def kubeconform(pytestconfig: pytest.Config) -> conformance.Kubeconform:
    """`kubeconform(files) -> list[Conformance]`: strict verdicts by schemas made from Karpenter's CRDs."""
    _build(programs.KUBECONFORM, pytestconfig)
    return conformance.built()


@pytest.fixture(scope="session")
def helm_template(pytestconfig: pytest.Config) -> charts.HelmTemplate:
    """`helm_template(chart, values_text) -> list[dict]`: the objects the real chart renders."""
    _build(programs.HELM, pytestconfig)
    return charts.built()


def _build(program: programs.Program, config: pytest.Config) -> None:
    """Build a program, and say so first: it may take minutes."""
    screen = config.pluginmanager.get_plugin("terminalreporter")  # a worker of pytest-xdist has none
    capture = config.pluginmanager.get_plugin("capturemanager")
    if screen and capture and not (programs.home(program) / program.name).exists():
        with capture.global_and_fixture_disabled():
            screen.write_line(f"\nbuilding {program.name}, once for all runs ...")
    programs.build(program)
