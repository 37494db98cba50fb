"""`gpupool profiles`: the list, one profile's page, and names that are none."""

import re
from pathlib import Path

import pytest

from gpupool.profiles.load import shipped_names
from tests.cli.run import gpupool

OWN = """\
apiVersion: gpupool.dev/v1alpha1
kind: Profile
metadata: {name: ours}
summary: Ours.
description: Because.
extends: training
pool:
  weight: 7   # before the others
"""


def test_the_list_has_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, "profiles")

    assert (said.code, said.err) == (0, "")
    *lines, empty, hint = said.out.splitlines()
    assert [line.split()[0] for line in lines] == shipped_names()
    assert all(len(line.split(maxsplit=1)[1]) > 10 for line in lines)
    assert (empty, hint) == ("", "`gpupool profiles NAME` shows what one sets, and why.")


@pytest.mark.parametrize("name", shipped_names())
def test_a_shipped_profile(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, "profiles", name)

    assert (said.code, said.err) == (0, "")
    assert name in said.out.splitlines()[0]
    assert "expireAfter" in said.out


def test_one_s_own_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ours.yaml").write_text(OWN, "utf-8")

    said = gpupool(capsys, "profiles", "./ours.yaml")

    assert (said.code, said.err) == (0, "")
    assert "before the others" in said.out
    assert re.search(r"^  expireAfter: Never +# \(training\) ", said.out, re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("trainin", "error GP0017 unknown profile `trainin`\n    fix: did you mean `training`?\n"),
        (
            "zzz",
            "error GP0017 unknown profile `zzz`\n    fix: set the path of your own profile, or one of batch-spot, general, ",
        ),
        ("./none.yaml", "error GP0017 profile file `none.yaml` does not exist\n"),
        ("", "error GP0017 unknown profile ``\n"),
        ("..", "error GP0017 unknown profile `..`\n"),
    ],
)
def test_a_name_that_is_none(name: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, "profiles", name)

    assert (said.code, said.out) == (1, "")
    assert words in said.err
    assert said.err.endswith("error: 1 error\n")


def test_a_blueprint_is_no_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ours.yaml"
    path.write_text(OWN.replace("Profile", "Blueprint"), "utf-8")

    said = gpupool(capsys, "profiles", path)

    assert (said.code, said.out, said.codes) == (1, "", ["GP0005"])
