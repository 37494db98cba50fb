"""Profiles by path: only where the blueprint is, in `profiles/`, and where the user says so."""

import os
from pathlib import Path

import pytest

from gpupool.cli.app import app
from tests.cli.run import Outcome, gpupool

SECRET = "t0p-S3cret"  # noqa: S105 - of a test
PROFILE = """\
apiVersion: gpupool.dev/v1alpha1
kind: Profile
metadata: {name: ours}
summary: Ours.
description: As the team wants it.
pool: {weight: 77}
"""
BROKEN = f"{PROFILE}password: {SECRET}\n"
BLUEPRINT = """\
apiVersion: gpupool.dev/v1alpha1
kind: Blueprint
metadata: {{name: demo}}
cluster: {{name: c, region: us-east-1}}
defaults: {{nodeClass: {{ami: al2023@v20260810}}}}
pools:
  chat:
    profile: {profile}
    accelerator: l4
    limits: {{gpus: 8}}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder `repo`, from which gpupool runs, with a folder `team` for the blueprint, and `other` beside it."""
    for folder in ("repo/team/profiles", "repo/profiles", "repo/team2", "other"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "repo")


def rendered(capsys: pytest.CaptureFixture[str], profile: str | Path, *words: str) -> Outcome:
    Path("team/gpupool.yaml").write_text(BLUEPRINT.format(profile=profile), "utf-8")
    return gpupool(capsys, "render", "-f", "team/gpupool.yaml", *words)


def put(path: str | Path, text: str = PROFILE) -> Path:
    Path(path).write_text(text, "utf-8")
    return Path(path).absolute()


def assert_refused(said: Outcome, at: str = "team/gpupool.yaml:8:14") -> None:
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(f"{at}: error GP0019 ")
    assert "is outside the blueprint's folder" in said.err
    assert "--profiles DIR" in said.err
    assert said.err.count("GP0") == 1
    assert SECRET not in said.err


