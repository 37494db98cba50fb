"""Workflows, the action and the guides: they parse, are pinned, and name existing commands and options."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
import yaml

from gpupool.cli.app import app

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
FILES = sorted(GITHUB.rglob("*.yml"))
GUIDES = sorted((ROOT / "docs" / "how-to").glob("*.md"))
PAGES = [*GUIDES, *FILES, ROOT / "README.md"]
OWN = re.compile(r"^OWNER/gpupool/\.github/actions/gpupool@(?P<release>\S+)$")
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
PINNED = re.compile(r"^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
GROUP = typer.main.get_command(app)
FRAGMENT = re.compile(r"\$\{\{.*?\}\}")


class Line(NamedTuple):
    """A command line of gpupool's that stands somewhere."""

    place: str
    words: tuple[str, ...]


def scripts(found: object) -> Iterator[str]:
    """Yield each script of a workflow, an action or a GitLab file."""
    if isinstance(found, dict):
        for key, value in found.items():
            if key == "run":
                yield str(value)
            elif key in {"script", "before_script"}:
                yield "\n".join([value] if isinstance(value, str) else map(str, value))
            else:
                yield from scripts(value)
    elif isinstance(found, list):
        for each in found:
            yield from scripts(each)


def shells(path: Path) -> Iterator[str]:
    """Yield what a page tells somebody to run."""
    text = path.read_text("utf-8")
    if path.suffix == ".yml":
        yield from scripts(yaml.safe_load(text))
        return
    for language, block in re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL):
        if language == "yaml":
            for document in yaml.safe_load_all(block):
                yield from scripts(document)
        elif language == "console":
            yield "\n".join(line[2:] for line in block.splitlines() if line.startswith("$ "))
        elif language in {"sh", "bash"}:
            yield block


def lines(path: Path) -> Iterator[Line]:
    """Yield each call of gpupool, its words as a shell would see them; what the shell fills in stays as it is."""
    for shell in shells(path):
        for line in shell.replace("\\\n", " ").splitlines():
            for call in re.findall(r"(?:^|[;&|(]|\bdo\b|\bthen\b)\s*(gpupool (?![=@]).*)", line):
                yield Line(f"{path.name}: {line.strip()}", tuple(words(call)))


def words(call: str) -> Iterator[str]:
    """Yield the words of a call up to what ends it."""
    lexer = shlex.shlex(call, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    for word in lexer:
        if set(word) <= set("();<>|&"):
            return
        yield word


ALL = [line for path in PAGES for line in lines(path)]


def problem(called: tuple[str, ...]) -> str:
    """Return what is wrong with a call; the empty text for nothing."""
    _, *rest = called
    if rest[:1] in (["--version"], ["--help"]):
        return ""
    command = GROUP.commands.get(rest[0]) if rest else None  # type: ignore[attr-defined] # it is a group
    if command is None:
        return f"no command {rest[:1]}"
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    said = [word.partition("=")[0] for word in rest[1:] if re.match(r"--?[a-z]", word)]
    return ", ".join(f"no option {word}" for word in said if word not in known)


def test_every_page_s_calls_are_found() -> None:
    called = {line.words[1] for line in ALL if len(line.words) > 1}

    assert {"plan", "apply", "diff", "doctor", "rbac", "validate", "render", "fit", "explain"} <= called
    assert len(ALL) > 40
    assert {line.place.partition(":")[0] for line in ALL} >= {"action.yml", "plan-and-apply-in-ci.md"}


@pytest.mark.parametrize("line", ALL, ids=lambda line: line.place)
def test_each_call_names_what_there_is(line: Line) -> None:
    assert problem(line.words) == ""


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("gpupool plan --prune --max-deletes 2 -o json=plan.json", ""),
        ("gpupool plan --prun", "no option --prun"),
        ("gpupool plam -o text", "no command ['plam']"),
        ("gpupool apply plan.json --wait=none > log; exit 1", ""),
    ],
)
def test_a_wrong_word_would_be_noticed(call: str, said: str) -> None:
    assert problem(tuple(words(call))) == said


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
class TestGithub:
    """The action and the workflow."""

    def test_the_style_is_that_of_the_project_s_yaml(self, path: Path) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "yamllint", "--strict", str(path)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )

        assert (done.returncode, done.stdout) == (0, "")

    def test_nothing_is_filled_into_a_script(self, path: Path) -> None:
        """What comes from outside would be run by the shell; as an environment variable it is text."""
        found = list(scripts(yaml.safe_load(path.read_text("utf-8"))))

        assert found
        assert [script for script in found if FRAGMENT.search(script)] == []

    def test_each_script_is_one(self, path: Path) -> None:
        for script in scripts(yaml.safe_load(path.read_text("utf-8"))):
            done = subprocess.run(
                ["/bin/bash", "-n"], input=script, capture_output=True, text=True, check=False
            )
            assert (done.returncode, done.stderr) == (0, "")

    def test_actions_of_others_are_pinned_to_a_commit(self, path: Path) -> None:
        used = re.findall(r"^\s*(?:- )?uses: (.*)$", path.read_text("utf-8"), re.MULTILINE)

        others = [name for name in used if not name.startswith("./") and not OWN.match(name)]
        assert others
        assert [each for each in others if not PINNED.match(each)] == []

    def test_they_are_the_same_everywhere(self, path: Path) -> None:
        def pins(text: str) -> dict[str, str]:
            return dict(re.findall(r"^\s*(?:- )?uses: ([^./\s][^@\s]*)@(.*)", text, re.MULTILINE))

        everywhere: dict[str, str] = {}
        for each in FILES:
            everywhere |= pins(each.read_text("utf-8"))
        assert pins(path.read_text("utf-8")).items() <= everywhere.items()


