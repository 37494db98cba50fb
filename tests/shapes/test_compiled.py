"""Validators that are kept between runs: as good as new ones, and never those of other code."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from gpupool.blueprint.model import Blueprint
from gpupool.karpenter.validation.types import TYPES
from gpupool.shapes import compiled
from tests.karpenter.cases import ACCEPTED, REFUSED
from tests.karpenter.examples import changed

MODELS: list[type[BaseModel]] = [Blueprint, *TYPES.values()]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep validators in a folder of the test's own, and begin with none."""
    monkeypatch.setattr(compiled, "kept_at", lambda model: tmp_path / model.__name__)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    compiled.validator.cache_clear()
    return tmp_path


def again() -> None:
    """Begin as a new process would."""
    compiled.validator.cache_clear()


def outcome(model: type[BaseModel], data: object) -> object:
    try:
        return compiled.validate(model, data)
    except ValidationError as problem:
        return problem.errors(include_url=False)


def test_a_kept_one_says_what_a_new_one_says(kept: Path) -> None:
    objects: list[dict[str, Any]] = [changed(*case) for case in (*ACCEPTED, *REFUSED)]
    new = [outcome(TYPES[each["kind"]], each) for each in objects]

    again()

    assert {path.name for path in kept.iterdir()} == set(TYPES)
    assert [outcome(TYPES[each["kind"]], each) for each in objects] == new


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_it_is_read_back(model: type[BaseModel], kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled.validator(model)
    again()
    monkeypatch.setattr(compiled, "_made", lambda _: pytest.fail("made anew"))

    assert "model" in repr(compiled.validator(model))
    assert [path.name for path in kept.iterdir()] == [model.__name__]


def test_one_of_other_code_is_not_used(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled.validator(Blueprint)
    before = (kept / "Blueprint").read_bytes()
    again()
    monkeypatch.setattr(compiled, "VERSION", "another")

    compiled.validator(Blueprint)

    after = (kept / "Blueprint").read_bytes()
    assert after[:4] != before[:4]
    assert after[4:] == before[4:]


@pytest.mark.parametrize("damage", [b"", b"\0" * 8, b"junk" * 9])
def test_a_damaged_one_is_made_anew(damage: bytes, kept: Path) -> None:
    compiled.validator(Blueprint)
    whole = (kept / "Blueprint").read_bytes()
    (kept / "Blueprint").write_bytes(damage or whole[:-1])
    again()

    compiled.validator(Blueprint)

    assert (kept / "Blueprint").read_bytes() == whole


def test_nothing_is_kept_where_nothing_can_be_written(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = kept / "missing" / "Blueprint"
    monkeypatch.setattr(compiled, "kept_at", lambda _: missing)

    assert compiled.validator(Blueprint) is not None
    assert not missing.parent.exists()


def test_nothing_is_kept_where_python_keeps_no_bytecode(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    compiled.validator(Blueprint)

    assert list(kept.iterdir()) == []


def test_the_sources_that_count_are_all_that_validators_are_made_of() -> None:
    made_of = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, gpupool.blueprint.model, gpupool.profiles.model; print(*sys.modules)",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()

    folders = {name.split(".")[1] for name in made_of if name.startswith("gpupool.") and name.count(".") > 1}
    assert folders - set(compiled.SOURCES) <= {"yamlio", "catalogue"}


def test_a_second_run_of_the_program_makes_none(tmp_path: Path) -> None:
    file = tmp_path / "pool.yaml"
    file.write_text("{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {}}\n")
    program = (
        "import sys; from gpupool.shapes import compiled; from gpupool.cli.app import main;"
        "compiled._made = compiled._made if sys.argv[1] == 'first' else None;"
        "sys.exit(main(['validate', sys.argv[2]]))"
    )
    command = [sys.executable, "-X", f"pycache_prefix={tmp_path}/bytecode", "-c", program]
    environment = {"PYTHONPATH": str(compiled.PACKAGE.parent)}

    runs = [
        subprocess.run([*command, number, file], capture_output=True, text=True, env=environment, check=False)
        for number in ("second", "first", "second")
    ]

    assert [run.returncode for run in runs] == [70, 1, 1]
    assert runs[1].stdout == runs[2].stdout
