"""Placeholders that nobody rendered: one finding for each, where it stands, and none where it is text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gpupool.findings import merge_findings
from gpupool.manifests.placeholders import MAX_PLACES
from gpupool.manifests.read import read_manifests

if TYPE_CHECKING:
    from gpupool.manifests.result import Manifests

HEAD = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: chat}\n"


def read(spec: str, kind: str = "NodePool") -> Manifests:
    head = (
        HEAD
        if kind == "NodePool"
        else HEAD.replace("NodePool", kind).replace("karpenter.sh", "karpenter.k8s.aws")
    )
    return read_manifests(["-"], f"{head}{spec}".encode)


@pytest.mark.parametrize(
    ("spec", "places", "fix"),
    [
        ("spec: {{ .Values.spec }}\n", [(4, 7)], "helm template"),
        ("spec:\n  {{- if .Values.a }}\n  weight: 1\n  {{- end }}\n", [(5, 3), (7, 3)], "helm template"),
        ("spec:\n{% for a in b %}\n  weight: 1\n{% endfor %}\n", [(5, 1), (7, 1)], "Jinja"),
        ("spec: [${A}, b]\n", [(4, 8)], "envsubst"),
        ("spec: {a: {{ b }}, c: ${D}}\n", [(4, 11), (4, 23)], "helm template"),
        (
            "spec:\n  a: {{ b }}\n  c: '{{ d }}'\n  # {{ e }}\n  f: \"it's {{ g }}\"\n",
            [(5, 6)],
            "helm template",
        ),
    ],
)
def test_placeholders_that_break_a_document_are_named_in_place_of_what_they_break(
    spec: str, places: list[tuple[int, int]], fix: str
) -> None:
    result = read(spec)

    assert [(finding.code, finding.at[1:]) for finding in result.findings] == [
        ("GP1004", at) for at in places
    ]
    assert fix in result.findings[0].fix
    assert result.objects == ()


@pytest.mark.parametrize(
    ("spec", "place", "path", "words"),
    [
        ("spec: {weight: '{{ .Values.w }}'}", (4, 16), "spec.weight", "Helm or Jinja"),
        ("spec: {a: [{b: 'x-${ARCH}-y'}]}", (4, 16), "spec.a[0].b", "unrendered placeholder of envsubst"),
        ("spec: {limits: {'${KEY}': 1}}", (4, 17), "spec.limits.${KEY}", "envsubst"),
        ('spec: {a: "{% x %}"}', (4, 11), "spec.a", "unrendered statement of a Jinja template"),
        ("spec: {a: 'b', c: '${D:-e}'}", (4, 19), "spec.c", "envsubst"),
    ],
)
def test_placeholders_that_would_be_taken_as_text_are_named(
    spec: str, place: tuple[int, int], path: str, words: str
) -> None:
    result = read(spec)

    (finding,) = result.findings
    assert (finding.code, finding.at[1:], finding.path, finding.object) == (
        "GP1004",
        place,
        path,
        "NodePool/chat",
    )
    assert words in finding.message
    assert len(result.objects) == 1


@pytest.mark.parametrize(
    "spec",
    [
        "spec:\n  userData: |\n    #!/bin/sh\n    echo ${HOME} {{ x }}\n",
        "spec: {a: $HOME, b: '{', c: '$(X)', d: '}}'}\n",
    ],
)
def test_scripts_and_other_signs_are_text(spec: str) -> None:
    assert read(spec, "EC2NodeClass").findings == ()


def test_the_copy_that_kubectl_keeps_of_a_script_is_text() -> None:
    text = HEAD.replace(
        "{name: chat}",
        '{name: a, annotations: {kubectl.kubernetes.io/last-applied-configuration: \'{"a": "${B}"}\'}}',
    )

    assert read_manifests(["-"], text.encode).findings == ()


def test_placeholders_in_quotes_break_nothing() -> None:
    (finding,) = read("spec: {a: '{{ b }}', c: 'open\n").findings

    assert finding.code == "GP1002"
    assert "is never closed" in finding.message


def test_a_placeholder_of_envsubst_explains_no_mistake_of_another_line() -> None:
    (finding,) = read("spec:\n  a: ${B}\n  c: 'open\n").findings

    assert finding.code == "GP1002"


def test_only_so_many_placeholders_are_named() -> None:
    broken = read("".join(f"k{index}: {{{{ x }}}}\n" for index in range(50)))
    text = read("".join(f"k{index}: '{{{{ x }}}}'\n" for index in range(50)))

    for result in (broken, text):
        assert len(result.findings) == MAX_PLACES
        (one,) = merge_findings(result.findings)
        assert len(one.also) == MAX_PLACES - 1


def test_a_file_of_nothing_but_brackets_is_no_long_search() -> None:
    (finding,) = read("{" * 1_000_000).findings

    assert finding.code == "GP1002"


def test_placeholders_in_json_are_named_too() -> None:
    text = '{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "spec": {"a": "${B}"}}'

    (finding,) = read_manifests(["-"], text.encode).findings

    assert (finding.code, finding.at.column, finding.path) == ("GP1004", 69, "spec.a")
