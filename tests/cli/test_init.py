"""`gpupool init`: a starter that renders at once, whatever the names are."""

from pathlib import Path

import pytest

from gpupool.karpenter.versions import LATEST
from gpupool.yamlio.located import plain
from gpupool.yamlio.read import read
from tests.cli.run import Outcome, gpupool

ODD = [
    "no",
    "1.30",
    "0o17",
    "null",
    "~",
    "",
    " x ",
    "ünï-ço∂e",
    "it's",
    'a "b"',
    "a: b # c",
    "{{ x }}",
    "*a",
    "a\nb",
    "\x1b[31m",
    "x" * 300,
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(said: Outcome, name: str) -> bool:
    return (said.code, said.out) == (1, "") and said.err.startswith(
        f"{name}: error GP0080 the file already exists\n    fix: pass another file name, or overwrite it"
    )


def test_the_starter_renders_at_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = gpupool(capsys, "init")
    rendered = gpupool(capsys, "render")

    assert (made.code, made.out) == (0, "")
    assert made.err == "wrote gpupool.yaml; next: gpupool render -f gpupool.yaml\n"
    assert [path.name for path in folder.iterdir()] == ["gpupool.yaml"]
    assert rendered.code == 0
    assert ": error " not in rendered.err
    assert ": warning " not in rendered.err
    assert rendered.out.count("kind: NodePool\n") == 3


def test_names_and_place_are_the_user_s(capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(
        capsys, "init", "sub/ours.yaml", "--name", "ours", "--cluster", "prod", "--region", "eu-central-1",
        "--timezone", "Europe/Berlin",
    )  # fmt: skip
    node = read(Path("sub/ours.yaml").read_bytes(), "").node

    assert said.code == 0
    assert node is not None
    top = plain(node)
    assert isinstance(top, dict)
    assert top["metadata"] == {"name": "ours"}
    assert top["cluster"] == {
        "name": "prod", "region": "eu-central-1", "timezone": "Europe/Berlin", "karpenter": LATEST,
    }  # fmt: skip
    assert gpupool(capsys, "render", "-f", "sub/ours.yaml").code == 0


@pytest.mark.parametrize("name", ODD)
def test_an_odd_name_stays_that_text(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert gpupool(capsys, "init", f"--cluster={name}").code == 0

    result = read(Path("gpupool.yaml").read_bytes(), "gpupool.yaml")

    assert result.findings == ()
    assert result.node is not None
    top = plain(result.node)
    assert isinstance(top, dict)
    assert isinstance(top["cluster"], dict)
    assert top["cluster"]["name"] == name
    assert "\x1b" not in Path("gpupool.yaml").read_text("utf-8")


def test_the_same_words_give_the_same_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    gpupool(capsys, "init", "a.yaml")
    gpupool(capsys, "init", "b.yaml")

    assert Path("a.yaml").read_bytes() == Path("b.yaml").read_bytes()
    assert b"\r" not in Path("a.yaml").read_bytes()


def test_a_file_that_is_there_stays(capsys: pytest.CaptureFixture[str]) -> None:
    Path("gpupool.yaml").write_text("mine", "utf-8")

    assert refused(gpupool(capsys, "init"), "gpupool.yaml")
    assert Path("gpupool.yaml").read_text("utf-8") == "mine"


def test_unless_it_is_forced(capsys: pytest.CaptureFixture[str]) -> None:
    Path("gpupool.yaml").write_text("mine", "utf-8")

    assert gpupool(capsys, "init", "--force").code == 0
    assert Path("gpupool.yaml").read_text("utf-8").startswith("# Which GPU capacity")


def test_a_folder_is_not_replaced(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "ours").mkdir()

    assert refused(gpupool(capsys, "init", "ours"), "ours")
    forced = gpupool(capsys, "init", "ours", "--force")

    assert (forced.code, forced.out) == (1, "")
    assert forced.err == "ours: error GP0081 can't write it: Is a directory\nerror: 1 error\n"
    assert [path.name for path in folder.iterdir()] == ["ours"]


def test_below_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("file").write_text("mine", "utf-8")

    said = gpupool(capsys, "init", "file/gpupool.yaml")

    assert (said.code, said.codes) == (1, ["GP0081"])
    assert Path("file").read_text("utf-8") == "mine"