class TestWorkflow:
    """What the example may do."""

    WORKFLOW: dict[Any, Any] = yaml.safe_load((GITHUB / "workflows" / "example-gpupool.yml").read_text())

    def test_it_runs_only_where_it_is_called(self) -> None:
        # YAML 1.1 takes the key `on` for a truth value.
        assert list(self.WORKFLOW[True]) == ["workflow_call"]

    def test_each_job_has_the_permissions_that_it_needs_and_no_other(self) -> None:
        found = {name: job["permissions"] for name, job in self.WORKFLOW["jobs"].items()}

        assert self.WORKFLOW["permissions"] == {}
        assert found == {
            "validate": {"contents": "read"},
            "plan": {"contents": "read", "id-token": "write", "pull-requests": "write"},
            "apply": {"contents": "read", "id-token": "write"},
        }

    def test_only_the_protected_environment_gets_the_role_that_applies(self) -> None:
        jobs = self.WORKFLOW["jobs"]
        roles = {
            name: [step["with"]["role-to-assume"] for step in job["steps"] if "role-to-assume" in step.get("with", {})]
            for name, job in jobs.items()
        }  # fmt: skip

        assert roles == {
            "validate": [],
            "plan": ["${{ inputs.plan-role }}"],
            "apply": ["${{ inputs.apply-role }}"],
        }
        assert jobs["apply"]["environment"] == "${{ inputs.environment }}"
        assert "environment" not in jobs["plan"]
        assert jobs["apply"]["needs"] == "plan"
        assert jobs["apply"]["if"].startswith("github.event_name == 'push' && ")

    def test_what_is_given_to_the_action_is_what_it_takes(self) -> None:
        action = yaml.safe_load((GITHUB / "actions" / "gpupool" / "action.yml").read_text("utf-8"))
        given = [
            step["with"]
            for job in self.WORKFLOW["jobs"].values()
            for step in job["steps"]
            if OWN.match(step.get("uses", ""))
        ]

        assert [each["command"] for each in given] == ["validate", "plan", "apply"]
        required = {name for name, said in action["inputs"].items() if said.get("required")}
        for each in given:
            assert required <= set(each) <= set(action["inputs"])

    def test_the_guide_to_checking_gives_the_action_what_it_takes(self) -> None:
        guide = (ROOT / "docs" / "how-to" / "check-in-ci.md").read_text("utf-8")
        action = yaml.safe_load((GITHUB / "actions" / "gpupool" / "action.yml").read_text("utf-8"))
        documents = [
            yaml.safe_load(block)
            for block in re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)
            if "uses:" in block
        ]
        steps = [
            step
            for document in documents
            for step in (document if isinstance(document, list) else document["jobs"]["check"]["steps"])
        ]
        given = [step["with"] for step in steps if OWN.match(step.get("uses", ""))]

        assert [inputs["command"] for inputs in given] == ["check", "validate"]
        assert set().union(*given) <= set(action["inputs"])

    def test_the_guide_calls_it_with_what_it_takes(self) -> None:
        guide = (ROOT / "docs" / "how-to" / "plan-and-apply-in-ci.md").read_text("utf-8")
        (block,) = (each for each in re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL) if "uses: ./" in each)
        job = yaml.safe_load(block)["jobs"]["gpupool"]
        inputs = self.WORKFLOW[True]["workflow_call"]["inputs"]

        assert job["uses"] == "./.github/workflows/example-gpupool.yml"
        assert (
            {name for name, said in inputs.items() if said.get("required")} <= set(job["with"]) <= set(inputs)
        )
        needed: dict[str, str] = {}
        for each in self.WORKFLOW["jobs"].values():
            needed |= each["permissions"]
        assert job["permissions"] == needed


