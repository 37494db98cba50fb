"""What stands in files: Karpenter's objects, gpupool's own, others that are counted, and mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gpupool.manifests.read import MAX_FINDINGS, read_manifests
from gpupool.manifests.sources import SkipReason
from gpupool.yamlio.located import text_at

if TYPE_CHECKING:
    from gpupool.manifests.result import Manifests

POOL = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: chat}\nspec: {weight: 010}\n"
CLASS = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: gpu}\n"
OVERLAY = "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: dear}\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"


def from_stdin(text: str) -> Manifests:
    return read_manifests(["-"], text.encode)


def in_folder(**files: str) -> Manifests:
    """Read a folder with these files; `__` in a name is a slash."""
    for name, text in files.items():
        path = Path("d", f"{name.replace('__', '/')}.yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return read_manifests(["d"], lambda: b"")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def codes(result: Manifests) -> list[tuple[str, int]]:
    return [(finding.code, finding.at.line) for finding in result.findings]


def test_karpenters_objects_are_given_and_others_counted() -> None:
    result = from_stdin(f"{POOL}---\n{POD}---\n{CLASS}---\n{OVERLAY}---\n{POD}")

    assert [(found.kind, found.name, found.label, found.at) for found in result.objects] == [
        ("NodePool", "chat", "NodePool/chat", ("-", 1, 1)),
        ("EC2NodeClass", "gpu", "EC2NodeClass/gpu", ("-", 10, 1)),
        ("NodeOverlay", "dear", "NodeOverlay/dear", ("-", 14, 1)),
    ]
    assert result.kinds == {"EC2NodeClass": 1, "NodeOverlay": 1, "NodePool": 1, "Pod": 2}
    assert (result.files, result.documents, result.findings, result.skipped) == (("-",), 5, (), ())
    assert [key for found in result.objects for key in [text_at(found.body, "kind")]] == [
        "NodePool",
        "EC2NodeClass",
        "NodeOverlay",
    ]


def test_lists_are_opened_even_in_each_other() -> None:
    result = from_stdin("""\
apiVersion: v1
kind: List
items:
  - {apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}}
  - apiVersion: v1
    kind: List
    items:
      - {apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: b}}
  - {apiVersion: v1, kind: Pod}
  - {apiVersion: v1}
---
apiVersion: karpenter.sh/v1
kind: NodePoolList
items:
  - metadata: {name: c}
