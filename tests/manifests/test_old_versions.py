"""Objects of old versions: each field that moved, at its line, with where it went."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gpupool.manifests.read import read_manifests

if TYPE_CHECKING:
    from gpupool.findings import Finding


def findings(text: str) -> list[Finding]:
    result = read_manifests(["-"], text.encode)
    assert result.objects == ()
    return list(result.findings)


POOL = """\
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: chat}
spec:
  disruption:
    expireAfter: 720h
    consolidationPolicy: WhenUnderutilized
  template:
    spec:
      kubelet: {maxPods: 10}
      nodeClassRef:
        apiVersion: karpenter.k8s.aws/v1beta1
        kind: EC2NodeClass
        name: default
"""


def test_a_v1beta1_node_pool_names_each_field_that_moved() -> None:
    found = findings(POOL)

    assert [(finding.code, finding.at.line, finding.path) for finding in found] == [
        ("GP1006", 1, "apiVersion"),
        ("GP1006", 6, "spec.disruption.expireAfter"),
        ("GP1006", 7, "spec.disruption.consolidationPolicy"),
        ("GP1006", 10, "spec.template.spec.kubelet"),
        ("GP1006", 12, "spec.template.spec.nodeClassRef.apiVersion"),
    ]
    assert [finding.object for finding in found] == ["NodePool/chat"] * 5
    fixes = [finding.fix for finding in found]
    assert fixes[0] == "write `apiVersion: karpenter.sh/v1`"
    assert "spec.template.spec.expireAfter" in fixes[1]
    assert "WhenEmptyOrUnderutilized" in fixes[2]
    assert "`spec.kubelet` of the EC2NodeClass" in fixes[3]
    assert "group: karpenter.k8s.aws" in fixes[4]


def test_what_v1_has_too_is_no_finding() -> None:
    text = POOL.replace("WhenUnderutilized", "WhenEmpty").replace("    expireAfter: 720h\n", "")
    text = text.replace("      kubelet: {maxPods: 10}\n", "")

    assert [finding.path for finding in findings(text)] == [
        "apiVersion",
        "spec.template.spec.nodeClassRef.apiVersion",
    ]


def test_a_reference_without_a_kind_is_incomplete() -> None:
    text = "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nspec: {template: {spec: {nodeClassRef: {name: a}}}}"

    whole, reference = findings(text)

    assert whole.object == "NodePool"
    assert reference.path == "spec.template.spec.nodeClassRef"
    assert "kind: EC2NodeClass" in reference.fix


@pytest.mark.parametrize(
    ("spec", "paths", "fix"),
    [
        ("{amiFamily: AL2023}", ["apiVersion", "spec.amiFamily"], "alias: al2023@"),
        ("{amiFamily: Ubuntu}", ["apiVersion", "spec.amiFamily"], "a list with `alias`"),
        ("{amiFamily: AL2, amiSelectorTerms: [{id: ami-1}]}", ["apiVersion"], "karpenter.k8s.aws/v1"),
        ("{}", ["apiVersion"], "karpenter.k8s.aws/v1"),
    ],
)
def test_a_v1beta1_node_class_wants_images(spec: str, paths: list[str], fix: str) -> None:
    text = f"apiVersion: karpenter.k8s.aws/v1beta1\nkind: EC2NodeClass\nmetadata: {{name: a}}\nspec: {spec}"

    found = findings(text)

    assert [finding.path for finding in found] == paths
    assert fix in found[-1].fix


def test_a_provisioner_becomes_a_node_pool() -> None:
    text = """\
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: old}
spec:
  requirements: []
  taints: []
  startupTaints: []
  labels: {}
  annotations: {}
  kubeletConfiguration: {}
  providerRef: {name: a}
  provider: {}
  limits: {resources: {cpu: 1}}
  ttlSecondsUntilExpired: 1
  ttlSecondsAfterEmpty: 1
  consolidation: {enabled: true}
  weight: 1
"""

    found = findings(text)

    assert [finding.at.line for finding in found] == [1, *range(5, 17)]
    assert "`kind: NodePool`" in found[0].fix
    assert all(finding.fix for finding in found)


def test_a_node_template_becomes_a_node_class() -> None:
    text = """\
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: old}
spec:
  subnetSelector: {a: b}
  securityGroupSelector: {a: b}
  amiSelector: {a: b}
  launchTemplate: x
  amiFamily: AL2
"""

    found = findings(text)

    assert [finding.at.line for finding in found] == [1, 5, 6, 7, 8]
    assert "`kind: EC2NodeClass`" in found[0].fix
