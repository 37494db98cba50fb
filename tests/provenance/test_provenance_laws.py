"""Every leaf of every rendered object has a source, and the chain ends with what counts."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

import pytest
from hypothesis import given, settings

from gpupool.assets import find_shipped_folder
from gpupool.blueprint.load import LoadedBlueprint, load
from gpupool.errors import InputError
from gpupool.expansion.expand import expand
from gpupool.findings import Location
from gpupool.objects import Manifest
from gpupool.profiles.load import SHIPPED
from gpupool.provenance.trace import trace
from gpupool.provenance.values import LayerOutcome, LayerValue, Origin
from gpupool.rendering.render import build_manifests
from gpupool.reports.explain.provenance import render_text, to_json
from gpupool.yamlio.located import find, leaves, mapping
from tests.goldencases import Case, cases
from tests.strategies import Words, blueprints
from tests.test_examples import ALL, EXAMPLES
from tests.tiers import examples

RENDERED = [case for case in cases() if case.expected_files is not None]
OWN = (("apiVersion",), ("kind",), ("metadata", "name"), ("spec", "template", "spec", "nodeClassRef"))
"""What follows from an item's being there under its name."""


def questions(loaded: LoadedBlueprint, made: Sequence[Manifest]) -> Iterator[str]:
    """Yield what has to be asked to be told of everything."""
    for manifest in made:
        if manifest.ref.kind == "NodePool":
            yield manifest.ref.name
            yield f"{manifest.ref.name}.nodeClass"
    for section in ("nodeClasses", "nodeOverlays"):
        yield from (
            f"{section}.{name}"
            for name, node in mapping(find(loaded.node, section)).items()
            if node.value is not None
        )


def check(paths: Sequence[str]) -> int:
    """Hold what is told of a whole blueprint against what it renders to; give the number of leaves."""
    loaded = load(paths)
    made = build_manifests(expand(loaded))
    told: dict[str, Origin] = {}
    for asked in questions(loaded, made):
        found = trace(loaded, made, asked)
        assert render_text(found)
        assert json.loads(json.dumps(to_json(found))) == to_json(found)
        for origin in found.origins:
            # Several pools may share a class or the cluster's words, and tell of them in the same words.
            told[repr(origin)] = origin
            check_chain(origin)
    covered: Counter[tuple[str, tuple[str | int, ...]]] = Counter()
    parts = {repr(part): part for origin in told.values() for part in origin.renderings}
    bodies = {f"{each.ref.kind}/{each.ref.name}": each.body for each in made}
    for part in parts.values():
        for path, _ in leaves(bodies[part.object]):
            covered[part.object, path] += path[: len(part.path)] == part.path
    assert set(covered.values()) <= {1}, [leaf for leaf, times in covered.items() if times != 1]
    assert {name for name, _ in covered} == set(bodies)
    return len(covered)


def check_chain(origin: Origin) -> None:
    in_force = [said for said in origin.chain if said.outcome in (LayerOutcome.WINS, LayerOutcome.MERGED)]
    assert origin.chain, origin
    if origin.value is None:
        assert not in_force, origin
        assert origin.chain[-1].outcome is LayerOutcome.REMOVES, origin
        return
    if any(said.note.startswith("overridden by maintenance") for said in origin.chain) and not in_force:
        assert origin.path[-2:] == ("disruption", "budgets"), origin
        return
    last = in_force[-1]
    assert origin.value == last.value or isinstance(origin.value, dict), origin
    assert sum(said.outcome is LayerOutcome.WINS for said in in_force) <= 1, origin
    for said in origin.chain:
        assert said.outcome is not LayerOutcome.WINS or said is last, origin
        check_place(said)
    if last.note == "its name, and fields derived from it":
        assert all(part.path in OWN or part.value == [] for part in origin.renderings), origin
        return
    for part in origin.renderings:
        are_plain = not isinstance(part.value, list | dict) and not isinstance(last.value, list | dict)
        if part.path[-1] == last.field[-1] and are_plain and not part.notes:
            days = isinstance(last.value, str) and last.value.endswith("d")
            assert days or str(part.value) == str(last.value), origin


def check_place(said: LayerValue) -> None:
    """Find the value in the file at the place that is named."""
    if (
        said.at.line
        and not said.note
        and isinstance(said.value, str | int)
        and "(hidden" not in str(said.value)
    ):
        written = line_of(said.at)[said.at.column - 1 :].lstrip("\"'|>- ")
        value = str(said.value).lower() if isinstance(said.value, bool) else str(said.value)
        assert written.startswith((value.splitlines()[0][:20], "*")), (said, written)


def line_of(at: Location) -> str:
    if at.file.startswith(SHIPPED):
        lines = find_shipped_folder("profiles").joinpath(PurePath(at.file).name).read_text("utf-8")
    else:
        lines = Path(at.file).read_text("utf-8")
    return lines.splitlines()[at.line - 1]


@pytest.mark.parametrize("name", ALL)
def test_every_leaf_of_an_example_has_a_source(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    assert check(ALL[name]) > 15


@pytest.mark.parametrize("case", RENDERED, ids=lambda case: case.name)
def test_every_leaf_of_a_golden_case_has_a_source(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case.folder)
    assert check(case.blueprints) > 15


@given(blueprint=blueprints())
@settings(max_examples=examples(60), deadline=None, derandomize=True, database=None)
def test_every_leaf_of_any_blueprint_has_a_source(
    blueprint: Words, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("any") / "blueprint.yaml"
    path.write_text(json.dumps(blueprint, indent=1), "utf-8")
    try:
        check([str(path)])
    except InputError as problem:
        pytest.fail(str(problem.findings))
