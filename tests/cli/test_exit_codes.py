"""What ends a command, and with which exit code; the result on stdout, everything else on stderr."""

import os
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn

import pytest

from gpupool import api
from gpupool.cli import app
from tests.cli.blueprints import SMALL, with_pool
from tests.cli.run import SECONDS, gpupool, process


@pytest.fixture
def blueprint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the current one, with a blueprint under the default name."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "gpupool.yaml"
    path.write_text(SMALL, "utf-8")
    return path


def _raise(problem: BaseException) -> NoReturn:
    raise problem


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, "--version")

    assert (said.code, said.out, said.err) == (0, f"gpupool {version('gpupool')}\n", "")


USAGE = {
    "unknown command": (["rendr"], "No such command 'rendr'"),
    "unknown option": (["render", "--chek"], "--check"),
    "unknown option before the command": (["--file", "x", "render"], "No such option: --file"),
    "option without its value": (["render", "-f"], "requires an argument"),
    "one argument too many": (["render", "gpupool.yaml"], "unexpected extra argument"),
    "bad value of an argument": (["schema", "cluster"], "is not one of 'blueprint', 'profile', 'karpenter'"),
    "bad shell": (["completion", "tcsh"], "is not one of 'bash', 'zsh', 'fish'"),
    "no shell": (["completion"], "Missing argument 'SHELL'"),
    "check without a folder": (["render", "--check"], "--check requires -d DIR"),
    "values with a folder": (["render", "--values", "x", "-d", "out"], "remove one of them"),
    "values and check": (["render", "--values", "x", "-d", "out", "--check"], "remove one of them"),
    "an empty name for the folder": (
        ["render", "-d", ""],
        "-d is empty; for the current folder, pass `-d .`",
    ),
    "an unknown format": (
        ["validate", "-o", "yaml"],
        "unknown format `yaml`; use one of text, json, github, sarif",
    ),
    "a format without its path": (["validate", "-o", "json="], "`-o json=`: the file after `=` is missing"),
    "two results on standard output": (
        ["validate", "-o", "text", "-o", "json"],
        "2 results to standard output; give each its own place",
    ),
    "two results in one file": (["validate", "-o", "json=r", "-o", "sarif=r"], "2 results to `r`"),
    "a Karpenter of long ago": (
        ["validate", "--karpenter", "1.8"],
        "--karpenter 1.8: unsupported version; use one of 1.9,",
    ),
    "a Karpenter to come": (["validate", "--karpenter", "v1.15.0"], "1.12, 1.13, 1.14"),
    "no version": (["validate", "--karpenter", "latest"], "--karpenter latest: unsupported version"),
    "standard input twice": (["validate", "-", "-f", "-"], "standard input can be read only once"),
    "Karpenter's schemas without a folder": (["schema", "karpenter"], "pass a folder with -d DIR"),
    "a folder for what is printed": (
        ["schema", "profile", "-d", "out"],
        "require `schema karpenter`, not `schema profile`",
    ),
    "a version of a blueprint's schema": (
        ["schema", "--karpenter", "1.9"],
        "require `schema karpenter`, not `schema blueprint`",
    ),
    "values of no chart": (
        ["render", "--values", "dcgm"],
        "no values for the chart `dcgm`; available: nvidia-device-plugin",
    ),
}


