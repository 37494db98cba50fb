"""Validators that are kept between runs: as good as new ones, and never those of other code."""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import ErrorDetails, ValidationError

from gpupool.blueprint.names import BLUEPRINT
from gpupool.karpenter.validation.types import TYPES
from gpupool.shapes import compiled
from gpupool.yamlio.located import plain
from gpupool.yamlio.read import read
from tests.differential.mutants import mutants
from tests.differential.trees import changed, parts
from tests.tiers import examples

PROFILE = compiled.Model("gpupool.profiles.model", "Profile")
EXAMPLE = compiled.PACKAGE.parent / "docs" / "examples" / "ml-platform.yaml"
ODD = [None, True, 1, -1, 1.5, "", "x", "1h", [], ["x"], [None], {}, {"x": 1}, {"in": ["x"], "minValues": 0}]

MODELS = [BLUEPRINT, PROFILE, *TYPES.values()]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep validators in a folder of the test's own, and begin with none."""
    monkeypatch.setattr(compiled, "cache_path", lambda model: tmp_path / model.name)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    again()
    return tmp_path


def again() -> None:
    """Begin as a new process would."""
    compiled.load_validator.cache_clear()
    compiled.build_stamp.cache_clear()


def outcome(check: Callable[[object], object], data: object) -> object:
    """What a check says of data, but for the words in which pydantic names classes."""
    try:
        check(data)
    except ValidationError as problem:
        errors = problem.errors(include_url=False)
        return [(each["type"], each["loc"], each["input"], _context(each)) for each in errors]
    return []


def _context(error: ErrorDetails) -> dict[str, Any]:
    return {key: value for key, value in error.get("ctx", {}).items() if key != "class_name"}


def test_a_kept_one_says_of_karpenters_objects_what_the_model_says(kept: Path) -> None:
    objects = [mutant.body for mutant in mutants(2_000, seed=5)]
    compiled.load_validator(TYPES["NodePool"])
    again()

    for body in objects:
        model = TYPES[body["kind"]]
        assert outcome(compiled.load_validator(model).validate_python, body) == outcome(
            model.load().model_validate, body
        )
    assert {path.name for path in kept.iterdir()} == set(TYPES)


@settings(derandomize=True, deadline=None, max_examples=examples(300))
@given(data=st.data())
def test_a_kept_one_says_of_blueprints_what_the_model_says(data: st.DataObject) -> None:
    whole: Any = plain(read(EXAMPLE.read_bytes(), "e").node or pytest.fail("no example"))
    for _ in range(data.draw(st.integers(1, 4))):
        places = [path for path, _ in parts(whole) if path]
        whole = changed(whole, data.draw(st.sampled_from(places)), data.draw(st.sampled_from(ODD)))

    kept, model = compiled.load_validator(BLUEPRINT), BLUEPRINT.load()
    assert outcome(kept.validate_python, whole) == outcome(model.model_validate, whole)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_it_is_read_back(model: compiled.Model, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled.load_validator(model)
    again()
    monkeypatch.setattr(compiled, "_compile", lambda _: pytest.fail("made anew"))

    assert compiled.load_validator(model) is not None
    assert [path.name for path in kept.iterdir()] == [model.name]


def test_one_of_other_code_is_not_used(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled.load_validator(BLUEPRINT)
    before = (kept / "Blueprint").read_bytes()
    again()
    monkeypatch.setattr(compiled, "SOURCES", ("shapes",))

    compiled.load_validator(BLUEPRINT)

    after = (kept / "Blueprint").read_bytes()
    assert after[:4] != before[:4]
    assert after[4:] == before[4:]


@pytest.mark.parametrize("damage", [b"", b"\0" * 8, b"junk" * 9])
def test_a_damaged_one_is_made_anew(damage: bytes, kept: Path) -> None:
    compiled.load_validator(BLUEPRINT)
    whole = (kept / "Blueprint").read_bytes()
    (kept / "Blueprint").write_bytes(damage or whole[:-1])
    again()

    compiled.load_validator(BLUEPRINT)

    assert (kept / "Blueprint").read_bytes() == whole


def test_nothing_is_kept_where_nothing_can_be_written(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = kept / "missing" / "Blueprint"
    monkeypatch.setattr(compiled, "cache_path", lambda _: missing)

    assert compiled.load_validator(BLUEPRINT) is not None
    assert not missing.parent.exists()


def refuse_pickles(monkeypatch: pytest.MonkeyPatch) -> None:
    again()
    monkeypatch.setattr(pickle, "loads", lambda _: pytest.fail("read"))


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o1777])
def test_none_is_read_or_kept_in_a_folder_that_others_can_write(
    mode: int, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To unpickle a file is to run it."""
    compiled.load_validator(PROFILE)
    kept.chmod(mode)
    refuse_pickles(monkeypatch)

    assert compiled.load_validator(PROFILE) is not None
    assert compiled.load_validator(BLUEPRINT) is not None
    assert [path.name for path in kept.iterdir()] == ["Profile"]


@pytest.mark.parametrize("which", ["folder", "file"])
def test_none_of_another_user_is_read(which: str, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled.load_validator(PROFILE)
    user = os.geteuid()
    if user:
        monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    else:  # root is trusted by everybody
        os.chown(kept if which == "folder" else kept / "Profile", 12345, -1)
    refuse_pickles(monkeypatch)

    assert compiled.load_validator(PROFILE) is not None


@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_no_file_is_read_that_others_can_write(
    mode: int, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled.load_validator(PROFILE)
    (kept / "Profile").chmod(mode)
    refuse_pickles(monkeypatch)

    assert compiled.load_validator(PROFILE) is not None
    assert (kept / "Profile").stat().st_mode & 0o777 == 0o644


def test_a_lax_umask_lets_nobody_else_write(kept: Path) -> None:
    before = os.umask(0)
    try:
        compiled.load_validator(PROFILE)
    finally:
        os.umask(before)

    assert (kept / "Profile").stat().st_mode & 0o777 == 0o644


def test_nothing_is_kept_where_python_keeps_no_bytecode(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    compiled.load_validator(BLUEPRINT)

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
        "compiled._compile = compiled._compile if sys.argv[1] == 'first' else None;"
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
