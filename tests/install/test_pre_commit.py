"""The hooks for pre-commit, run by pre-commit itself on a scratch repository."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from gpupool.api import render_files, write_folder
from tests.cli.blueprints import HEAD, SMALL
from tests.cli.run import SECONDS, Outcome
from tests.install.packages import ROOT, clean_environment, copy_sources, offline, run

GUIDE = (ROOT / "docs" / "how-to" / "check-in-ci.md").read_text("utf-8")
CONFIGURATIONS = [
    block
    for block in re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
    if ".pre-commit-config.yaml" in block
]
USUAL, OVERLAYS, MANIFESTS = CONFIGURATIONS
PUBLISHED = "https://github.com/OWNER/gpupool"
IDENTITY = ("-c", "user.name=test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false")
BAD = SMALL.replace("h100", "h1000")
FINDING = "7:43: error GP0094 "


def git(folder: Path, *arguments: str) -> str:
    """Run git as on a machine without settings of a user's."""
    environment = clean_environment() | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    return run("git", *IDENTITY, *arguments, folder=folder, environment=environment).stdout


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the hooks, as the project publishes it: what the checkout holds, committed and tagged."""
    folder = copy_sources(tmp_path_factory.mktemp("hooks"))
    git(folder, "init", "-q")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "-q", "-m", "gpupool")
    git(folder, "tag", "v0.1.0")
    return folder


class Repository:
    """A user's repository, and pre-commit in it."""

    def __init__(self, folder: Path, home: Path, hooks: Path) -> None:
        self.folder, self._home, self._hooks = folder, home, hooks
        git(folder, "init", "-q")

    def configure(self, text: str) -> None:
        """Write a configuration from the guide; only the place of the hooks is another one."""
        assert PUBLISHED in text
        self.write(".pre-commit-config.yaml", text.replace(PUBLISHED, str(self._hooks)))

    def write(self, name: str, text: str) -> None:
        """Write a file and stage it."""
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text, "utf-8")
        git(self.folder, "add", "--all")

    def render(self, folder: str, *files: str) -> None:
        """Write what blueprints render, and stage it."""
        write_folder(render_files([str(self.folder / name) for name in files]), self.folder / folder)
        git(self.folder, "add", "--all")

    def commit(self) -> Outcome:
        """Run the hooks on what is staged, as `git commit` does, and commit it if they pass."""
        ended = subprocess.run(
            [sys.executable, "-m", "pre_commit", "run", "--color", "never", "--verbose"],
            cwd=self.folder,
            env={**offline(), "PRE_COMMIT_HOME": str(self._home), "GIT_CONFIG_GLOBAL": os.devnull},
            capture_output=True,
            text=True,
            check=False,
            timeout=5 * SECONDS,
        )
        if ended.returncode == 0:
            git(self.folder, "commit", "-q", "--no-verify", "--allow-empty", "-m", "change")
        return Outcome(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps the environment of the hooks: it is made by the first test and used by all."""
    return tmp_path_factory.mktemp("pre-commit")


@pytest.fixture
def repository(tmp_path: Path, home: Path, hooks: Path) -> Repository:
    return Repository(tmp_path, home, hooks)


def verdicts(outcome: Outcome) -> dict[str, str]:
    """Return what pre-commit prints of each hook, as in `Passed`."""
    lines = re.findall(r"^(gpupool [^.]+?)\.{3,}.*?(Passed|Failed|Skipped)$", outcome.out, re.MULTILINE)
    return dict(lines)


class TestUsual:
    """One blueprint, and the folder that it renders."""

    VALIDATE, CHECK = "gpupool validate", "gpupool render --check"

    @pytest.fixture(autouse=True)
    def committed(self, repository: Repository) -> None:
        repository.configure(USUAL)
        repository.write("gpupool.yaml", SMALL)
        repository.render("rendered", "gpupool.yaml")
        git(repository.folder, "commit", "-q", "-m", "first")

    def test_a_good_blueprint_passes(self, repository: Repository) -> None:
        repository.write("gpupool.yaml", f"{SMALL}# nothing that is rendered\n")

        outcome = repository.commit()

        assert verdicts(outcome) == {self.VALIDATE: "Passed", self.CHECK: "Passed"}, outcome

    def test_a_bad_blueprint_fails_with_the_finding(self, repository: Repository) -> None:
        repository.write("gpupool.yaml", BAD)

        outcome = repository.commit()

        assert (outcome.code, verdicts(outcome)) == (1, {self.VALIDATE: "Failed", self.CHECK: "Failed"})
        assert f"gpupool.yaml:{FINDING}" in outcome.out

    def test_a_stale_folder_fails_with_its_files(self, repository: Repository) -> None:
        repository.write("gpupool.yaml", SMALL.replace("{profile", "{weight: 7, profile"))
        stale = repository.commit()
        repository.render("rendered", "gpupool.yaml")

        assert (stale.code, verdicts(stale)) == (1, {self.VALIDATE: "Passed", self.CHECK: "Failed"})
        assert "\nnodepools/train.yaml\n" in stale.out
        assert repository.commit().code == 0

    def test_a_rendered_file_that_is_deleted_fails_though_no_file_is_left_to_check(
        self, repository: Repository
    ) -> None:
        git(repository.folder, "rm", "-q", "rendered/nodepools/train.yaml")

        outcome = repository.commit()

        assert (outcome.code, verdicts(outcome)) == (1, {self.VALIDATE: "Skipped", self.CHECK: "Failed"})

    def test_a_blueprint_in_another_folder_is_checked_too(self, repository: Repository) -> None:
        repository.write("teams/vision/gpupool.yml", BAD)
        repository.write("teams/vision/other.yaml", BAD)

        outcome = repository.commit()

        assert (outcome.code, verdicts(outcome)) == (1, {self.VALIDATE: "Failed", self.CHECK: "Passed"})
        assert f"teams/vision/gpupool.yml:{FINDING}" in outcome.out
        assert "other.yaml" not in outcome.out


def test_overlays_are_checked_together(repository: Repository) -> None:
    validate, check = "gpupool validate (prod)", "gpupool render --check (prod)"
    repository.configure(OVERLAYS)
    repository.write("base.yaml", SMALL)
    repository.write("prod.yaml", f"{HEAD}pools: {{train: {{limits: {{gpus: 8}}}}}}\n")
    repository.render("rendered/prod", "base.yaml", "prod.yaml")
    good = repository.commit()
    repository.write("prod.yaml", f"{HEAD}pools: {{train: {{limit: {{gpus: 8}}}}}}\n")
    bad = repository.commit()

    assert (good.code, verdicts(good)) == (0, {validate: "Passed", check: "Passed"}), good
    assert (bad.code, verdicts(bad)) == (1, {validate: "Failed", check: "Failed"})
    assert "prod.yaml:3:17: error GP0010 " in bad.out


def test_manifests_are_checked_by_their_names(repository: Repository) -> None:
    repository.configure(MANIFESTS)
    repository.write("manifests/app.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: app}}\n")
    good = repository.commit()
    repository.write(
        "manifests/pool.yaml",
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {}}\n",
    )
    bad = repository.commit()

    assert (good.code, set(verdicts(good).values())) == (0, {"Passed"}), good
    assert (bad.code, set(verdicts(bad).values())) == (1, {"Failed"})
    assert "manifests/pool.yaml:1:" in bad.out


def test_pre_commit_accepts_the_hooks_and_the_guide_names_each() -> None:
    run(sys.executable, "-m", "pre_commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml", folder=ROOT)
    run(sys.executable, "-m", "yamllint", "--strict", ROOT / ".pre-commit-hooks.yaml", folder=ROOT)
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    used = [hook["id"] for hook in yaml.safe_load(USUAL)["repos"][0]["hooks"]]

    assert [hook["id"] for hook in hooks] == used == ["gpupool-validate", "gpupool-render-check"]
