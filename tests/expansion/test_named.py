"""Names in a blueprint and in manifests: what is an error, what is a warning, and where each stands."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from gpupool.api import render_files, validate
from gpupool.catalogue.load import SHIPPED
from gpupool.codes import Code
from gpupool.errors import InputError
from gpupool.yamlio.write import dump
from tests.expansion.test_checks import said
from tests.goldencases import ROOT, files_in

if TYPE_CHECKING:
    from pathlib import Path

    from gpupool.findings import Finding

NAMES = (Code.MISSPELT_NAME, Code.UNKNOWN_NAME, Code.RETIRED_NAME, Code.UNKNOWN_ZONE)
SHORT = {
    "a misspelt GPU": ("accelerator: h10O", "error", Code.MISSPELT_NAME, "did you mean `h100`?"),
    "a GPU's maker misspelt": ("accelerator: nvidai", "error", Code.MISSPELT_NAME, "did you mean `nvidia`?"),
    "a misspelt type": ("instances: {types: p5.48xlrage}", "error", Code.MISSPELT_NAME, "did you mean `p5.48xlarge`?"),
    "a misspelt type in a list": ("instances: {types: [g6.xlarge, g6.2xlage]}", "error", Code.MISSPELT_NAME, "`g6.2xlarge`?"),
    "a misspelt family shut out": ("accelerator: l4, instances: {families: {not: [g6, gg6]}}", "error", Code.MISSPELT_NAME, "`g6`?"),
    "a misspelt size": ("accelerator: l4, instances: {sizes: [2xlagre]}", "error", Code.MISSPELT_NAME, "`2xlarge`?"),
    "a misspelt category": ("instances: {categories: tnr}", "error", Code.MISSPELT_NAME, "`trn`?"),
    "a family among categories": ("instances: {categories: g5}", "error", Code.MISSPELT_NAME, "set `instances: {families: g5}`"),
    "a family as accelerator": ("accelerator: p5", "error", Code.MISSPELT_NAME, "set `instances: {families: p5}`"),
    "a GPU as family": ("instances: {families: h100}", "error", Code.MISSPELT_NAME, "set `accelerator: h100`"),
    "no name at all": ("accelerator: foo bar", "error", Code.MISSPELT_NAME, ""),
    "a new GPU": ("accelerator: h300", "warning", Code.UNKNOWN_NAME, "did you mean `h200`?"),
    "a new family": ("instances: {families: p7}", "warning", Code.UNKNOWN_NAME, "if it is"),
    "a new size": ("instances: {types: p5.2xlarge}", "warning", Code.UNKNOWN_NAME, "set a known size of `p5`: 4xlarge, 48xlarge"),
    "a retired family": ("instances: {families: [p3, p3dn]}", "warning", Code.RETIRED_NAME, "remove it"),
    "a retired chip": ("accelerator: gaudi-hl-205", "warning", Code.RETIRED_NAME, "remove it"),
    "a zone too many": ("accelerator: l4, zones: g", "info", Code.UNKNOWN_ZONE, ""),
}  # fmt: skip


def about_names(found: list[Finding]) -> list[Finding]:
    return [finding for finding in found if finding.code in NAMES]


@pytest.mark.parametrize(("words", "severity", "code", "fix"), SHORT.values(), ids=SHORT)
def test_in_short_words(words: str, severity: str, code: Code, fix: str, tmp_path: Path) -> None:
    (found,) = about_names(said(tmp_path, f"a: {{{words}}}"))

    assert (found.severity, found.code, found.at.line) == (severity, code, 7)
    assert fix in found.fix


LONG = {
    "a map": "requirements: {%s: %s}",
    "a map that shuts out": "requirements: {%s: {not: [%s]}}",
    "Karpenter's list": "requirements: [{key: %s, operator: In, values: [%s]}]",
}
WRONG = [
    ("karpenter.k8s.aws/instance-gpu-name", "L4", Code.MISSPELT_NAME),
    ("karpenter.k8s.aws/instance-gpu-name", "h10O", Code.MISSPELT_NAME),
    ("karpenter.k8s.aws/instance-family", "p5ne", Code.MISSPELT_NAME),
    ("karpenter.k8s.aws/instance-category", "g5", Code.MISSPELT_NAME),
    ("node.kubernetes.io/instance-type", "p5.48xlrage", Code.MISSPELT_NAME),
    ("beta.kubernetes.io/instance-type", "p7.48xlarge", Code.UNKNOWN_NAME),
    ("karpenter.k8s.aws/instance-size", "40xlarge", Code.UNKNOWN_NAME),
]


@pytest.mark.parametrize("form", LONG.values(), ids=LONG)
@pytest.mark.parametrize(("label", "value", "code"), WRONG)
def test_under_requirements_it_is_never_an_error(
    form: str, label: str, value: str, code: Code, tmp_path: Path
) -> None:
    words = f"instances: {{cpu: 8}}, {form % (label, value)}"

    (found,) = about_names(said(tmp_path, f"a: {{{words}}}"))

    assert (found.severity, found.code) == ("warning", code)
    assert (found.at.line, found.at.column) == (7, 7 + words.index(value))


def test_a_pool_of_dead_values_only_is_told_so(tmp_path: Path) -> None:
    (one, other) = about_names(said(tmp_path, "a: {instances: {families: [p3, f1]}}"))
    (beside,) = about_names(said(tmp_path, "a: {instances: {families: [p3, g5]}}"))

    assert (
        one.message
        == "EC2 no longer offers instance family `p3` (retired by 2026-05), so it matches nothing, and "
        "the pool can't launch a node"
    )
    assert "the pool can't launch a node" in other.message
    assert (
        beside.message
        == "EC2 no longer offers instance family `p3` (retired by 2026-05), so it matches nothing"
    )


def test_to_shut_out_what_is_retired_is_nothing_to_speak_of(tmp_path: Path) -> None:
    assert about_names(said(tmp_path, "a: {accelerator: v100, instances: {families: {not: p3}}}")) == []


def test_each_tier_tells_its_own_mistakes_once(tmp_path: Path) -> None:
    tiers = "tiers: {x: {}, y: {}, z: {instances: {families: p7}}}"

    found = about_names(said(tmp_path, f"a: {{accelerator: h300, {tiers}}}"))

    assert [(finding.code, finding.message.split("`")[1]) for finding in found] == [
        (Code.UNKNOWN_NAME, "h300"), (Code.UNKNOWN_NAME, "p7"),
    ]  # fmt: skip


def test_an_unknown_accelerator_is_rendered_as_its_siblings_are(tmp_path: Path) -> None:
    file = tmp_path / "gpupool.yaml"
    texts = {
        "h300": "instance-gpu-name",
        "trainium3": "instance-accelerator-name",
        "gb200": "instance-gpu-name",
    }
    for name, label in texts.items():
        file.write_text(blueprint(f"a: {{accelerator: {name}}}"), "utf-8")
        assert f"key: karpenter.k8s.aws/{label}\n" in render_files([str(file)]).text()


def test_in_an_overlay_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "gpupool.yaml"
    requirement = "{key: karpenter.k8s.aws/instance-family, operator: In, values: [p5ne]}"
    overlay = f"nodeOverlays:\n  cheap: {{requirements: [{requirement}], price: '1'}}\n"
    file.write_text(blueprint("a: {accelerator: l4}") + overlay, "utf-8")

    (found,) = about_names(list(render_files([str(file)]).findings))

    assert (found.severity, found.code, found.at.line) == ("warning", Code.MISSPELT_NAME, 9)


def blueprint(pools: str, cluster: str = "") -> str:
    return (
        "apiVersion: gpupool.dev/v1alpha1\nkind: Blueprint\nmetadata: {name: lab}\n"
        f"cluster: {{name: lab, region: us-east-1{cluster}}}\n"
        "defaults: {nodeClass: {ami: al2023@v20260810}}\npools:\n"
        f"  {pools}\n"
    )


def with_h300(tmp_path: Path) -> Path:
    """Write a catalogue in which the H100 has become an H300, dearer by the factor of two."""
    document = json.loads(gzip.decompress(SHIPPED.read_bytes()))
    text = json.dumps(document).replace('"h100"', '"h300"')
    (tmp_path / "catalogue").mkdir()
    file = tmp_path / "catalogue" / "ours.json.gz"
    file.write_bytes(gzip.compress(text.encode()))
    return file


def test_the_catalogue_that_the_blueprint_names_counts(tmp_path: Path) -> None:
    with_h300(tmp_path)
    file = tmp_path / "gpupool.yaml"
    named = ", catalogue: ./catalogue/ours.json.gz"

    file.write_text(blueprint("a: {accelerator: h300}", named), "utf-8")
    assert about_names(list(render_files([str(file)]).findings)) == []
    file.write_text(blueprint("a: {accelerator: h100}", named), "utf-8")
    (found,) = about_names(list(render_files([str(file)]).findings))
    assert (found.severity, found.code) == ("warning", Code.UNKNOWN_NAME)


def test_its_path_is_relative_to_the_file_that_says_it(tmp_path: Path) -> None:
    with_h300(tmp_path)
    base, over = tmp_path / "base.yaml", tmp_path / "catalogue" / "over.yaml"
    base.write_text(blueprint("a: {accelerator: h300}", ", catalogue: nowhere.json.gz"), "utf-8")
    over.write_text(
        "apiVersion: gpupool.dev/v1alpha1\nkind: Blueprint\ncluster: {catalogue: ours.json.gz}\n", "utf-8"
    )

    assert about_names(list(render_files([str(base), str(over)]).findings)) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "can't read the file: No such file or directory"),
        (b"{}", "the file is not a gpupool catalogue"),
    ],
    ids=["missing", "another file"],
)
def test_a_catalogue_that_is_none(content: bytes | None, message: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "x.json.gz").write_bytes(content)
    file = tmp_path / "gpupool.yaml"
    file.write_text(blueprint("a: {accelerator: h10O}", ", catalogue: x.json.gz"), "utf-8")

    with pytest.raises(InputError) as problem:
        render_files([str(file)])

    broken, name = problem.value.findings
    assert (broken.code, broken.at.line, broken.at.file) == (Code.CATALOGUE, 4, str(file))
    assert message in broken.message
    assert name.code == Code.MISSPELT_NAME


def node_pool(*requirements: dict[str, object], kind: str = "NodePool") -> str:
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"}
    listed = list(requirements)
    spec = (
        {"template": {"spec": {"nodeClassRef": reference, "requirements": listed}}}
        if kind == "NodePool"
        else {"requirements": listed, "price": "1"}
    )
    version = "karpenter.sh/v1" if kind == "NodePool" else "karpenter.sh/v1alpha1"
    return dump({"apiVersion": version, "kind": kind, "metadata": {"name": "gpu"}, "spec": spec})  # type: ignore[dict-item] # a plain tree


@pytest.mark.parametrize("kind", ["NodePool", "NodeOverlay"])
@pytest.mark.parametrize(("label", "value", "code"), WRONG)
def test_in_manifests_it_is_a_warning_too(
    kind: str, label: str, value: str, code: Code, tmp_path: Path
) -> None:
    file = tmp_path / "pool.yaml"
    text = node_pool({"key": label, "operator": "In", "values": [value]}, kind=kind)
    file.write_text(text, "utf-8")

    report = validate([str(file)])

    (found,) = about_names(list(report.findings))
    line = next(number for number, each in enumerate(text.splitlines(), 1) if value in each)
    assert (found.severity, found.code, found.object) == ("warning", code, f"{kind}/gpu")
    assert (found.at.line, found.path.endswith("requirements[0].values")) == (line, True)


@pytest.mark.parametrize("operator", ["NotIn", "In"])
def test_what_no_label_can_hold_is_said_once(operator: str, tmp_path: Path) -> None:
    file = tmp_path / "pool.yaml"
    file.write_text(
        node_pool({"key": "karpenter.k8s.aws/instance-family", "operator": operator, "values": ["foo bar"]}), "utf-8",
    )  # fmt: skip

    (found,) = validate([str(file)]).findings

    assert found.code == Code.NOT_A_LABEL_VALUE


def test_other_operators_and_labels_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "pool.yaml"
    file.write_text(
        node_pool(
            {"key": "karpenter.k8s.aws/instance-family", "operator": "Exists"},
            {"key": "karpenter.k8s.aws/instance-generation", "operator": "Gt", "values": ["99"]},
            {"key": "example.com/family", "operator": "In", "values": ["p5ne"]},
        ),
        "utf-8",
    )

    assert validate([str(file)]).findings == ()


def test_what_is_rendered_from_the_golden_cases_has_good_names() -> None:
    cases = [folder / "expected" for folder in sorted(ROOT.iterdir()) if (folder / "expected").is_dir()]
    assert len(cases) > 50

    found = [
        (case.parent.name, finding.message)
        for case in cases
        for finding in validate([str(case)], allow_empty=True).findings
        if finding.code in NAMES
    ]

    assert found == []
    assert any("instance-gpu-name" in text for case in cases for text in files_in(case).values())
