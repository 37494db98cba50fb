"""Small valid objects that a test changes in one place."""

from typing import Any

import yaml

NODE_POOL = b"""\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: rig
spec:
  limits:
    nvidia.com/gpu: 8
    cpu: "64"
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: rig}
      requirements:
        - {key: karpenter.k8s.aws/instance-gpu-count, operator: Gt, values: ["0"]}
      taints:
        - {key: nvidia.com/gpu, effect: NoSchedule}
"""
EC2_NODE_CLASS = b"""\
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: rig
spec:
  role: KarpenterNodeRole
  amiSelectorTerms: [{alias: al2023@v20260801}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: rig}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: rig}}]
"""


def changed(text: bytes, old: bytes, new: bytes) -> bytes:
    """Replace one piece of an object's text, which has to be there."""
    assert text.count(old) == 1
    return text.replace(old, new)


def as_yaml(found: dict[str, Any]) -> bytes:
    """Write a rendered object down again."""
    return yaml.safe_dump(found).encode()
