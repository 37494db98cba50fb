"""Which commit a blueprint is of, with real git: and nothing that lies in a checkout is run to find out."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import pytest

from gpupool.rollout.commit import find_commit

if TYPE_CHECKING:
    from pathlib import Path

BLUEPRINT: Final = "gpupool.yaml"
SHA: Final = "0123456789abcdef0123456789abcdef01234567"


def git(folder: Path, *words: str) -> str:
    """Run git as somebody who has no settings of his own."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    who = {
        f"GIT_{role}_{word}": "a@example.com"
        for role in ("AUTHOR", "COMMITTER")
        for word in ("NAME", "EMAIL")
    }
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(
        command, env=own | who | alone, check=True, capture_output=True, text=True
    ).stdout.strip()


def repository(folder: Path, *words: str) -> str:
    """Make a repository with a blueprint in it, and return its commit."""
    git(folder, "init", "-q", *words)
    (folder / BLUEPRINT).write_text("name: a\npools: {}\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, without the variables of the CI that runs the tests."""
    for each in ("GITHUB_SHA", "CI_COMMIT_SHA", "BITBUCKET_COMMIT", "BUILDKITE_COMMIT", "GIT_COMMIT"):
        monkeypatch.delenv(each, raising=False)
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_the_commit_of_the_working_folder_s_repository(here: Path, kind: str) -> None:
    head = repository(here, f"--object-format={kind}")

    assert find_commit([BLUEPRINT]) == head


def test_also_from_a_folder_within_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = repository(here)
    (here / "deep").mkdir()
    monkeypatch.chdir(here / "deep")

    assert find_commit([f"../{BLUEPRINT}"]) == head


def test_in_another_working_tree_of_a_repository(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = repository(here)
    git(here, "worktree", "add", "-q", "--detach", str(tmp_path / "there"))
    monkeypatch.chdir(tmp_path / "there")

    assert find_commit([BLUEPRINT]) == head


def test_dirty_is_what_the_commit_does_not_have(here: Path) -> None:
    head = repository(here)
    (here / "new.yaml").write_text("name: a\n")

    assert find_commit([BLUEPRINT, "new.yaml"]) == f"{head}-dirty"
    assert find_commit([BLUEPRINT, "-"]) == f"{head}-dirty"

    (here / BLUEPRINT).write_text("name: b\n")

    assert find_commit([BLUEPRINT]) == f"{head}-dirty"


def test_how_lines_end_is_not_a_change(here: Path) -> None:
    head = repository(here)
    blueprint = here / BLUEPRINT
    blueprint.write_bytes(blueprint.read_bytes().replace(b"\n", b"\r\n"))

    assert find_commit([BLUEPRINT]) == head


def test_a_blueprint_that_is_elsewhere_has_no_commit(here: Path, tmp_path: Path) -> None:
    head = repository(here)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    repository(elsewhere)

    assert find_commit([str(elsewhere / BLUEPRINT)]) == ""
    assert find_commit([BLUEPRINT, str(elsewhere / BLUEPRINT)]) == f"{head}-dirty"


@pytest.mark.parametrize("variable", ["GITHUB_SHA", "CI_COMMIT_SHA", "BITBUCKET_COMMIT", "GIT_COMMIT"])
def test_without_a_repository_ci_says_it(here: Path, variable: str) -> None:
    (here / BLUEPRINT).touch()
    path = os.environ["PATH"]

    assert find_commit([BLUEPRINT], {"PATH": path}) == ""
    assert find_commit([BLUEPRINT], {"PATH": path, variable: SHA}) == SHA
    assert find_commit([BLUEPRINT], {"PATH": path, variable: "$(touch run)"}) == ""
    assert find_commit([], {"PATH": path, variable: SHA}) == ""


def test_what_is_checked_out_counts_more_than_what_ci_says(here: Path) -> None:
    """GitHub's variable names the base where a workflow for a pull request's target checks out its head."""
    head = repository(here)

    assert find_commit([BLUEPRINT], {"PATH": os.environ["PATH"], "GITHUB_SHA": SHA}) == head


def test_before_the_first_commit_there_is_none(here: Path) -> None:
    git(here, "init", "-q")
    (here / BLUEPRINT).touch()

    assert find_commit([BLUEPRINT]) == ""


class TestHostile:
    """Each lays a program where git would run it, and looks whether it ran.

    Against fetching and against bare repositories two guards each hold: these tests fail where both are gone.
    """

    @pytest.fixture
    def program(self, tmp_path: Path) -> Path:
        """Write a program that leaves a mark."""
        found = tmp_path / "program"
        found.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\necho {SHA}\n")
        found.chmod(0o755)
        return found

    @pytest.fixture
    def ran(self, tmp_path: Path) -> Path:
        """Return the mark."""
        return tmp_path / "ran"

    def settings(self, program: Path) -> str:
        """Name the program everywhere where a repository's configuration can name one."""
        return (
            f"[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = {program}\n"
            f"sshCommand = {program}\ngitProxy = {program}\neditor = {program}\npager = {program}\n"
            f"hooksPath = {program.parent}\n[diff]\nexternal = {program}\n[alias]\nrev-parse = !{program}\n"
            f'ls-tree = !{program}\n[filter "x"]\nclean = {program}\nsmudge = {program}\n'
            f'[extensions]\npartialClone = origin\n[remote "origin"]\nurl = ssh://example.com/x\npromisor = true\n'
            f'[protocol]\nallow = always\n[protocol "ssh"]\nallow = always\n'
        )

    def bare(self, folder: Path, program: Path) -> None:
        """Lay a repository's own files into a folder, as a commit can bring them along.

        It has a commit with the blueprint in it, so that whoever reads it has another answer.
        """
        (folder / "laid").write_text(f"{folder}\n")
        repository(folder)
        for each in (folder / ".git").iterdir():
            each.rename(folder / each.name)
        (folder / ".git").rmdir()
        (folder / "config").write_text(self.settings(program))
        (folder / ".gitattributes").write_text("* filter=x diff=x\n")

    def partial(self, folder: Path, program: Path) -> None:
        """Make a repository that lacks its commit, and says where that can be fetched."""
        repository(folder)
        (folder / ".git" / "config").write_text(self.settings(program))
        (folder / ".git" / "HEAD").write_text(f"{SHA}\n")

    def test_today_s_git_would_run_it(self, here: Path, program: Path, ran: Path) -> None:
        """What is laid there is armed, or the tests below would show nothing."""
        repository(here)
        (here / ".git" / "config").write_text(self.settings(program))

        with suppress(subprocess.CalledProcessError):
            git(here, "status")

        assert ran.exists()

    def test_today_s_git_would_read_it(self, here: Path, program: Path) -> None:
        """So is a bare repository: git takes it for the one that it was asked about."""
        self.bare(here, program)

        assert len(git(here, "-c", "safe.bareRepository=all", "rev-parse", "HEAD")) == len(SHA)

    def test_today_s_git_would_fetch_by_it(self, here: Path, program: Path, ran: Path) -> None:
        """Whatever the command line says of all transports: what is said of one counts more."""
        self.partial(here, program)

        with suppress(subprocess.CalledProcessError):
            git(here, "-c", "protocol.allow=never", "rev-parse", "--verify", "HEAD^{commit}")

        assert ran.exists()

    @pytest.mark.parametrize("has_own", [False, True], ids=["no repository above", "a repository above"])
    def test_a_bare_repository_beside_the_blueprint(
        self, here: Path, program: Path, ran: Path, *, has_own: bool
    ) -> None:
        head = repository(here) if has_own else ""
        laid = here / "pools"
        laid.mkdir()
        self.bare(laid, program)

        assert find_commit([f"pools/{BLUEPRINT}"]) == (f"{head}-dirty" if has_own else "")
        assert not ran.exists()

    def test_a_bare_repository_as_the_working_folder(self, here: Path, program: Path, ran: Path) -> None:
        self.bare(here, program)

        assert find_commit([BLUEPRINT]) == ""
        assert not ran.exists()

    def test_the_repository_s_own_settings(self, here: Path, program: Path, ran: Path) -> None:
        head = repository(here)
        (here / ".git" / "config").write_text(self.settings(program))
        (here / ".gitattributes").write_text("* filter=x diff=x\n")

        assert find_commit([BLUEPRINT]) == head
        assert not ran.exists()

    def test_an_object_that_a_remote_would_have(self, here: Path, program: Path, ran: Path) -> None:
        """Git fetches what a partial clone lacks, with the program that is named for its transport."""
        self.partial(here, program)

        assert find_commit([BLUEPRINT]) == ""
        assert not ran.exists()

    def test_what_another_user_laid_above_is_not_believed(
        self, here: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        repository(here)
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)

        assert find_commit([BLUEPRINT]) == ""

    def test_a_program_named_git_in_the_checkout(
        self, here: Path, program: Path, ran: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        head = repository(here)
        program.rename(here / "git")
        monkeypatch.setenv("PATH", f".{os.pathsep}{os.environ['PATH']}")

        assert find_commit([BLUEPRINT]) == head
        assert not ran.exists()

    def test_variables_that_lead_git_elsewhere(
        self, here: Path, tmp_path: Path, program: Path, ran: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        head = repository(here)
        laid = tmp_path / "laid"
        laid.mkdir()
        self.bare(laid, program)
        monkeypatch.setenv("GIT_DIR", str(laid))
        monkeypatch.setenv("GIT_COMMON_DIR", str(laid))
        monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(laid / "objects"))
        monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(program))

        assert find_commit([BLUEPRINT]) == head
        assert not ran.exists()
