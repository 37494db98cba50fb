"""Fields of a blueprint are read by name, so that mypy knows each of them; only the loader reads by key."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gpupool"
LOADER = {"blueprint/load.py"}
KUBERNETES = ("manifests/", "karpenter/", "scheduling/", "cluster/", "pools.py")
"""Readers of Kubernetes' own objects, of which no blueprint table knows the fields."""

SNIPPET = """
from gpupool.blueprint.pool import PoolFields
from gpupool.expansion.layers import LayeredPool

def expand(layers: LayeredPool) -> object:
    return {expression}
"""


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("layers.fields.expire_after", ""),
        ("layers.fields.expire_aftr", '"Tier" has no attribute "expire_aftr"'),
        ("layers.fields.disruption.maintenances", 'no attribute "maintenances"'),
        ("layers.fields.limits.usd_per_our", 'no attribute "usd_per_our"'),
        ("layers.own.node_class.disk.sizes", 'no attribute "sizes"'),
        ("PoolFields.weights.key", 'no attribute "weights"'),
        ("layers.fields.weight.value.upper()", "None"),
        ("layers.fields.weight and layers.fields.weight.value.upper()", '"int" has no attribute "upper"'),
    ],
)
def test_mypy_rejects_a_misspelt_field(expression: str, error: str, tmp_path: Path) -> None:
    file = tmp_path / "snippet.py"
    file.write_text(SNIPPET.format(expression=expression))
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(file)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == bool(error), run.stdout
    assert error in run.stdout


def literal_keys(source: str) -> Iterator[int]:
    """Yield the line of each call of `find` or `text_at` with a key that is written out."""
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in {"find", "text_at"}
        ) and any(isinstance(argument, ast.Constant) for argument in node.args[1:]):
            yield node.lineno


def test_only_the_loader_reads_a_field_by_a_key_that_is_written_out() -> None:
    files = {file.relative_to(PACKAGE).as_posix(): file for file in PACKAGE.rglob("*.py")}
    read = [name for name in files if name not in LOADER and not name.startswith(KUBERNETES)]
    assert len(read) > 200
    assert [f"{name}:{line}" for name in read for line in literal_keys(files[name].read_text())] == []


def test_the_search_for_such_keys_finds_them() -> None:
    assert [
        *literal_keys(
            'find(node, "pool", name)\ntext_at(\n  node, *path, "x")\nfind(node, key)\n"a".find("b")'
        )
    ] == [1, 2]
