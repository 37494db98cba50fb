"""The single file unpacks itself once, safely, and runs only where it can."""

import hashlib
import os
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from zipfile import ZipFile

import pytest

from single_file import make
from tests.cli.run import SECONDS, Outcome
from tests.install.built_file import Built, build
from tests.tiers import is_thorough

PROGRAM = """
import sys
def run():
    print(__file__, *sys.argv[1:])
    sys.exit(3)
"""


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A small package that stands for gpupool, as pip installs it."""
    folder = tmp_path / "packages"
    for name, text in {
        "gpupool/__init__.py": "",
        "gpupool/__main__.py": PROGRAM,
        "gpupool-1.dist-info/METADATA": "Name: gpupool\n",
        "gpupool-1.dist-info/RECORD": f"../bin/gpupool,{os.urandom(8).hex()}",
        "bin/gpupool": f"#!{sys.executable}\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture
def file(packages: Path, tmp_path: Path) -> Path:
    path = tmp_path / "small.pyz"
    path.write_bytes(make.build(packages))
    return path


def start(file: Path, *arguments: str, **environment: str) -> Outcome:
    ended = subprocess.run(
        [sys.executable, file, *arguments], capture_output=True, text=True, check=False, timeout=SECONDS,
        env={"PATH": os.environ["PATH"], "TMPDIR": str(file.parent), **environment},
    )  # fmt: skip
    return Outcome(ended.returncode, ended.stdout, ended.stderr)


def test_it_unpacks_once_and_runs_from_there(file: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"

    first = start(file, "a b", "-c", XDG_CACHE_HOME=str(cache), PYTHONDONTWRITEBYTECODE="1")
    (unpacked,) = (cache / "gpupool" / "single-file").iterdir()
    bytecode = list(unpacked.rglob("*.pyc"))
    program = unpacked / "gpupool" / "__main__.py"
    program.write_text("def run(): print('from the cache')", "utf-8")
    second = start(file, XDG_CACHE_HOME=str(cache))

    assert first == Outcome(3, f"{program} a b -c\n", "")
    assert unpacked.parent.stat().st_mode & 0o777 == 0o755
    # Bytecode belongs to the cache, whatever the image says of other programs.
    assert bytecode
    assert second == Outcome(0, "from the cache\n", "")


def test_first_runs_at_once_see_all_of_it(file: Path, tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(tmp_path / "cache")}
    runs = [
        subprocess.Popen([sys.executable, file], env=environment, stdout=subprocess.PIPE) for _ in range(6)
    ]
    printed = {run.communicate(timeout=SECONDS)[0] for run in runs}

    (unpacked,) = (tmp_path / "cache" / "gpupool" / "single-file").iterdir()
    assert [run.returncode for run in runs] == [3] * 6
    assert printed == {f"{unpacked}/gpupool/__main__.py\n".encode()}


def test_without_a_cache_it_takes_a_temporary_folder_that_only_the_user_can_write_to(
    file: Path, tmp_path: Path
) -> None:
    temporary = tmp_path / f"gpupool-single-file-{os.getuid()}"

    ran = start(file, XDG_CACHE_HOME="/dev/null")

    assert (ran.code, ran.out.startswith(f"{temporary}/"), ran.err) == (3, True, "")
    assert temporary.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("kind", ["writable by others", "a link"])
def test_it_runs_no_code_from_a_folder_that_others_can_change(kind: str, file: Path, tmp_path: Path) -> None:
    temporary = tmp_path / f"gpupool-single-file-{os.getuid()}"
    if kind == "a link":
        (tmp_path / "elsewhere").mkdir()
        temporary.symlink_to(tmp_path / "elsewhere")
    else:
        temporary.mkdir()
        temporary.chmod(0o777)

    ran = start(file, XDG_CACHE_HOME="/dev/null")

    assert (ran.code, ran.out) == (1, "")
    assert f"other users can write to {temporary}; set XDG_CACHE_HOME to a writable folder\n" in ran.err
    assert list(temporary.iterdir()) == []


def test_another_python_is_told_what_to_do(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make, "EXTENSION_SUFFIXES", [".cpython-39-other.so"])
    file = tmp_path / "other.pyz"
    file.write_bytes(make.build(packages))

    ran = start(file, XDG_CACHE_HOME=str(tmp_path / "cache"))

    assert (ran.code, ran.out) == (64, "")
    assert "was built for another Python (compiled modules end in .cpython-39-other.so)" in ran.err
    assert EXTENSION_SUFFIXES[0] in ran.err
    assert not (tmp_path / "cache").exists()


def test_it_holds_the_packages_in_order_and_nothing_of_the_machine(file: Path, tmp_path: Path) -> None:
    with ZipFile(file) as outer:
        outer.extract("packages.zip", tmp_path)
        assert outer.namelist() == ["__main__.py", "built", "packages.zip"]

    with ZipFile(tmp_path / "packages.zip") as inner:
        members = inner.infolist()

    assert [member.filename for member in members] == [
        "gpupool-1.dist-info/METADATA",
        "gpupool/__init__.py",
        "gpupool/__main__.py",
    ]
    assert {member.date_time for member in members} == {(1980, 1, 1, 0, 0, 0)}


def test_the_same_packages_give_the_same_bytes(packages: Path) -> None:
    first = make.build(packages)
    (packages / "gpupool-1.dist-info" / "RECORD").write_text("another machine's", "utf-8")
    (packages / "gpupool" / "__init__.py").rename(packages / "renamed")
    (packages / "renamed").rename(packages / "gpupool" / "__init__.py")
    os.utime(packages / "gpupool" / "__main__.py", (0, 0))
    second = make.build(packages)
    (packages / "gpupool" / "__init__.py").write_text("changed", "utf-8")

    assert second == first
    assert make.build(packages) != first


@pytest.mark.skipif(not is_thorough(), reason="a second whole build takes its time")
def test_the_command_gives_the_same_bytes_again(single_file: Built, tmp_path: Path) -> None:
    assert build(tmp_path).path.read_bytes() == single_file.path.read_bytes()


def test_a_wrong_call_builds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert make.main([]) == 64
    assert make.main(["--help"]) == 64
    assert capsys.readouterr().err == "usage: python .ci/single_file FILE\n" * 2


def test_the_command_prints_the_digest_of_a_file_with_nothing_of_this_machine(
    single_file: Built, tmp_path: Path
) -> None:
    content = single_file.path.read_bytes()
    with ZipFile(single_file.path) as outer:
        outer.extract("packages.zip", tmp_path)
    with ZipFile(tmp_path / "packages.zip") as inner:
        names = inner.namelist()
        own = {
            name: inner.read(name) for name in names if ".dist-info/" in name or name.startswith("gpupool/")
        }

    assert single_file.printed == f"{hashlib.sha256(content).hexdigest()}  dist/gpupool.pyz\n"
    assert single_file.path.stat().st_mode & 0o777 == 0o755
    assert {"gpupool/_data/profiles/training.yaml", "yaml/__init__.py"} <= set(names)
    assert [name for name in names if name.endswith((".pyc", "/RECORD"))] == []
    place = str(single_file.path.parents[1]).encode()
    assert [name for name, text in own.items() if place in text or sys.executable.encode() in text] == []
