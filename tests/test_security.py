"""The page on security says what is tested: each promise names a test that is there, and two modules start programs."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

import pytest

from tests.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE: Final = (ROOT / "docs/explanation/security.md").read_text("utf-8")
NAMED: Final = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)
STARTING: Final = frozenset({"subprocess", "multiprocessing", "pty"})
IN_OS: Final = frozenset({"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "startfile"})


def promises() -> list[str]:
    """Return the rows of the tables whose second column is a test."""
    tables = PAGE.split("| guarantee | test |\n|---|---|\n")[1:]
    return [line for table in tables for line in table.partition("\n\n")[0].splitlines()]


@pytest.mark.parametrize("row", promises(), ids=lambda row: row.strip("| ")[:60])
def test_each_promise_names_a_test(row: str) -> None:
    assert len(re.findall(r"`tests/", row)) == 1
    assert row.endswith("` |")


@pytest.mark.parametrize(("file", "name"), NAMED, ids=lambda part: part or "all of it")
def test_each_test_that_is_named_is_there(file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    there = {each.name for each in tree.body if isinstance(each, ast.FunctionDef | ast.ClassDef)}
    assert any(each.lower().startswith("test") for each in there)
    assert not name or name in there


def starting(file: Path) -> Iterator[str]:
    """Return what starts programs in a module."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.partition(".")[0] in STARTING)
        elif isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] in STARTING:
            yield str(node.module)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
            is_one = node.attr in IN_OS or node.attr.startswith(("exec", "spawn"))
            yield from ([f"os.{node.attr}"] if is_one else [])


def test_three_modules_start_programs() -> None:
    found = {
        file.relative_to(ROOT).as_posix()
        for file in sorted((ROOT / "gpupool").rglob("*.py"))
        if [*starting(file)]
    }
    assert found == {"gpupool/rollout/commit.py", "gpupool/cluster/plugin.py", "gpupool/cli/pager.py"}
