"""Where a surprise about machines comes from: the line and column in a blueprint, and in a plain manifest."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from gpupool import api
from gpupool.errors import UsageError
from tests.cli.blueprints import TOP
from tests.cli.run import gpupool, process
from tests.goldencases import cases

if TYPE_CHECKING:
    from pathlib import Path

    from gpupool.explain.explanation import Explanation

HEAD = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}
      requirements:
"""
GPUS, NAME = "karpenter.k8s.aws/instance-gpu-count", "karpenter.k8s.aws/instance-gpu-name"
FAMILY, TYPE = "karpenter.k8s.aws/instance-family", "node.kubernetes.io/instance-type"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def notes(found: Explanation) -> list[str]:
    """Return code and place of each note, as in `GP5005 9:12`."""
    return [
        f"{note.code} {note.at.line}:{note.at.column}" for answer in found.answers for note in answer.notes
    ]


def marked(text: str) -> tuple[str, str]:
    """Take the mark `▸` out of a text, and give the line and column at which it stood."""
    before, _, after = text.partition("▸")
    line = before.count("\n") + 1
    return before + after, f"{line}:{len(before) - before.rfind(chr(10))}"


MANIFESTS = {
    "GP5001": f"""\
        - ▸{{key: {GPUS}, operator: Gt, values: ["4"]}}
        - {{key: {GPUS}, operator: Lt, values: ["2"]}}
""",
    "GP5002": f"""\
        - {{key: {FAMILY}, operator: Exists}}
        - ▸{{key: {NAME}, operator: NotIn, values: [h100]}}
""",
    "GP5003": f"""\
        - {{key: {FAMILY}, operator: In, values: [g6, g6f]}}
        - ▸{{key: {GPUS}, operator: Lt, values: ["2"]}}
""",
    "GP5004": f"""\
        - {{key: {FAMILY}, operator: In, values: [g5, g5g]}}
        - ▸{{key: kubernetes.io/arch, operator: In, values: [amd64, arm64]}}
""",
    "GP5005": f"""\
        - key: {FAMILY}
          operator: In
          values:
            - g6
            - ▸p4
""",
    "GP5006": f"""\
        - {{key: {TYPE}, operator: In, values: [g6.xlarge, p5.48xlarge]}}
  limits:
    cpu: 400
    nvidia.com/gpu: ▸4
""",
    "GP5007": f"""\
        - {{key: {FAMILY}, operator: In, values: [p5]}}
        - ▸{{key: {GPUS}, operator: Gt, values: ["0"]}}
""",
    "GP5008": f"""\
        - ▸{{key: {FAMILY}, operator: In, values: [g7, g6]}}
""",
    "GP5010": f"""\
        - {{key: {TYPE}, operator: In, values: [g6.xlarge]}}
        - ▸{{key: karpenter.sh/capacity-type, operator: In, values: [spot]}}
""",
    "GP5011": f"""\
        - {{key: {TYPE}, operator: In, values: [g6.xlarge]}}
  limits:
    nodes: ▸4
""",
    "GP5013": f"""\
        - {{key: {TYPE}, operator: In, values: [p5.48xlarge]}}
  limits:
    nvidia.com/gpu: ▸20
""",
}


@pytest.mark.parametrize("code", MANIFESTS)
def test_the_place_in_a_manifest(code: str, folder: Path) -> None:
    text, place = marked(HEAD + MANIFESTS[code])
    (folder / "pool.yaml").write_text(text, "utf-8")

    found = api.explain(api.pools((), ["pool.yaml"], "us-east-1"), "gpu")

    assert f"{code} {place}" in notes(found)


def test_what_is_of_no_condition_in_particular_is_of_all(folder: Path) -> None:
    text, place = marked(
        HEAD.replace("requirements", "▸requirements")
        + f"        - {{key: {FAMILY}, operator: In, values: [p5e]}}\n"
    )
    (folder / "pool.yaml").write_text(text, "utf-8")

    assert notes(api.explain(api.pools((), ["pool.yaml"], "us-east-1"), "gpu")) == [f"GP5009 {place}"]
    assert notes(api.explain(api.pools((), ["pool.yaml"]), "gpu")) == [f"GP5012 {place}"]


BLUEPRINTS = {
    "GP5004": "profile: inference, instances: {families: [g5, g5g]}, ▸arch: [amd64, arm64]",
    "GP5005": "profile: inference, instances: {families: [g6, ▸p5], sizes: [xlarge]}",
    "GP5006": "profile: inference, instances: {types: [g6.xlarge, g6.12xlarge]}, limits: {gpus: ▸2}",
    "GP5008": "profile: training, instances: {▸families: [g7, g6]}",
    "GP5010": "profile: inference, instances: {types: [g6.xlarge]}, ▸capacity: spot",
    "GP5013": "profile: training, accelerator: h100, limits: {gpus: ▸20}",
}


@pytest.mark.parametrize("code", BLUEPRINTS)
def test_the_place_in_a_blueprint(code: str, folder: Path) -> None:
    text, place = marked(f"{TOP}pools:\n  p: {{{BLUEPRINTS[code]}}}\n")
    (folder / "gpupool.yaml").write_text(text, "utf-8")

    assert f"{code} {place}" in notes(api.explain(api.pools(["gpupool.yaml"]), "p"))


