"""Migration hints: fixes for field names of other tools, such as eksctl and the Cluster Autoscaler."""

from gpupool.codes import Code
from gpupool.findings import Finding

_MINIMUM = "set `replicas: N` for a fixed number of nodes; a NodePool has no minimum and scales from zero"
_DESIRED = "set `replicas: N` for a fixed number of nodes; otherwise Karpenter follows the pods"
_NODE_POOLS = "set each group under `pools`; gpupool renders Karpenter NodePools, not node groups"
_STATIC_MANIFEST = "use the chart; the static manifest has no affinity and runs beside the chart"
_SHARING = "set `sharing: {timeSlicing: N}`; gpupool supports no other way to share GPUs"
_HINTS = {
    "minSize": _MINIMUM,
    "min_size": _MINIMUM,
    "maxSize": "set `limits: {nodes: N}`",
    "max_size": "set `limits: {nodes: N}`",
    "desiredSize": _DESIRED,
    "desiredCapacity": _DESIRED,
    "scalingConfig": "set `limits: {nodes: N}`, or `replicas: N` for a fixed number of nodes",
    "instanceType": "set `instances: {types: …}`",
    "instanceTypes": "set `instances: {types: …}`",
    "nodeRole": "set `role` in the node class, with the role's name and not its ARN",
    "nodeGroups": _NODE_POOLS,
    "managedNodeGroups": _NODE_POOLS,
    "autoScalingGroup": _NODE_POOLS,
    "launchTemplate": "set its fields under `nodeClass`; Karpenter creates its own launch templates",
    "Resources": "set each node group under `pools`; gpupool does not read CloudFormation",
    "staticManifest": _STATIC_MANIFEST,
    "manifest": _STATIC_MANIFEST,
    "nodeSelector": "set `labels` for the nodes' labels, and `instances` to select instance types",
    "tolerations": "set `taints` in the pool; tolerations belong to workloads and charts",
    "autoMode": "remove it; gpupool renders EC2NodeClass and does not support EKS Auto Mode's NodeClass",
    "resourceClaims": "use device plugins; Karpenter on AWS does not support dynamic resource allocation yet",
    "clusterAutoscaler": "remove it; gpupool renders nothing for the Cluster Autoscaler",
    "fabric": "remove it; Karpenter attaches EFA when a pod requests `vpc.amazonaws.com/efa`",
    "mps": _SHARING,
    "mig": _SHARING,
}


def foreign_answer(name: str) -> str:
    """Return the fix for a field name of another tool, or an empty text where there is no hint."""
    return _HINTS.get(name, "")


def add_hint(finding: Finding) -> Finding:
    """Return the finding about an unknown field with the migration hint as its fix, if there is one."""
    if finding.code != Code.UNKNOWN_KEY:
        return finding
    hint = foreign_answer(finding.path.rpartition(".")[2])
    return finding._replace(fix=hint) if hint else finding
