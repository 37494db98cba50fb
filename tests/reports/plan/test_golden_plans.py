"""Each example plan in each format is what its folder holds.

`pytest tests/reports/plan/test_golden_plans.py --update-golden` writes them; read the difference before it is
committed.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from gpupool.planning.plan import Plan
from gpupool.reports.plan.formats import FORMATS
from gpupool.reports.plan.github import render_step_outputs, render_step_summary
from tests.planning.plans import EXAMPLES, large

FOLDER = Path(__file__).parent / "golden"
WAYS: dict[str, Callable[[Plan], str]] = {
    "text.txt": FORMATS["text"],
    "all.txt": partial(FORMATS["text"], show_textual=True),
    "colour.txt": partial(FORMATS["text"], colour=True),
    "changes.patch": FORMATS["patch"],
    "plan.json": FORMATS["json"],
    "comment.md": FORMATS["markdown"],
    "commands.txt": FORMATS["github"],
    "summary.md": render_step_summary,
    "outputs.txt": lambda plan: render_step_outputs(plan, 2 if plan.has_changes else 0),
}
SAME = {"all.txt": "text.txt", "summary.md": "comment.md"}
"""What is kept only where it differs from another one."""


def written(plan: Plan) -> Iterator[tuple[str, str]]:
    """Return the golden files of a plan by name."""
    made = {name: write(plan) for name, write in WAYS.items()}
    return ((name, text) for name, text in made.items() if text != made.get(SAME.get(name, "")))


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_written_as_it_was(example: str, update_golden: bool) -> None:
    folder, made = FOLDER / example, dict(written(EXAMPLES[example]))
    if update_golden:
        _write(folder, made)

    assert {path.name for path in folder.iterdir()} == set(made)
    for name, text in made.items():
        assert (folder / name).read_bytes().decode() == text, name


def test_the_top_and_the_end_of_a_comment_on_500_objects(update_golden: bool) -> None:
    comment = FORMATS["markdown"](large())
    top, _, rest = comment.partition("<details>")
    shortened = f"{top}[...]{rest.rpartition('</details>')[2]}"
    if update_golden:
        (FOLDER / "large.md").write_bytes(shortened.encode())

    assert (FOLDER / "large.md").read_bytes().decode() == shortened


def test_every_folder_is_of_an_example() -> None:
    assert {path.name for path in FOLDER.iterdir() if path.is_dir()} == set(EXAMPLES)


def _write(folder: Path, made: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    for name, text in made.items():
        (folder / name).write_bytes(text.encode())