def test_a_note_names_object_and_path(folder: Path) -> None:
    text, _ = marked(HEAD + MANIFESTS["GP5006"])
    (folder / "pool.yaml").write_text(text, "utf-8")

    (note,) = api.explain(api.pools((), ["pool.yaml"], "us-east-1"), "gpu").answers[0].notes[:1]

    assert (note.at.file, note.object) == ("pool.yaml", "NodePool/gpu")
    assert note.path == "spec.limits[nvidia.com/gpu]"


def test_names_that_nobody_knows_are_wrong_usage(folder: Path) -> None:
    (folder / "pool.yaml").write_text(HEAD + MANIFESTS["GP5013"].replace("▸", ""), "utf-8")
    pools = api.pools((), ["pool.yaml"])

    with pytest.raises(UsageError, match=re.escape("unknown pool `gpo`; did you mean gpu?")):
        api.explain(pools, "gpo")
    with pytest.raises(UsageError, match=re.escape("unknown instance type `g6`")):
        api.explain(pools, "gpu", "g6")


@pytest.mark.parametrize("name", [case.name for case in cases() if case.expected_files])
def test_every_golden_blueprint_is_explained(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (case,) = (case for case in cases() if case.name == name)
    files = [word for file in case.blueprints for word in ("-f", str(case.folder / file))]

    said = gpupool(capsys, "explain", *files)

    assert said.code == 0, said.err
    assert said.out.startswith("NODEPOOL")


CUTS = [
    (HEAD + MANIFESTS["GP5006"]).replace("▸", "").replace(old, new)
    for old, new in [
        ("spec:\n", "spec: []\n"), ("requirements:", "requirements: 3"), ("operator: In", "operator: [In]"),
        ("values: [g6.xlarge, p5.48xlarge]", "values: {}"), ("values: [g6.xlarge", "values: [null"),
        ("key: ", "kee: "), ("cpu: 400", "cpu: -1"), ("cpu: 400", "cpu: 1e999999"), ("cpu: 400", "cpu: []"),
        ("nvidia.com/gpu: 4", "nvidia.com/gpu: .5"), ("nvidia.com/gpu: 4", "? [a]\n    : 4"), ("limits:", "limits: x"),
        ("nvidia.com/gpu: 4", "nodes: 0"), ("name: gpu}\nspec", "name: [gpu]}\nspec"), ("metadata: {name: gpu}", "metadata:"),
        ("operator: In", "operator: Gt"), ("operator: In", "operator: In, minValues: 99"),
        ("operator: In", "operator: In, minValues: -1"), ("apiVersion", "apiversion"), ("{", "{{"), ("kind:", "kind: &a *a"),
        ("cpu: 400", "cpu: 400\n    cpu: 5"), ("template:", "replicas: 3\n  template:"), ("template:", "weight: x\n  template:"),
    ]
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(CUTS)))
@pytest.mark.parametrize("style", ["text", "json"])
def test_a_manifest_with_any_mistake_is_answered_in_words(
    place: int, style: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "pool.yaml").write_text(CUTS[place], "utf-8")

    for words in ([], ["gpu"], ["gpu", "--why", "g6.xlarge"]):
        said = gpupool(
            capsys, "explain", *words, "--manifests", "pool.yaml", "--region", "us-east-1", "-o", style
        )

        assert said.code in (0, 1, 64), said.err
        assert "bug in gpupool" not in said.err
        assert "Traceback" not in said.err
        assert said.out or said.err


def test_secrets_are_not_shown(folder: Path) -> None:
    secret = "s3cret-join-token"  # noqa: S105 - it has to look like one
    (folder / "gpupool.yaml").write_text(
        f"{TOP}pools:\n  p: {{profile: training, accelerator: h100, nodeClass: {{userData: 'echo {secret}'}}}}\n",
        "utf-8",
    )

    for arguments in (
        ["explain"],
        ["explain", "p"],
        ["explain", "p", "-o", "json"],
        ["explain", "p.nodeClass.userData"],
    ):
        said = process(*arguments, folder=folder)
        assert said.code == 0, said.err
        assert secret not in said.out + said.err


FIXES = {
    "GP5003": ("instances: {categories: g, generation: 6}", "instances: {gpus: {above: 0}}"),
    "GP5004": ("instances: {categories: g, generation: 5}", "arch: amd64"),
    "GP5007": ("accelerator: l4", "instances: {gpus: 1}"),
}


@pytest.mark.parametrize(("words", "fix"), FIXES.values(), ids=FIXES)
def test_a_fix_is_in_the_fields_of_the_blueprint(words: str, fix: str, folder: Path) -> None:
    (folder / "gpupool.yaml").write_text(f"{TOP}pools:\n  a: {{{words}, limits: {{gpus: 8}}}}\n", "utf-8")

    found = api.explain(api.pools(["gpupool.yaml"]), "a")

    assert f"set `{fix}`" in [note.fix for answer in found.answers for note in answer.notes]


def test_a_type_that_is_an_accelerator_is_called_so(folder: Path) -> None:
    (folder / "gpupool.yaml").write_text(f"{TOP}pools: {{a: {{accelerator: l4}}}}\n", "utf-8")

    with pytest.raises(UsageError, match=re.escape("unknown instance type `l4`; it is a GPU")):
        api.explain(api.pools(["gpupool.yaml"]), "a", "l4")
