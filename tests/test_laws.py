"""Laws of rendering, held against blueprints made at random."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from gpupool import api
from gpupool.errors import InputError
from gpupool.reports.finding_text import render_findings
from gpupool.yamlio.located import leaves, plain
from gpupool.yamlio.write import dump
from tests import strategies
from tests.tiers import volume

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from gpupool.rendering.render import Rendered

laws = settings(
    derandomize=True,
    max_examples=volume(200, at_least=40),
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
UNORDERED = ("requirements", "taints", "startupTaints", "tolerations")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file that each blueprint is written to."""
    return tmp_path_factory.mktemp("laws") / "blueprint.yaml"


def render(blueprint: strategies.Words, file: Path) -> Rendered:
    """Render a blueprint that has to render."""
    try:
        return render_any(blueprint, file)
    except InputError as refused:
        pytest.fail(render_findings(refused.findings))


def render_any(blueprint: strategies.Words, file: Path) -> Rendered:
    file.write_text(dump(blueprint), encoding="utf-8")
    return api.render_files([str(file)])


@laws
@given(blueprint=strategies.blueprints())
def test_whatever_fits_together_renders_soundly(file: Path, blueprint: strategies.Words) -> None:
    """One test for several laws, since rendering is what takes the time."""
    rendered, again = render(blueprint, file), render(blueprint, file)
    assert rendered.files() == again.files()
    assert (rendered.text(), rendered.findings) == (again.text(), again.findings)
    every_value_has_a_place(rendered, str(file))
    every_reader_reads_it_back(rendered)
    nothing_is_empty_that_nobody_wrote(rendered, empty_keys(blueprint))


@laws
@given(blueprint=strategies.blueprints(), random=st.randoms(use_true_random=False))
def test_the_order_of_keys_changes_nothing_but_order(
    file: Path, blueprint: strategies.Words, random: Random
) -> None:
    first = render(blueprint, file)
    second = render(strategies.in_another_order(blueprint, random), file)
    assert list(first.files()) == list(second.files())
    assert unordered_objects(first) == unordered_objects(second)


@settings(laws, max_examples=volume(300, at_least=60))
@given(blueprint=strategies.damaged_blueprints())
def test_a_damaged_blueprint_renders_or_is_refused_with_places(
    file: Path, blueprint: strategies.Words
) -> None:
    try:
        render_any(blueprint, file)
    except InputError as refused:
        event("refused")
        for finding in refused.findings:
            assert finding.message
            assert finding.at.file == str(file) or finding.at.file.startswith("gpupool:profiles/"), finding
    else:
        event("rendered")


def every_value_has_a_place(rendered: Rendered, file: str) -> None:
    for manifest in rendered.manifests:
        for path, leaf in leaves(manifest.body):
            known = leaf.at.file in (file, "built-in") or leaf.at.file.startswith("gpupool:profiles/")
            assert known, (path, leaf.at)
            assert leaf.at.line > 0 or leaf.at.file == "built-in", (path, leaf.at)


def every_reader_reads_it_back(rendered: Rendered) -> None:
    meant = [plain(manifest.body) for manifest in rendered.manifests]
    stream, files = rendered.text(), list(rendered.files().values())[: len(meant)]
    assert list(yaml.load_all(stream, Loader=yaml.CSafeLoader)) == meant
    assert list(YAML(typ="safe", pure=True).load_all(io.StringIO(stream))) == meant
    assert [yaml.load(text, Loader=yaml.CSafeLoader) for text in files] == meant


def nothing_is_empty_that_nobody_wrote(rendered: Rendered, written: set[str]) -> None:
    for manifest in rendered.manifests:
        for path, leaf in leaves(manifest.body):
            assert leaf.value is not None, path
            # Karpenter wants `requirements` even where there are none.
            key = next(step for step in reversed(path) if isinstance(step, str))
            assert leaf.value not in ({}, []) or key in {*written, "requirements"}, path


def unordered_objects(rendered: Rendered) -> list[Any]:
    bodies = [*(manifest.body for manifest in rendered.manifests), *(one.values for one in rendered.releases)]
    return [unordered(plain(body)) for body in bodies]


def unordered(value: Any) -> Any:  # noqa: ANN401 - any part of an object
    """Return data in which lists whose order says nothing are sorted."""
    if isinstance(value, dict):
        return {
            key: sorted(map(unordered, item), key=repr) if key in UNORDERED else unordered(item)
            for key, item in value.items()
        }
    return [unordered(item) for item in value] if isinstance(value, list) else value


def empty_keys(value: Any, key: str = "") -> set[str]:  # noqa: ANN401 - any part of a file
    """Return the keys whose value in a blueprint is an empty map or list, or a list that holds one."""
    if value in ({}, []):
        return {key}
    if isinstance(value, dict):
        return {found for each, item in value.items() for found in empty_keys(item, each)}
    return {found for item in value for found in empty_keys(item, key)} if isinstance(value, list) else set()
