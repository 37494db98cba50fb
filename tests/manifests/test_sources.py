"""Files behind paths: found in order, and nothing passed over without its reason."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from gpupool.findings import Finding, Location
from gpupool.manifests.sources import ManifestFile, SkippedFile, SkipReason, find_files, read_bytes


def no_stdin() -> bytes:
    pytest.fail("nobody asked for standard input")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(*names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("a: 1\n")


def test_a_folder_is_walked_in_the_order_of_names(folder: Path) -> None:
    write("d/b.yaml", "d/a/z.yml", "d/a/a.json", "d/c/x.YAML", "d/c.yaml", "d/README.md", "d/x.yaml.j2")

    found = list(find_files(["d"]))

    assert [source.path for source in found if isinstance(source, ManifestFile)] == [
        "d/a/a.json",
        "d/a/z.yml",
        "d/b.yaml",
        "d/c/x.YAML",
        "d/c.yaml",
    ]
    assert [skipped for skipped in found if isinstance(skipped, SkippedFile)] == [
        (("d/README.md", 0, 0), SkipReason.ENDING),
        (("d/x.yaml.j2", 0, 0), SkipReason.ENDING),
    ]
    assert folder.is_dir()


@pytest.mark.usefixtures("folder")
def test_the_folder_one_is_in_gives_plain_names() -> None:
    write("a.yaml", "b/c.yaml", ".git/d.yaml", ".e.yaml")

    assert list(find_files(["."])) == [
        ManifestFile(".e.yaml", is_named=False),
        SkippedFile(Location(".git"), SkipReason.HIDDEN),
        ManifestFile("a.yaml", is_named=False),
        ManifestFile("b/c.yaml", is_named=False),
    ]


@pytest.mark.usefixtures("folder")
def test_a_named_file_is_read_whatever_its_ending_and_only_once() -> None:
    write("d/a.yaml", "d/b.txt")
    os.link("d/a.yaml", "hard.yaml")
    Path("link.yaml").symlink_to("d/a.yaml")

    assert list(find_files(["d/b.txt", "d/a.yaml", "d", "link.yaml", "-", "-"])) == [
        ManifestFile("d/b.txt", is_named=True),
        ManifestFile("d/a.yaml", is_named=True),
        SkippedFile(Location("d/a.yaml"), SkipReason.READ_ALREADY),
        SkippedFile(Location("d/b.txt"), SkipReason.ENDING),
        SkippedFile(Location("link.yaml"), SkipReason.READ_ALREADY),
        ManifestFile("-", is_named=True),
        SkippedFile(Location("-"), SkipReason.READ_ALREADY),
    ]


@pytest.mark.usefixtures("folder")
def test_links_to_folders_are_not_followed_and_make_no_loop() -> None:
    write("d/a.yaml", "other/b.yaml")
    Path("d/loop").symlink_to("..")
    Path("d/self.yaml").symlink_to("self.yaml")
    Path("d/folder.yaml").symlink_to("../other")

    found = list(find_files(["d"]))

    assert found == [
        ManifestFile("d/a.yaml", is_named=False),
        SkippedFile(Location("d/folder.yaml"), SkipReason.LINKED_FOLDER),
        SkippedFile(Location("d/loop"), SkipReason.LINKED_FOLDER),
        ManifestFile("d/self.yaml", is_named=False),
    ]
    assert "can't read the file" in refusal("d/self.yaml")


@pytest.mark.usefixtures("folder")
def test_a_named_link_to_a_folder_is_walked() -> None:
    write("d/a.yaml")
    Path("link").symlink_to("d")

    assert list(find_files(["link"])) == [ManifestFile("link/a.yaml", is_named=False)]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("path", ["missing", "missing/a.yaml", "", "a\0b", "broken.yaml"])
def test_a_path_that_is_not_there_is_a_finding(path: str) -> None:
    Path("broken.yaml").symlink_to("nowhere")

    (finding,) = find_files([path])

    assert isinstance(finding, Finding)
    assert finding.code == "GP1001"
    assert finding.at == (path, 0, 0)


def refusal(path: str) -> str:
    found = read_bytes(path, no_stdin)
    assert isinstance(found, Finding)
    assert (found.code, found.at.file) == ("GP1001", path)
    assert found.fix
    return found.message


@pytest.mark.usefixtures("folder")
def test_what_is_no_file_is_refused_without_waiting() -> None:
    os.mkfifo("pipe.yaml")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.yaml")
        assert "can't read the file" in refusal("socket.yaml")
    Path("d.yaml").mkdir()

    assert refusal("pipe.yaml") == "can't read the file: it is a pipe, not a regular file"
    assert "a folder" in refusal("d.yaml") or "directory" in refusal("d.yaml")
    assert refusal("/dev/null") == "can't read the file: it is a device, not a regular file"
    assert "No such file" in refusal("missing.yaml")


@pytest.mark.usefixtures("folder")
def test_a_file_or_folder_without_permission_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    write("d/a.yaml", "d/b/c.yaml")

    def refuse(path: str, *_: object) -> int:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(os, "scandir", refuse)

    assert refusal("d/a.yaml") == "can't read the file: Permission denied"
    (finding,) = find_files(["d"])
    assert isinstance(finding, Finding)
    assert finding.message == "can't read the folder: Permission denied"


def test_a_pipe_that_a_shell_opened_is_read() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"a: 1\n")
    os.close(writer)
    try:
        assert read_bytes(f"/dev/fd/{reader}", no_stdin) == b"a: 1\n"
    finally:
        os.close(reader)


def test_standard_input_is_read_once_asked_for() -> None:
    assert read_bytes("-", lambda: b"a: 1") == b"a: 1"


@pytest.mark.usefixtures("folder")
def test_a_name_that_is_no_text_can_be_shown() -> None:
    Path(os.fsdecode(b"\xff.yaml")).write_text("a: 1")

    (source,) = find_files(["."])

    assert isinstance(source, ManifestFile)
    assert source.name == "\ufffd.yaml"
    assert read_bytes(source.path, no_stdin) == b"a: 1"


@pytest.mark.usefixtures("folder")
def test_templates_of_a_chart_are_known() -> None:
    write("c/Chart.yaml", "c/templates/a.yaml", "c/templates/b/c.yaml", "templates/d.yaml", "c/values.yaml")

    found = {
        source.path: source.is_chart_template
        for source in find_files(["."])
        if isinstance(source, ManifestFile)
    }

    assert found == {
        "c/Chart.yaml": False,
        "c/templates/a.yaml": True,
        "c/templates/b/c.yaml": True,
        "c/values.yaml": False,
        "templates/d.yaml": False,
    }
    assert not ManifestFile("c/templates/a.yaml", is_named=True).is_chart_template