@pytest.mark.parametrize(("arguments", "words"), USAGE.values(), ids=USAGE)
def test_a_command_line_that_makes_no_sense(
    arguments: list[str], words: str, blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = gpupool(capsys, *arguments)

    assert (said.code, said.out) == (64, "")
    assert words in said.err
    assert list(blueprint.parent.iterdir()) == [blueprint]


def test_render_prints_objects_and_nothing_else(blueprint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blueprint.write_text(with_pool("profile: training, accelerator: h100, limits: {nodes: 2}"), "utf-8")

    said = gpupool(capsys, "render")

    assert said.code == 0
    assert said.out.startswith("apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\n")
    assert said.err == "1 note; to read it, run gpupool validate or add -v\n"


def test_render_into_a_folder_counts_the_files(blueprint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, "render", "-d", "out")

    assert (said.code, said.out, said.err) == (0, "", "wrote 4, removed 0, unchanged 0\n")
    assert (blueprint.parent / "out" / "nodepools" / "train.yaml").is_file()


@pytest.mark.usefixtures("blueprint")
def test_values_of_one_chart_are_the_folder_s_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gpupool(capsys, "render", "-d", "out")

    said = gpupool(capsys, "render", "--values", "nvidia-device-plugin")

    assert (said.code, said.err) == (0, "")
    assert said.out == (tmp_path / "out" / "values" / "nvidia-device-plugin.yaml").read_text("utf-8")


def test_the_default_file_is_named_when_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    said = gpupool(capsys, "render")

    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("gpupool.yaml: error GP0001 can't read the file: No such file or directory\n")


@pytest.mark.usefixtures("blueprint")
def test_findings_of_an_error_and_their_number_are_the_last_words(capsys: pytest.CaptureFixture[str]) -> None:
    Path("gpupool.yaml").write_text(
        with_pool("profil: training, accelerator: h100, limits: {gpus: x}"), "utf-8"
    )

    said = gpupool(capsys, "render")

    assert (said.code, said.out) == (1, "")
    assert said.codes == ["GP0010", "GP0012"]
    assert said.err.endswith("error: 2 errors\n")


@pytest.mark.usefixtures("blueprint")
def test_interrupted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(api, "render_files", lambda _: _raise(KeyboardInterrupt()))

    said = gpupool(capsys, "render")

    assert (said.code, said.out, said.err) == (130, "", "")


def test_interrupted_by_the_signal(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gpupool", "render", "-f", "-"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdin is not None
        child.stdin.write(b"#")
        child.stdin.flush()
        while "pipe_read" not in _waits_for(child.pid):
            assert child.poll() is None
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=SECONDS)

    assert (child.returncode, out, err) == (130, b"", b"")


def _waits_for(process_id: int) -> str:
    """Return where in the kernel a process waits; what keeps that secret is taken to wait for a pipe."""
    waits = Path(f"/proc/{process_id}/wchan").read_text("ascii")
    state = Path(f"/proc/{process_id}/status").read_text("ascii")
    return "pipe_read" if waits in {"0", ""} and "State:\tS" in state else waits


class TestBug:
    """An exception that nobody expected."""

    @pytest.fixture(autouse=True)
    def _bug(self, blueprint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert blueprint.is_file()
        monkeypatch.delenv("GPUPOOL_DEBUG", raising=False)
        monkeypatch.setattr(api, "render_files", lambda _: _raise(KeyError("user's own secret")))

    def test_is_one_paragraph_with_versions(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = gpupool(capsys, "render")

        paragraph = " ".join(said.err.split())
        assert (said.code, said.out) == (app.BUG, "")
        assert app.BUG == 70
        assert paragraph.startswith("error: this is a bug in gpupool (KeyError in test_exit_codes.py, line ")
        assert "Please report it" in paragraph
        assert f"gpupool {version('gpupool')}, Python {sys.version.split()[0]}," in paragraph
        assert f"pydantic {version('pydantic')}" in paragraph
        assert "Traceback" not in paragraph
        assert "secret" not in paragraph
        assert "\n\n" not in said.err

    def test_shows_the_traceback_when_asked(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("GPUPOOL_DEBUG", "1")

        said = gpupool(capsys, "render")

        assert said.code == app.BUG
        assert said.err.startswith("Traceback (most recent call last):\n")
        assert "secret" in said.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_no_bug(blueprint: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "gpupool", "render"],
            cwd=blueprint.parent, stdout=full, stderr=subprocess.PIPE, check=False, timeout=SECONDS,
        )  # fmt: skip

    assert (ended.returncode, ended.stderr) == (1, b"error: No space left on device\n")


def test_a_reader_that_goes_away_is_no_bug(blueprint: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "gpupool", "render"],
            cwd=blueprint.parent, stdout=writing, stderr=subprocess.PIPE, check=False, timeout=SECONDS,
        )  # fmt: skip
    finally:
        os.close(writing)

    assert (ended.returncode, ended.stderr) == (1, b"")


def test_stdout_is_the_same_in_any_locale(blueprint: Path) -> None:
    blueprint.write_text(
        with_pool('profile: training, accelerator: h100, annotations: {note: "für große Jobs"}'), "utf-8"
    )

    posix = process("render", folder=blueprint.parent, environment={"LC_ALL": "POSIX"})
    latin = process("render", folder=blueprint.parent, environment={"PYTHONIOENCODING": "latin-1"})

    assert (posix.code, latin.code) == (0, 0)
    assert posix.out == latin.out
