"""The lines under the fields become an editor's hover text, so every field has to have them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpupool.karpenter

FOLDER = Path(gpupool.karpenter.__file__).parent
MODULES = [FOLDER / "meta.py", *sorted(FOLDER.glob("v1*/*.py"))]


def fields(module: Path) -> Iterator[tuple[str, str]]:
    """Each field of the models in a module, and the text under it."""
    for shape in ast.parse(module.read_text()).body:
        if isinstance(shape, ast.ClassDef):
            for here, after in zip(shape.body, [*shape.body[1:], ast.Pass()], strict=True):
                if isinstance(here, ast.AnnAssign):
                    yield f"{shape.name}.{ast.unparse(here.target)}", prose(after)


def prose(statement: ast.stmt) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return str(statement.value.value)
    return ""


def test_fields_are_found() -> None:
    assert len([name for module in MODULES for name, _ in fields(module)]) > 100


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_every_field_is_explained(module: Path) -> None:
    assert [name for name, text in fields(module) if len(text) < 15] == []


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_every_explanation_begins_with_a_whole_sentence(module: Path) -> None:
    first_lines = {name: text.splitlines()[0] for name, text in fields(module)}

    assert [name for name, line in first_lines.items() if not line.endswith(".")] == []
