"""`gpupool validate`: what it checks, how it ends, and where the results go."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.cli.blueprints import HEAD, SMALL, with_pool
from tests.cli.run import SECONDS, gpupool, process

GOOD = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: chat}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}
      requirements: []
"""
BAD = GOOD.replace("spec:\n  template", "spec:\n  weight: 0\n  template", 1)
WARNED = GOOD.replace("spec:\n  template", "spec:\n  weight: null\n  template", 1)
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
WEIGHT = (
    "bad.yaml:5:11: error GP1013 [structural] `spec.weight`: `0` is less than 1\n    fix: set `1` or more\n"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a file of each sort."""
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "good": GOOD,
        "bad": BAD,
        "warned": WARNED,
        "other": CONFIG_MAP,
        "pools": SMALL,
    }.items():
        (tmp_path / f"{name}.yaml").write_text(text, "utf-8")
    return tmp_path


def test_a_good_manifest(capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, "validate", "good.yaml")

    assert (said.code, said.err) == (0, "")
    assert said.out == "Checked 1 object in 1 file (NodePool 1): no problems found.\n"


def test_a_bad_manifest(capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, "validate", "bad.yaml")

    assert (said.code, said.err) == (1, "")
    assert said.out == f"{WEIGHT}Checked 1 object in 1 file (NodePool 1): 1 error.\n"


def test_warnings_fail_a_strict_run_only(capsys: pytest.CaptureFixture[str]) -> None:
    lenient = gpupool(capsys, "validate", "warned.yaml")
    strict = gpupool(capsys, "validate", "--strict", "warned.yaml")

    assert (lenient.code, strict.code) == (0, 1)
    assert lenient.out == strict.out
    assert "warned.yaml:5:3: warning GP1014 [structural] " in lenient.out


def test_infos_never_fail_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "profile: spot-tiered, accelerator: l4, limits: {gpus: 8}"
    (folder / "pools.yaml").write_text(with_pool(words), "utf-8")

    said = gpupool(capsys, "validate", "--strict", "pools.yaml")

    assert said.code == 0
    assert "info GP0050" in said.out


def test_a_folder_with_everything_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    (Path("deeper") / "still").mkdir(parents=True)
    Path("deeper/still/README.md").write_text("# Read me\n", "utf-8")

    said = gpupool(capsys, "validate", ".")

    lines = said.out.splitlines()
    assert said.code == 1
    assert [line.split(" ")[0] for line in (lines[0], lines[2])] == ["bad.yaml:5:11:", "warned.yaml:5:3:"]
    assert lines[3] == "    fix: remove the field"
    assert lines[4:] == [
        "Checked 4 objects in 5 files (NodePool 3, Blueprint 1): 1 error, 1 warning.",
        "Skipped: ConfigMap (1).",
        "Skipped deeper/still/README.md: not .yaml, .yml or .json",
    ]


def test_standard_input(folder: Path) -> None:
    said = process("validate", "-", folder=folder, stdin=f"{CONFIG_MAP}---\n{BAD}".encode())

    assert (said.code, said.err) == (1, "")
    assert said.out.startswith("-:9:11: error GP1013 ")


def test_a_blueprint_on_standard_input(folder: Path) -> None:
    layered = process("validate", "-f", "-", folder=folder, stdin=SMALL.encode())
    named = process("validate", "-", folder=folder, stdin=SMALL.encode())

    assert (layered.code, layered.out) == (
        0,
        "Checked 1 object in 1 file (Blueprint 1): no problems found.\n",
    )
    assert named.code == 1
    assert "fix: run `gpupool validate -f -`" in named.out


def test_the_default_is_the_blueprint_of_the_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = gpupool(capsys, "validate")
    (folder / "gpupool.yaml").write_text(SMALL, "utf-8")
    there = gpupool(capsys, "validate")

    assert missing.code == 1
    assert missing.out.startswith(
        "gpupool.yaml: error GP0001 can't read the file: No such file or directory\n"
    )
    assert (there.code, there.out) == (0, "Checked 1 object in 1 file (Blueprint 1): no problems found.\n")


def test_layers_of_a_blueprint_beside_manifests(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "prod.yaml").write_text(f"{HEAD}pools: {{train: {{weigth: 3}}}}\n", "utf-8")

    said = gpupool(capsys, "validate", "good.yaml", "-f", "pools.yaml", "-f", "prod.yaml")

    assert said.code == 1
    assert said.out.splitlines() == [
        "prod.yaml:3:17: error GP0010 unknown field `weigth` in `pools.train`",
        "    fix: did you mean `weight`?",
        "Checked 2 objects in 3 files (Blueprint 1, NodePool 1): 1 error.",
    ]


def test_what_karpenter_would_refuse_is_found_at_the_blueprint_s_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "pools.yaml").write_text(
        with_pool("profile: training, accelerator: h100, labels: {karpenter.sh/nodepool: x}"), "utf-8"
    )

    said = gpupool(capsys, "validate", "pools.yaml")

    assert said.code == 1
    assert said.out.startswith("pools.yaml:7:")


def test_a_profile_is_checked_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = (
        HEAD.replace("Blueprint", "Profile") + "metadata: {name: ours}\nsummary: Ours.\ndescription: Ours.\n"
    )
    (folder / "ours.yaml").write_text(f"{head}pool: {{weigth: 3}}\n", "utf-8")

    said = gpupool(capsys, "validate", "ours.yaml")

    assert said.code == 1
    assert "error GP0010 unknown field `weigth`" in said.out
    assert "(Profile 1)" in said.out


def test_the_target_version_counts_for_manifests(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    balanced = "  disruption: {consolidateAfter: 1m, consolidationPolicy: Balanced}\n"
    (folder / "new.yaml").write_text(GOOD + balanced, "utf-8")

    latest = gpupool(capsys, "validate", "new.yaml")
    older = [gpupool(capsys, "validate", "new.yaml", "--karpenter", each) for each in ("1.13", "v1.13.2")]

    assert latest.code == 0
    assert [said.code for said in older] == [1, 1]
    assert older[0].out == older[1].out
    assert "GP1016 [structural] `Balanced` requires Karpenter 1.14" in older[0].out


def test_a_blueprint_names_its_own_version(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "accelerator: l4, limits: {gpus: 8}, disruption: {consolidateAfter: 1m, consolidationPolicy: Balanced}"
    text = with_pool(words)
    (folder / "new.yaml").write_text(text, "utf-8")
    (folder / "old.yaml").write_text(
        text.replace("timezone: UTC", 'timezone: UTC, karpenter: "1.13"'), "utf-8"
    )

    new = gpupool(capsys, "validate", "--karpenter", "1.9", "new.yaml")
    old = gpupool(capsys, "validate", "--karpenter", "1.14", "old.yaml")

    assert (new.code, old.code) == (0, 1)
    assert "1.13" in old.out
    assert old.out.startswith("old.yaml:7:")


@pytest.mark.parametrize("path", ["other.yaml", "empty"])
def test_nothing_to_check(path: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty").mkdir()

    said = gpupool(capsys, "validate", path)
    allowed = gpupool(capsys, "validate", "--allow-empty", path)

    assert (said.code, allowed.code) == (1, 0)
    assert said.out.startswith(f"{path}: error GP1008 [structural] nothing to check")
    assert "GP1008" not in allowed.out


def test_what_can_not_be_read_is_said_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "broken.yaml").write_text("a: [", "utf-8")

    said = gpupool(capsys, "validate", "broken.yaml", "none.yaml")

    assert said.code == 1
    assert [line.split(" ")[2] for line in said.out.splitlines() if ": error " in line] == [
        "GP1002",
        "GP1001",
    ]


class TestOutputs:
    """Where the formats go."""

    def test_each_format_goes_to_its_place(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        said = gpupool(
            capsys, "validate", "bad.yaml",
            "-o", "json=out/report.json", "-o", "sarif=report.sarif", "-o", "junit=junit.xml", "-o", "github",
        )  # fmt: skip

        assert said.code == 1
        assert said.out.startswith("::error file=bad.yaml,line=5,col=11,title=GP1013 ")
        assert said.err == "Checked 1 object in 1 file (NodePool 1): 1 error.\n"
        report = json.loads((folder / "out" / "report.json").read_text("utf-8"))
        assert report["findings"][0]["object"] == "NodePool/chat"
        sarif = json.loads((folder / "report.sarif").read_text("utf-8"))
        assert sarif["runs"][0]["results"][0]["ruleId"] == "GP1013"
        assert ET.parse(folder / "junit.xml").getroot().get("failures") == "1"  # noqa: S314 - our own output

    def test_files_alone_leave_standard_output_empty(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = gpupool(capsys, "validate", "good.yaml", "-o", "text=report.txt")

        assert (said.code, said.out) == (0, "")
        assert said.err == Path("report.txt").read_text("utf-8")

    def test_a_dash_is_standard_output(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert gpupool(capsys, "validate", "good.yaml", "-o", "json=-").out.startswith("{\n")

    def test_a_path_that_can_not_be_written(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        said = gpupool(capsys, "validate", "good.yaml", "-o", "text", "-o", "json=good.yaml/report.json")

        assert said.code == 1
        assert "no problems found" in said.out
        assert said.err.startswith("good.yaml/report.json: error GP0081 can't write it: ")
        assert (folder / "good.yaml").read_text("utf-8") == GOOD

    def test_a_link_is_written_through(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "link.json").symlink_to("real.json")

        gpupool(capsys, "validate", "good.yaml", "-o", "json=link.json")

        assert (folder / "link.json").is_symlink()
        assert json.loads((folder / "real.json").read_text("utf-8"))["findings"] == []

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
    def test_a_full_disk_is_said(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = gpupool(capsys, "validate", "good.yaml", "-o", "json=/dev/full")

        assert (said.code, said.err) == (1, "error: No space left on device\n")
        assert Path("/dev/full").is_char_device()

    def test_a_pipe_is_written_into(self, capsys: pytest.CaptureFixture[str]) -> None:
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb") as pipe:
            said = gpupool(capsys, "validate", "good.yaml", "-o", f"json=/dev/fd/{writing}")
            os.close(writing)
            text = pipe.read()

        assert said.code == 0
        assert json.loads(text)["summary"]["objects"] == {"NodePool": 1}


@pytest.mark.parametrize("style", ["text", "json", "github", "sarif", "junit"])
def test_the_same_bytes_each_time_in_any_locale(style: str, folder: Path) -> None:
    (folder / "ü.yaml").write_text(BAD, "utf-8")

    posix = process("validate", ".", "-o", style, folder=folder, environment={"LC_ALL": "POSIX"})
    latin = process("validate", ".", "-o", style, folder=folder, environment={"PYTHONIOENCODING": "latin-1"})

    assert (posix.code, latin.code) == (1, 1)
    assert posix.out == latin.out
    assert posix.out.count("GP1013") >= 2


@pytest.mark.parametrize("style", ["text", "json", "github", "sarif", "junit"])
def test_a_file_whose_name_is_no_text(style: str, folder: Path) -> None:
    (folder / "names").mkdir()
    Path(os.fsdecode(b"names/\xff\n.yaml")).write_text(BAD, "utf-8")

    said = process("validate", "names", "-o", style, folder=folder)

    assert said.code == 1
    assert "GP1013" in said.out
    assert "bug in gpupool" not in said.err


def test_objects_of_old_versions_are_counted_as_checked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = GOOD.replace("karpenter.sh/v1", "karpenter.sh/v1beta1")
    unknown = GOOD.replace("karpenter.sh/v1", "karpenter.sh/v7").replace("chat", "late")
    claim = "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: x}\n"
    (folder / "mixed.yaml").write_text(f"{old}---\n{unknown}---\n{GOOD}---\n{claim}", "utf-8")

    said = gpupool(capsys, "validate", "mixed.yaml", "-o", "junit")

    (suite,) = ET.fromstring(said.out)  # noqa: S314 - our own output
    assert [(case.get("name"), [part.get("type") for part in case]) for case in suite] == [
        ("file", []),
        ("NodePool/chat", ["GP1006"]),
        ("NodePool/late", ["GP1007"]),
        ("NodePool/chat", []),
    ]
    assert "(NodePool 3): 2 errors.\nSkipped: NodeClaim (1).\n" in said.err


def test_a_file_that_is_named_twice_is_one_file(capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, "validate", "pools.yaml", "-f", "pools.yaml", "good.yaml", "./good.yaml")

    assert said.code == 0
    assert said.out.splitlines() == [
        "Checked 3 objects in 2 files (Blueprint 2, NodePool 1): no problems found.",
        "Skipped ./good.yaml: already read",
    ]


@pytest.mark.parametrize(
    ("arguments", "unused"),
    [
        (["validate", "bad.yaml"], {"gpupool.blueprint", "gpupool.rendering", "gpupool.profiles", "jinja2"}),
        (["validate", "-f", "pools.yaml"], {"gpupool.reports.validate.sarif", "xml", "jinja2"}),
    ],
)
def test_only_what_a_run_needs_is_imported(arguments: list[str], unused: set[str], folder: Path) -> None:
    code = (
        "import sys; from gpupool.cli.app import main; main(sys.argv[1:]);"
        " sys.stderr.write(' '.join(sorted(sys.modules)))"
    )

    ended = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder, capture_output=True, text=True, check=True, timeout=SECONDS,
    )  # fmt: skip

    imported = set(ended.stderr.split())
    assert "gpupool.api" in imported
    assert unused & imported == set()
