"""On the real server too, a plan names exactly the line that was changed."""

from __future__ import annotations

import shutil
from random import Random
from typing import TYPE_CHECKING

import pytest

from gpupool.errors import GpupoolError
from gpupool.planning.plan import Consent
from tests.edits import describe, find_edits, named_lines
from tests.goldencases import Case, cases
from tests.goldensample import sampled
from tests.server import statuses
from tests.server.laws.worlds import clear, world
from tests.tiers import volume

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.rig.server import ApiServer
    from tests.server.laws.worlds import World

CASES, EDITS = volume(60, at_least=0), 3
SEED = 20261122
GOLDEN = sampled([case for case in cases() if case.expected_files is not None])
CONSENT = Consent(prune=True, max_deletes=99)


@pytest.fixture
def here(api_server: ApiServer) -> Iterator[World]:
    """Yield a server with nothing on it."""
    with world(api_server) as found:
        yield found
    statuses.delete_all(api_server)


def test_the_line_that_was_changed_is_the_one_that_is_named(
    here: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = Random(SEED).sample(GOLDEN, min(CASES, len(GOLDEN)))  # noqa: S311 - which cases are tried

    named = sum(_count_named(here, case, tmp_path / case.name, monkeypatch) for case in chosen)

    assert named >= len(chosen)


def _count_named(here: World, case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Apply a case, plan some edits of it, and return how many of them changed a field."""
    shutil.copytree(case.folder, folder)
    monkeypatch.chdir(folder)
    clear(here.server)
    try:
        here.apply(case.blueprints, CONSENT)
    except GpupoolError:
        return 0  # for another cluster, or with a class that the blueprint does not have
    texts = {name: (folder / name).read_text("utf-8") for name in case.blueprints}
    edits = [edit for name in case.blueprints for edit in find_edits(name, texts[name])]
    Random(f"{SEED} {case.name}").shuffle(edits)  # noqa: S311 - which values are changed
    count = 0
    for edit in edits[: 4 * EDITS]:
        (folder / edit.file).write_text(edit.text, "utf-8")
        try:
            plan = here.look(case.blueprints, CONSENT).plan
        except GpupoolError:
            continue  # no longer a valid blueprint
        finally:
            (folder / edit.file).write_text(texts[edit.file], "utf-8")
        if lines := named_lines(plan):
            assert lines == {(edit.file, edit.line)}, f"{case.name} {edit} (seed {SEED})\n{describe(plan)}"
            count += 1
        if count == EDITS:
            break
    return count