class TestOwnWorkflow:
    """What runs on a change of gpupool itself, and each night."""

    WORKFLOW: dict[Any, Any] = yaml.safe_load((GITHUB / "workflows" / "ci.yml").read_text())

    def commands(self, event: str) -> list[str]:
        """Return what the jobs of an event run."""
        jobs = [
            job for job in self.WORKFLOW["jobs"].values() if f"github.event_name == '{event}'" in job["if"]
        ]
        return [step["run"] for job in jobs for step in job["steps"] if "run" in step]

    def test_each_event_runs_one_tier(self) -> None:
        events = set(self.WORKFLOW[True])

        assert events == {"push", "pull_request", "schedule", "workflow_dispatch"}
        assert {event: self.commands(event) for event in events} == {
            "push": [".ci/run"],
            "pull_request": [".ci/run"],
            "schedule": [".ci/run --thorough"],
            "workflow_dispatch": [".ci/run --thorough"],
        }
        assert os.access(ROOT / ".ci" / "run", os.X_OK)

    def test_it_may_only_read_the_code_and_keeps_no_credentials(self) -> None:
        jobs = self.WORKFLOW["jobs"].values()
        checkouts = [step for job in jobs for step in job["steps"] if "checkout" in step.get("uses", "")]

        assert self.WORKFLOW["permissions"] == {}
        assert [job["permissions"] for job in jobs] == [{"contents": "read"}] * 2
        assert [step["with"] for step in checkouts] == [{"persist-credentials": False}] * 2
        # With it the code of a fork would run with the rights of the repository.
        assert "pull_request_target" not in self.WORKFLOW[True]

    def test_what_is_built_is_cached_under_all_that_decides_it(self) -> None:
        caches = [
            step["with"]
            for job in self.WORKFLOW["jobs"].values()
            for step in job["steps"]
            if step.get("uses", "").startswith("actions/cache@")
        ]
        patterns = re.findall(r"'([^']+)'", caches[0]["key"].partition("hashFiles")[2])

        assert len(caches) == len(self.WORKFLOW["jobs"])
        assert caches[0] == caches[1]
        assert caches[0]["path"].split() == ["~/.cache/gpupool", "~/.cache/go-build", "~/go/pkg/mod"]
        assert caches[0]["key"].startswith(caches[0]["restore-keys"])
        assert patterns == ["pyproject.toml", "tests/rig/**"]
        assert [pattern for pattern in patterns if not list(ROOT.glob(pattern))] == []


@pytest.mark.parametrize("path", [*FILES, *GUIDES], ids=lambda path: path.name)
def test_each_release_named_is_this_one(path: Path) -> None:
    text = path.read_text("utf-8")
    named = re.findall(r"OWNER/gpupool\S*@(v[\w.]+)|rev: (\S+)", text)

    assert {tag or revision for tag, revision in named} <= {f"v{VERSION}"}
