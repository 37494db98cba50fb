"""The GitHub action installs gpupool from its own checkout, and checks blueprints without a cluster."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.blueprints import SMALL
from tests.install.action import ACTION, Ran, Runner
from tests.install.packages import copy_sources, offline

OTHER_VERSION = "9.9.9"
STEP = "Validate or check"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """A job in which the action's first step ran, from a checkout of another version than this one."""
    checkout = copy_sources(tmp_path_factory.mktemp("checkout"))
    project = checkout / "pyproject.toml"
    project.write_text(
        project.read_text("utf-8").replace('version = "0.1.0"', f'version = "{OTHER_VERSION}"')
    )
    folder = tmp_path_factory.mktemp("job")
    (folder / "bin").mkdir()
    (folder / "bin" / "python3").symlink_to(Path(sys.executable).resolve())
    runner = Runner(folder, [folder / "bin"], **pip_settings())
    ran = runner.step("Install", GITHUB_ACTION_PATH=str(checkout / ".github" / "actions" / "gpupool"))
    assert (ran.code, ran.text) == (0, "")
    return runner


def pip_settings() -> dict[str, str]:
    return {name: value for name, value in offline().items() if name.startswith("PIP_")}


@pytest.fixture
def job(installed: Runner) -> Runner:
    """The job's folder with a good blueprint and what it renders."""
    for name in ("rendered", "a b;c"):
        shutil.rmtree(installed.folder / name, ignore_errors=True)
    (installed.folder / "gpupool.yaml").write_text(SMALL, "utf-8")
    program = installed.temporary / "bin" / "gpupool"
    subprocess.run([program, "render", "-d", "rendered"], cwd=installed.folder, check=True)
    return installed


def offline_step(
    job: Runner, command: str, files: str = "gpupool.yaml", options: str = "", folder: str = "rendered"
) -> Ran:
    ran = job.step(STEP, COMMAND=command, FILES=files, OPTIONS=options, FOLDER=folder)
    assert ran.code == 0, ran.text
    return ran


def test_gpupool_is_installed_from_the_action_s_own_checkout(installed: Runner) -> None:
    program = installed.temporary / "bin" / "gpupool"

    printed = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout

    assert printed == f"gpupool {OTHER_VERSION}\n"
    # The job's own Python stays first on the PATH.
    assert [path.name for path in program.parent.iterdir()] == ["gpupool"]


def test_a_copied_action_says_where_it_has_to_be(tmp_path: Path) -> None:
    folder = tmp_path / "user" / ".github" / "actions" / "gpupool"
    folder.mkdir(parents=True)

    ran = Runner(tmp_path, []).step("Install", GITHUB_ACTION_PATH=str(folder))

    assert ran.code == 64
    assert ran.text.startswith(
        "::error title=gpupool::the action installs gpupool from its own repository: refer to"
    )
    assert not (tmp_path / "temp").exists()


class TestValidate:
    """A blueprint without a cluster."""

    def test_a_good_one_passes(self, job: Runner) -> None:
        ran = offline_step(job, "validate")

        assert ran.outputs == {"code": "0"}
        assert "::error" not in ran.text

    def test_a_bad_one_fails_with_an_annotation_at_its_line(self, job: Runner) -> None:
        (job.folder / "gpupool.yaml").write_text(SMALL.replace("h100", "h1000"), "utf-8")

        ran = offline_step(job, "validate")

        assert ran.outputs == {"code": "1"}
        assert "::error file=gpupool.yaml,line=7,col=43,title=GP0094 " in ran.text
        assert job.step("Verdict", COMMAND="validate", CODE="1").code == 1

    def test_files_and_options_are_words_and_nothing_else(self, job: Runner) -> None:
        (job.folder / "over $(touch made) it.yaml").write_text(
            "pools: {train: {accelerator: h1000}}\n", "utf-8"
        )
        files = "gpupool.yaml\n\nover $(touch made) it.yaml\n"

        ran = offline_step(job, "validate", files=files, options="--karpenter\n1.13\n")

        assert ran.outputs == {"code": "1"}
        assert "::error file=over $(touch made) it.yaml,line=1," in ran.text
        assert not (job.folder / "made").exists()

    def test_manifests_are_named_by_options(self, job: Runner) -> None:
        nodepool = job.folder / "rendered" / "nodepools" / "train.yaml"
        good = offline_step(job, "validate", files="", options="rendered/\n")
        nodepool.write_text(nodepool.read_text("utf-8").replace("consolidateAfter: ", "consolidateAfter: x"))

        bad = offline_step(job, "validate", files="", options="rendered/\n")

        assert (good.outputs, bad.outputs) == ({"code": "0"}, {"code": "1"})
        assert "::error file=rendered/nodepools/train.yaml,line=" in bad.text


