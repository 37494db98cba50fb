"""A plan as a unified diff, which is applied to what is and has to give what would be."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpupool.planning.plan import Plan
from gpupool.reports.plan.patch import render_diff, render_plan
from gpupool.yamlio.write import dump
from tests.planning.plans import EXAMPLES, TEXTS, VALUES, change, large, plan
from tests.tiers import examples

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n")
BODIES = st.dictionaries(TEXTS, VALUES, min_size=1, max_size=6)


def applied(old: str, lines: list[str]) -> str:
    """Apply the hunks of one file, by the rules of `diff -u`; every line has to be where a hunk says."""
    before, made, at = old.split("\n")[:-1], [], 0
    while lines:
        match = HUNK.fullmatch(lines.pop(0))
        assert match
        start, count, _, after = (int(group) if group is not None else 1 for group in match.groups())
        begin = start - 1 if count else start
        made += before[at:begin]
        at = begin
        while count or after:
            line = lines.pop(0).rstrip("\n")
            count -= line[0] in " -"
            after -= line[0] in " +"
            if line[0] in " -":
                assert before[at] == line[1:]
                at += 1
            if line[0] in " +":
                made.append(line[1:])
    return "".join(f"{line}\n" for line in [*made, *before[at:]])


def lines_of(patch: str) -> list[str]:
    return [f"{line}\n" for line in patch.split("\n")[:-1]]


@settings(derandomize=True, max_examples=examples(150))
@given(BODIES, BODIES)
def test_any_change_is_applied(before: dict[str, Any], after: dict[str, Any]) -> None:
    found = lines_of(render_diff(change("NodePool/x", "update", before=before, after=after)))

    assert found[:2] in ([], ["--- live/NodePool/x\n", "+++ blueprint/NodePool/x\n"])
    assert bool(found) == (dump(before) != dump(after))
    assert applied(dump(before), found[2:]) == dump(after)


@pytest.mark.parametrize("made", [*EXAMPLES.values(), large(60)], ids=[*EXAMPLES, "large"])
def test_git_applies_it(made: Plan, tmp_path: Path) -> None:
    written(made, tmp_path, "before")
    patch = render_plan(made, show_textual=True)

    ended = subprocess.run(
        ["git", "-c", "core.autocrlf=false", "apply", "--allow-empty", "--whitespace=nowarn", "-"],  # noqa: S607 - whichever there is
        cwd=tmp_path,
        input=patch.encode(),
        capture_output=True,
        check=False,
        env={"GIT_CEILING_DIRECTORIES": str(tmp_path.parent), "PATH": "/usr/local/bin:/usr/bin:/bin"},
    )

    assert (ended.returncode, ended.stderr) == (0, b"")
    expected = tmp_path / "expected"
    written(made, expected, "after")
    assert files(tmp_path / "NodePool") == files(expected / "NodePool")
    assert files(tmp_path / "EC2NodeClass") == files(expected / "EC2NodeClass")


def written(made: Plan, folder: Path, side: str) -> None:
    """Write each object as it is, or as it would be."""
    for each in made.changes:
        is_left = side == "after" and each.after is None and each.actions != ("delete",)
        body = each.before if is_left else getattr(each, side)
        if body is not None:
            path = folder / each.address
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(dump(body).encode())


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.is_dir() else {}


def test_what_is_new_and_what_goes_come_from_nowhere_and_go_there() -> None:
    new, old = render_diff(change("NodePool/a", "create")), render_diff(change("NodePool/b", "delete"))

    assert new.startswith("--- /dev/null\n+++ blueprint/NodePool/a\n@@ -0,0 +1,")
    assert old.startswith("--- live/NodePool/b\n+++ /dev/null\n@@ -1,")
    assert {line[0] for line in lines_of(new)[3:]} == {"+"}
    assert {line[0] for line in lines_of(old)[3:]} == {"-"}


@pytest.mark.parametrize(
    "unknown",
    [
        change("NodePool/a", "create", after=None),
        change("NodePool/a", "update", after=None),
        change("NodePool/a", "delete", before=None),
        change("NodePool/a", "no-op", after=None, blocked="it is foreign"),
        change("NodePool/a", "no-op", before=None, after=None),
    ],
    ids=lambda each: f"{each.actions[0]}, {each.blocked or 'unknown'}",
)
def test_an_object_that_nobody_knows_is_no_deletion(unknown: Any) -> None:  # noqa: ANN401 - a Change
    assert render_plan(plan(unknown)) == ""


def test_words_only_are_left_out_unless_asked_for() -> None:
    assert render_plan(EXAMPLES["textual"]) == ""
    assert '-    cpu: "1000"\n+    cpu: 1k\n' in render_plan(EXAMPLES["textual"], show_textual=True)


@pytest.mark.parametrize(
    "address", ["NodePool/../../etc/passwd", "NodePool/a\nb", "../x", "NodePool/", "a b\tc", ""]
)
def test_a_name_leads_out_of_nowhere(address: str) -> None:
    first, second = lines_of(render_diff(change(address, "update", before={"a": 1}, after={"a": 2})))[:2]

    assert re.fullmatch(r"--- live(/[A-Za-z0-9_-][A-Za-z0-9._-]*){1,2}\n", first)
    assert second == first.replace("--- live", "+++ blueprint")


def test_a_number_that_yaml_has_no_place_for() -> None:
    found = render_diff(change("NodePool/a", "update", before={"a": 2**70}, after={"a": 1}))

    assert f'-  "a": {2**70}\n' in found