---
apiVersion: v1
kind: List
items: []
""")

    assert [(found.name, found.at.line) for found in result.objects] == [("a", 4), ("b", 8), ("c", 15)]
    assert result.kinds == {"NodePool": 3, "Pod": 1}
    assert codes(result) == [("GP1005", 10)]
    assert result.documents == 3


@pytest.mark.parametrize(
    ("head", "code", "words"),
    [
        ("apiVersion: karpenter.sh/v2\nkind: NodePool", "GP1007", "apiVersion: karpenter.sh/v1`"),
        ("apiVersion: karpenter.k8s.aws/v1\nkind: NodePool", "GP1007", "apiVersion: karpenter.sh/v1`"),
        ("apiVersion: karpenter.sh/v1\nkind: NodeOverlay", "GP1007", "apiVersion: karpenter.sh/v1alpha1`"),
        ("apiVersion: v1\nkind: EC2NodeClass", "GP1007", "apiVersion: karpenter.k8s.aws/v1`"),
        ("apiVersion: karpenter.sh/v1\nkind: Nodepool", "GP1007", "kind: NodePool`"),
        ("apiVersion: karpenter.sh/v1\nkind: Gadget", "GP1007", "use one of NodePool, NodeOverlay"),
        ("apiVersion: karpenter.sh/v1beta1\nkind: NodePool", "GP1006", "apiVersion: karpenter.sh/v1`"),
        ("apiVersion: karpenter.sh/v1beta1", "GP1005", "`apiVersion` and `kind`"),
        ("kind: NodePool", "GP1005", "`apiVersion` and `kind`"),
        ("kind: 5\napiVersion: v1", "GP1005", "`apiVersion` and `kind`"),
        ("[a, b]", "GP1005", "`apiVersion` and `kind`"),
        ("text", "GP1005", "`apiVersion` and `kind`"),
    ],
)
def test_what_is_no_object_to_look_at_is_one_finding(head: str, code: str, words: str) -> None:
    result = from_stdin(head)

    (finding,) = result.findings
    assert finding.code == code
    assert words in finding.fix
    assert result.objects == ()


@pytest.mark.parametrize(
    "head",
    [
        "apiVersion: karpenter.sh/v1\nkind: NodeClaim",
        "apiVersion: karpenter.sh/v1beta1\nkind: NodeClaim",
        "apiVersion: hypershift.openshift.io/v1beta1\nkind: NodePool",
        "apiVersion: eks.amazonaws.com/v1\nkind: NodeClass",
    ],
)
def test_other_kinds_are_counted(head: str) -> None:
    result = from_stdin(head)

    assert (result.findings, result.objects) == ((), ())
    assert list(result.kinds.values()) == [1]


def test_in_a_folder_what_is_no_object_is_passed_over_and_counted() -> None:
    result = in_folder(
        values="replicas: 1\nreplicas: 2\n",
        kustomization="resources: []\n---\n[]\n",
        pool=POOL,
        mkdocs="a: [\n",
    )

    assert result.findings == ()
    assert [(skipped.at.file, skipped.at.line, skipped.reason) for skipped in result.skipped] == [
        ("d/kustomization.yaml", 1, SkipReason.NO_OBJECT),
        ("d/kustomization.yaml", 3, SkipReason.NO_OBJECT),
        ("d/mkdocs.yaml", 1, SkipReason.UNREADABLE),
        ("d/values.yaml", 1, SkipReason.NO_OBJECT),
    ]
    assert result.count_skip_reasons() == {"not a Kubernetes object": 3, "unreadable": 1}
    assert result.files == ("d/kustomization.yaml", "d/mkdocs.yaml", "d/pool.yaml", "d/values.yaml")
    assert result.documents == 5


def test_in_a_folder_what_may_be_an_object_is_not_passed_over() -> None:
    result = in_folder(a=f"{POOL}---\na: [\n", b="\0binary")

    assert codes(result) == [("GP1002", 7), ("GP1002", 1)]
    assert len(result.objects) == 1


def test_a_key_that_stands_twice_matters_in_karpenters_objects_alone() -> None:
    twice = "metadata: {name: b}\n"

    result = from_stdin(f"{POOL}{twice}---\n{POD}{twice}---\nbroken: 'x")

    assert codes(result) == [("GP1003", 5), ("GP1002", 12)]
    assert [found.name for found in result.objects] == ["b"]


def test_what_kubectl_does_not_see_is_said_in_any_file() -> None:
    result = from_stdin(f"{POD}...\n{POOL}")

    assert [(finding.code, finding.severity, finding.at.line) for finding in result.findings] == [
        ("GP1002", "warning", 5)
    ]
    assert result.objects == ()


BLUEPRINT = "apiVersion: gpupool.dev/v1alpha1\nkind: Blueprint\nmetadata: {name: team}\n"


def test_own_files_are_given_back_with_nothing_said_about_them() -> None:
    profile = BLUEPRINT.replace("Blueprint", "Profile")

    result = in_folder(a=f"# a\n{BLUEPRINT}a: 1\na: 2\n", b=profile, c=f"{BLUEPRINT}pools: [\n", d=POOL)

    assert [tuple(own) for own in result.own_files] == [
        ("Blueprint", "team", "d/a.yaml"),
        ("Profile", "team", "d/b.yaml"),
        ("Blueprint", "", "d/c.yaml"),
    ]
    assert result.findings == ()
    assert len(result.objects) == 1


def test_an_own_file_in_json_is_given_back() -> None:
    text = '{"apiVersion": "gpupool.dev/v1alpha1", "kind": "Blueprint", "metadata": {"name": "team"}}'

    assert [tuple(own) for own in from_stdin(text).own_files] == [("Blueprint", "team", "-")]


def test_a_blueprint_without_a_name_is_only_counted() -> None:
    result = in_folder(overlay="apiVersion: gpupool.dev/v1alpha1\nkind: Blueprint\npools: {}\n")

    assert (result.own_files, result.findings) == ((), ())
    assert result.count_skip_reasons() == {"blueprint without a name": 1}


def test_templates_of_a_chart_are_passed_over_and_counted() -> None:
    template = POOL.replace("chat", "{{ .Release.Name }}")

    result = in_folder(
        c__Chart="name: c", c__templates__pool=template, c__templates__plain=POOL, other=template
    )

    assert [(skipped.at.file, skipped.reason) for skipped in result.skipped] == [
        ("d/c/Chart.yaml", SkipReason.NO_OBJECT),
        ("d/c/templates/pool.yaml", SkipReason.HELM_TEMPLATE),
    ]
    assert [(finding.code, finding.at) for finding in result.findings] == [
        ("GP1004", ("d/other.yaml", 3, 18))
    ]
    assert len(result.objects) == 1


def test_a_named_template_of_a_chart_is_an_error() -> None:
    in_folder(c__Chart="name: c", c__templates__pool=POOL.replace("chat", "{{ .Release.Name }}"))

    result = read_manifests(["d/c/templates/pool.yaml"], lambda: b"")

    assert [finding.code for finding in result.findings] == ["GP1004"]


def test_findings_come_in_the_order_of_the_files() -> None:
    Path("z.yaml").write_text("a: [")
    Path("a.yaml").write_text("a: [")

    result = read_manifests(["z.yaml", "missing.yaml", "a.yaml"], lambda: b"")

    assert [finding.at.file for finding in result.findings] == ["z.yaml", "a.yaml", "missing.yaml"]
    assert result.files == ("z.yaml", "a.yaml")


@pytest.mark.parametrize("paths", [[], ["empty"], ["empty/empty.yaml"]])
def test_nothing_is_found_in_nothing(paths: list[str]) -> None:
    Path("empty").mkdir()
    if paths and paths[0] != "empty":
        Path("empty/empty.yaml").touch()

    result = read_manifests(paths, lambda: b"")

    assert (result.objects, result.findings, result.documents, result.kinds) == ((), (), 0, {})


def test_a_file_of_nothing_but_mistakes_is_left_at_some_point() -> None:
    result = from_stdin("a: 1\n---\n" * 5_000)

    assert len(result.findings) == MAX_FINDINGS + 2
    assert any("the rest is not read" in finding.message for finding in result.findings)
    assert result.documents == MAX_FINDINGS + 1


def test_values_are_counted_only_in_what_is_kept(tmp_path: Path) -> None:
    large = "---\nkind: {kind}\napiVersion: {group}\nmetadata: {{name: a}}\nspec: [" + "1, " * 160_000 + "]\n"
    other = large.format(kind="Deployment", group="apps/v1") * 2
    own = large.format(kind="NodePool", group="karpenter.sh/v1")
    (tmp_path / "a.yaml").write_text(other + own, "utf-8")
    (tmp_path / "b.yaml").write_text(own * 3, "utf-8")

    found = read_manifests([str(tmp_path / "a.yaml")], bytes)
    stopped = read_manifests([str(tmp_path / "b.yaml")], bytes)

    assert (found.findings, found.kinds) == ((), {"Deployment": 2, "NodePool": 1})
    assert [finding.message for finding in stopped.findings] == [
        "more than 300,000 values in the objects to check; the rest is not read"
    ]
    assert stopped.kinds == {"NodePool": 2}