class TestCheck:
    """A committed folder."""

    @pytest.mark.parametrize("folder", ["rendered", "a b;c"])
    def test_a_current_one_passes(self, folder: str, job: Runner) -> None:
        (job.folder / "rendered").rename(job.folder / folder)

        ran = offline_step(job, "check", folder=folder)

        assert ran.outputs == {"code": "0"}, ran.text

    def test_a_stale_one_fails_with_its_files(self, job: Runner) -> None:
        (job.folder / "gpupool.yaml").write_text(SMALL.replace("{profile", "{weight: 7, profile"), "utf-8")

        ran = offline_step(job, "check")
        verdict = job.step("Verdict", COMMAND="check", CODE=ran.outputs["code"])

        assert ran.outputs == {"code": "2"}
        assert "\nnodepools/train.yaml\n" in ran.text
        assert verdict.code == 2
        assert verdict.text.startswith(
            "::error title=gpupool::exit code 2: the rendered files listed above are stale"
        )

    def test_a_bad_blueprint_fails_with_an_annotation(self, job: Runner) -> None:
        (job.folder / "gpupool.yaml").write_text(SMALL.replace("h100", "h1000"), "utf-8")

        ran = offline_step(job, "check")

        assert ran.outputs == {"code": "1"}
        assert "::error file=gpupool.yaml,line=7,col=43,title=GP0094 " in ran.text
        # Only once: nothing is rendered from it.
        assert "gpupool.yaml:7:43: error GP0094 " not in ran.text


class TestVerdict:
    """Exit codes that fail the job, and that do not."""

    @pytest.mark.parametrize("command", ["validate", "check", "plan", "apply"])
    def test_every_other_code_fails_the_job(self, command: str, tmp_path: Path) -> None:
        runner = Runner(tmp_path, [])

        for code in ("1", "3", "4", "5", "6", "7", "64", "70", "130"):
            ran = runner.step("Verdict", COMMAND=command, CODE=code)
            assert ran.code == int(code)
            assert ran.text.startswith(f"::error title=gpupool::exit code {code}: ")

    @pytest.mark.parametrize(
        ("command", "code", "expected"),
        [("validate", "0", 0), ("check", "0", 0), ("plan", "0", 0), ("plan", "2", 0), ("apply", "0", 0), ("check", "2", 2)],
    )  # fmt: skip
    def test_what_means_success_depends_on_the_command(
        self, command: str, code: str, expected: int, tmp_path: Path
    ) -> None:
        assert Runner(tmp_path, []).step("Verdict", COMMAND=command, CODE=code).code == expected

    def test_an_unknown_command_is_named_as_the_cause(self, tmp_path: Path) -> None:
        ran = Runner(tmp_path, []).step("Verdict", COMMAND="plans", CODE="")

        assert (ran.code, ran.text) == (
            64,
            "::error title=gpupool::exit code 64: the input `command` must be validate, check, plan or apply\n",
        )


def test_each_command_has_one_step_and_its_code_is_the_action_s() -> None:
    steps = {step["id"]: step["if"] for step in ACTION["runs"]["steps"] if "id" in step}
    outputs = [f"steps.{name}.outputs.code" for name in steps]
    verdict = ACTION["runs"]["steps"][-1]

    assert steps == {
        "offline": "inputs.command == 'validate' || inputs.command == 'check'",
        "plan": "inputs.command == 'plan'",
        "apply": "inputs.command == 'apply'",
    }
    assert (
        ACTION["outputs"]["exit-code"]["value"]
        == verdict["env"]["CODE"]
        == f"${{{{ {' || '.join(outputs)} }}}}"
    )