@pytest.mark.parametrize("place", ["team/a.yaml", "team/profiles/a.yaml", "profiles/a.yaml"])
def test_where_profiles_may_be(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(place)
    for profile in (path, os.path.relpath(path, "team") if place == "profiles/a.yaml" else f"./{path.relative_to(Path('team').absolute())}"):  # fmt: skip
        said = rendered(capsys, profile)
        assert (said.code, "weight: 77" in said.out) == (0, True), said.err


@pytest.mark.parametrize("place", ["../other/a.yaml", "team2/a.yaml", "a.yaml", "../profiles.yaml"])
@pytest.mark.parametrize("is_absolute", [False, True])
def test_where_they_may_not_be(place: str, is_absolute: bool, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(place, BROKEN)
    assert_refused(rendered(capsys, path if is_absolute else f"../{place}"))
    assert_refused(rendered(capsys, path if is_absolute else f"./profiles/../../{place}"))


def test_whether_there_is_such_a_file_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    there, absent = put("../other/a.yaml"), Path("../other/b.yaml").absolute()
    assert rendered(capsys, there).err == rendered(capsys, absent).err


@pytest.mark.parametrize("link", ["team/a.yaml", "team/profiles/a.yaml", "profiles/a.yaml"])
def test_a_link_to_another_folder(link: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(link).symlink_to(put("../other/a.yaml", BROKEN))
    assert_refused(rendered(capsys, Path(link).absolute()))


@pytest.mark.parametrize("folder", ["profiles", "team/profiles"])
def test_a_folder_that_is_a_link(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    put("../other/a.yaml", BROKEN)
    Path(folder).rmdir()
    Path(folder).symlink_to(Path("../other").absolute())
    assert_refused(rendered(capsys, Path(folder).absolute() / "a.yaml"))


def test_a_link_within_the_folder(capsys: pytest.CaptureFixture[str]) -> None:
    put("team/profiles/a.yaml")
    Path("team/b.yaml").symlink_to("profiles/a.yaml")
    assert rendered(capsys, "./b.yaml").code == 0


def test_what_a_profile_extends(capsys: pytest.CaptureFixture[str]) -> None:
    put("../other/a.yaml", BROKEN)
    put("profiles/b.yaml", f"{PROFILE}extends: ../../other/a.yaml\n")
    assert_refused(rendered(capsys, "../profiles/b.yaml"), "profiles/b.yaml:7:10")


def test_a_file_that_is_no_profile_is_not_quoted(capsys: pytest.CaptureFixture[str]) -> None:
    for text in (f"[{SECRET}\n", f"{SECRET}: {SECRET}\n", f"- {SECRET}\n", f"\x00{SECRET}"):
        assert_refused(rendered(capsys, put("../other/a.yaml", text)))


def test_a_folder_that_the_user_allows(capsys: pytest.CaptureFixture[str]) -> None:
    path = put("../other/a.yaml")
    for folders in (["../other"], ["profiles", str(path.parent)], [".."]):
        said = rendered(capsys, path, *(word for each in folders for word in ("--profiles", each)))
        assert (said.code, "weight: 77" in said.out) == (0, True), said.err
    assert_refused(rendered(capsys, path))
    assert_refused(rendered(capsys, path, "--profiles", "profiles"))


@pytest.mark.parametrize("folder", ["nowhere", "team/gpupool.yaml", ""])
def test_a_folder_that_is_none(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = rendered(capsys, "inference", "--profiles", folder)
    assert (said.code, said.err) == (64, f"error: --profiles {folder}: the folder does not exist\n")


@pytest.mark.parametrize(
    "command", ["validate", "render", "explain", "fit", "diff", "plan", "status", "rbac"]
)
def test_every_command_that_reads_a_blueprint(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("team/gpupool.yaml").write_text(BLUEPRINT.format(profile=put("../other/a.yaml", BROKEN)), "utf-8")
    put(
        "pod.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: b}]}\n",
    )
    words = {"rbac": ["rbac", "plan"], "fit": ["fit", "pod.yaml"]}.get(command, [command])

    refused = gpupool(capsys, *words, "-f", "team/gpupool.yaml")
    allowed = gpupool(capsys, *words, "-f", "team/gpupool.yaml", "--profiles", "../other")

    assert (refused.code, SECRET in refused.out + refused.err) == (1, False)
    assert "GP0019" in refused.out + refused.err
    # Who allows it reads what is wrong with it.
    assert "GP0010" in allowed.out + allowed.err
    assert "GP0019" not in allowed.out + allowed.err


def test_every_command_with_a_blueprint_has_the_option() -> None:
    callbacks = [each.callback for each in app.registered_commands if each.callback]
    options = {each.__name__: {*each.__annotations__} for each in callbacks}
    reading = {name for name, words in options.items() if "file" in words and name != "show"}
    assert {name for name, words in options.items() if "profile_folders" in words} == {*reading, "profiles"}


def test_one_that_is_named_by_itself_is_read_wherever_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    path = put("../other/a.yaml")
    assert gpupool(capsys, "profiles", path).code == 0
    assert gpupool(capsys, "validate", path).code == 0
    put("../other/a.yaml", f"{PROFILE}extends: ../repo/b.yaml\n")
    put("b.yaml", BROKEN)
    for command in ("profiles", "validate"):
        refused = gpupool(capsys, command, path)
        assert (refused.code, "GP0019" in refused.err + refused.out) == (1, True)
        assert SECRET not in refused.err + refused.out


def test_a_profile_of_standard_input_s_blueprint(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import io
    import sys

    for profile, code in (("./a.yaml", 0), ("../other/a.yaml", 1)):
        put(profile)
        text = BLUEPRINT.format(profile=profile).encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        assert gpupool(capsys, "render", "-f", "-").code == code


def with_user_data(capsys: pytest.CaptureFixture[str], file: str | Path, *words: str) -> Outcome:
    text = BLUEPRINT.format(profile="training").replace(
        "    limits:", f"    nodeClass: {{userData: {{file: {file}}}}}\n    limits:"
    )
    Path("team/gpupool.yaml").write_text(text, "utf-8")
    return gpupool(capsys, "render", "-f", "team/gpupool.yaml", *words)


SCRIPT = f"#!/bin/sh\nexport TOKEN={SECRET}\n"


@pytest.mark.parametrize("place", ["team/boot.sh", "team/scripts/boot.sh", "scripts/boot.sh"])
def test_where_user_data_may_be(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(place).parent.mkdir(exist_ok=True)
    path = put(place, SCRIPT)
    for file in (path, os.path.relpath(path, "team")):
        said = with_user_data(capsys, file)
        assert (said.code, SECRET in said.out) == (0, True), said.err


HIDDEN = [".git/config", ".env", "team/.netrc", "scripts/.ssh/id"]
OUTSIDE = ["../other/boot.sh", "../boot.sh", "../repository/boot.sh"]


@pytest.mark.parametrize("place", [*OUTSIDE, *HIDDEN])
@pytest.mark.parametrize("kind", ["absolute", "relative", "link"])
def test_where_user_data_may_not_be(place: str, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(place).parent.mkdir(parents=True, exist_ok=True)
    path = put(place, SCRIPT)
    file = path if kind == "absolute" else os.path.relpath(path, "team") if kind == "relative" else "link.sh"
    if kind == "link":
        Path("team/link.sh").symlink_to(path)

    said = with_user_data(capsys, file)

    assert (said.code, said.out) == (1, "")
    assert "error GP0033 the path is outside the blueprint's and the working folder" in said.err
    assert said.err.count("GP0") == 1
    assert SECRET not in said.err


def test_the_user_allows_folders_of_user_data(capsys: pytest.CaptureFixture[str]) -> None:
    path = put("../other/boot.sh", SCRIPT)

    assert with_user_data(capsys, path, "--profiles", "../other").code == 0
