"""Who holds a lock, as it stands in a Lease, and the words that would delete it."""

import getpass
import os
import re
from typing import NoReturn

import pytest

from gpupool.rollout.connection import ClusterOptions
from gpupool.rollout.lock.lock import unlock_line
from gpupool.rollout.lock.lock_owner import Holder, current_owner, describe_owner, read_holder

PIPELINES = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID", "CI_JOB_URL")
GITHUB = dict(zip(PIPELINES, ("https://github.example", "team/repo", "17"), strict=False))


@pytest.fixture(autouse=True)
def _nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PIPELINES:
        monkeypatch.delenv(name, raising=False)


def test_every_try_is_another_holder() -> None:
    one, other = current_owner(), current_owner()

    assert re.fullmatch(r"[^/]+@[^/]+/[0-9]+/[0-9a-f]{8}", one.text)
    assert one.process == str(os.getpid())
    assert one.text != other.text


RUNS = {
    "github": (GITHUB, "https://github.example/team/repo/actions/runs/17"),
    "gitlab": ({"CI_JOB_URL": "https://gitlab.example/jobs/5"}, "https://gitlab.example/jobs/5"),
    "half of github": ({"GITHUB_RUN_ID": "17"}, ""),
}


@pytest.mark.parametrize(("variables", "run"), RUNS.values(), ids=RUNS)
def test_names_the_run(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], run: str) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    holder = current_owner()

    assert holder.run == run
    assert read_holder(holder.text) == holder


def test_a_user_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> NoReturn:
        raise KeyError

    monkeypatch.setattr(getpass, "getuser", nameless)

    assert current_owner().who.startswith(f"{os.getuid()}@")


def test_a_name_with_a_slash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "corp/ann")

    holder = current_owner()

    assert holder.who.startswith("corp_ann@")
    assert read_holder(holder.text) == holder


TEXTS = {
    "ours": ("a@b/7/1f8a77c2", Holder("a@b", "7", "1f8a77c2"), "a@b, process 7"),
    "ours with a run": (
        "a@b/7/1f8a77c2/https://ci.example/runs/5",
        Holder("a@b", "7", "1f8a77c2", "https://ci.example/runs/5"),
        "a@b, process 7, https://ci.example/runs/5",
    ),
    "a controller's": (
        "karpenter-6f_9d",
        Holder("karpenter-6f_9d", "", "karpenter-6f_9d"),
        "karpenter-6f_9d",
    ),
    "half of ours": ("a@b/7", Holder("a@b/7", "", "a@b/7"), "a@b/7"),
    "one that has no process": ("a/b/c", Holder("a/b/c", "", "a/b/c"), "a/b/c"),
}


@pytest.mark.parametrize(("text", "holder", "said"), TEXTS.values(), ids=TEXTS)
def test_reads_what_stands_there(text: str, holder: Holder, said: str) -> None:
    assert read_holder(text) == holder
    assert describe_owner(holder) == said


LINES = {
    "nothing": (ClusterOptions(), [], "gpupool unlock ID"),
    "files": (
        ClusterOptions(),
        ["base.yaml", "my prod.yaml"],
        "gpupool unlock ID -f base.yaml -f 'my prod.yaml'",
    ),
    "a way": (
        ClusterOptions(kubeconfig="~/k", context="prod", user="ann"),
        ["x{}.yaml"],
        "gpupool unlock ID -f 'x{}.yaml' --kubeconfig '~/k' --context prod --as ann",
    ),
}


@pytest.mark.parametrize(("way", "files", "line"), LINES.values(), ids=LINES)
def test_the_words_that_delete_it(way: ClusterOptions, files: list[str], line: str) -> None:
    assert unlock_line(way, files).format("ID") == line
