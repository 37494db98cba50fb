"""Every value that is rendered has a cause with a place, and a plan names exactly the line that was changed."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from gpupool.errors import GpupoolError
from gpupool.planning.blueprint_index import BlueprintIndex, is_shipped
from gpupool.rollout.connection import Pins
from gpupool.rollout.desired_state import load_desired_state
from gpupool.rollout.inventory.store import InventoryRef
from gpupool.rollout.planning.desired_objects import build_desired_objects
from gpupool.yamlio.located import leaves
from gpupool.yamlio.write import dump
from tests import strategies
from tests.edits import Edit, describe, find_edits, named_lines
from tests.goldencases import cases
from tests.memory.worlds import World
from tests.rollout.decisions.cases import EVERYTHING
from tests.tiers import is_thorough, volume

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpupool.rollout.desired_state import DesiredState
    from tests.goldencases import Case
    from tests.memory.worlds import Kept

RENDERED = [case for case in cases() if case.expected_files]
SEED = 20261122
EDITS_OF_A_CASE = 3
NOT_YET: frozenset[str] = frozenset()
"""Fields whose change is not yet named by its line; each needs `also` in `expansion`."""


@pytest.mark.parametrize("case", RENDERED, ids=lambda case: case.name)
def test_every_rendered_leaf_has_a_cause_with_a_place(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case.folder)
    wanted = load_desired_state(case.blueprints)
    files = {*wanted.files, *_profiles(wanted.blueprint_index)}

    for item in build_desired_objects(wanted, InventoryRef("kube-system", wanted.inventory)):
        assert item.causes is not None
        for path, _ in leaves(item.causes.body):
            cause = item.causes.find_cause(path)
            assert cause.layer, (item.address, path)
            assert cause.place.file in files, (item.address, path, cause)
            assert cause.place.line > 0, (item.address, path, cause)
            assert cause.place.column > 0, (item.address, path, cause)


@pytest.mark.parametrize("case", RENDERED, ids=lambda case: case.name)
def test_the_line_that_was_changed_is_the_one_that_is_named(
    case: Case, kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(case.folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    first = _load(case.blueprints)
    profiles = sorted(_profiles(first.blueprint_index) - {*case.blueprints})
    texts = {name: (tmp_path / name).read_text("utf-8") for name in (*case.blueprints, *profiles)}
    random = Random(f"{SEED} {case.name}")  # noqa: S311 - which values are changed
    here = World(kept)
    if not _is_applied(here, first):
        return

    edits = [edit for name in texts for edit in find_edits(name, texts[name])]
    random.shuffle(edits)
    count = 0
    for edit in edits:
        if count == EDITS_OF_A_CASE and not is_thorough():
            break
        count += _ensure_named(here, edit, texts, case.blueprints)


def test_the_line_of_generated_blueprints(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    named: list[Edit] = []

    @settings(
        derandomize=True, deadline=None, database=None, max_examples=volume(500, at_least=0), phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],
    )  # fmt: skip
    @given(words=strategies.blueprints())
    def is_named(words: dict[str, Any]) -> None:
        texts = {"gpupool.yaml": dump(words)}
        (tmp_path / "gpupool.yaml").write_text(texts["gpupool.yaml"], "utf-8")
        here = World(kept)
        if not _is_applied(here, _load(["gpupool.yaml"])):
            return
        edits = list(find_edits("gpupool.yaml", texts["gpupool.yaml"]))
        Random(SEED).shuffle(edits)  # noqa: S311 - which values are changed
        for edit in edits:
            if _ensure_named(here, edit, texts, ["gpupool.yaml"]):
                named.append(edit)
                break

    is_named()
    assert len(named) >= volume(500, at_least=0) // 3


def _ensure_named(here: World, edit: Edit, texts: dict[str, str], files: Sequence[str]) -> bool:
    """Plan with an edit and check the lines that are named; return whether the edit changed a field."""
    path = Path(edit.file)
    if edit.field in NOT_YET:
        return False
    path.write_text(edit.text, "utf-8")
    try:
        plan = here.look(_load(files), EVERYTHING).plan
    except GpupoolError:
        return False  # no longer a valid blueprint
    finally:
        path.write_text(texts[edit.file], "utf-8")
    lines = named_lines(plan)
    if not lines:
        return False
    assert lines == {(edit.file, edit.line)}, f"{edit} (seed {SEED})\n{describe(plan)}"
    return True


def _is_applied(here: World, wanted: DesiredState) -> bool:
    """Apply a blueprint; return whether that worked, as some refer to classes that do not exist."""
    try:
        here.apply(wanted, EVERYTHING)
    except GpupoolError:
        return False
    return True


def _load(files: Sequence[str]) -> DesiredState:
    """Render files for any cluster."""
    return load_desired_state(files)._replace(pins=Pins(None, None, None))


def _profiles(index: BlueprintIndex) -> set[str]:
    """Return the user's own profile files."""
    return {at.file for at in index._by_location if not is_shipped(at)}  # noqa: SLF001 - all files that were read
