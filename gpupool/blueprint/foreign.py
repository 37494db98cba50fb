"""Words that people bring from other tools, or that a later version will know, and what to say here."""

from gpupool.codes import Code
from gpupool.findings import Finding

_NODE_GROUP = "a NodePool has no minimum: it scales from zero; say `limits: {nodes: N}` for the most"
_NODE_POOLS = "gpupool renders Karpenter NodePools, not groups of machines: write each under `pools`"
_STATIC_MANIFEST = "the static manifest has no affinity and would run beside the chart: use the chart"
_ANSWERS = {
    "minSize": f"{_NODE_GROUP}, or `replicas: N` for a fixed number of nodes",
    "min_size": f"{_NODE_GROUP}, or `replicas: N` for a fixed number of nodes",
    "maxSize": "say `limits: {nodes: N}`",
    "max_size": "say `limits: {nodes: N}`",
    "desiredSize": "Karpenter follows the pods; `replicas: N` keeps a fixed number of nodes",
    "desiredCapacity": "Karpenter follows the pods; `replicas: N` keeps a fixed number of nodes",
    "scalingConfig": "say `limits: {nodes: N}`, or `replicas: N` for a fixed number of nodes",
    "instanceType": "say `instances: {types: …}`",
    "instanceTypes": "say `instances: {types: …}`",
    "nodeRole": "say `role` in the node class, with the role's name and not its ARN",
    "nodeGroups": _NODE_POOLS,
    "managedNodeGroups": _NODE_POOLS,
    "autoScalingGroup": _NODE_POOLS,
    "launchTemplate": "Karpenter makes its own launch templates: say what it holds under `nodeClass`",
    "Resources": "gpupool does not read CloudFormation: write each group of machines under `pools`",
    "staticManifest": _STATIC_MANIFEST,
    "manifest": _STATIC_MANIFEST,
    "nodeSelector": "labels of the nodes stand under `labels`; which machines under `instances`",
    "tolerations": "the pool says `taints`; tolerations belong to workloads and charts",
    "autoMode": "gpupool renders EC2NodeClass; EKS Auto Mode's NodeClass is out of its scope",
    "resourceClaims": "dynamic allocation does not work with Karpenter on AWS yet: use device plugins",
    "clusterAutoscaler": "gpupool is for Karpenter; it renders nothing for the Cluster Autoscaler",
    "fabric": "kept for later; Karpenter attaches EFA when a pod asks for vpc.amazonaws.com/efa",
    "mps": "this version shares GPUs by time-slicing only: `sharing: {timeSlicing: N}`",
    "mig": "this version shares GPUs by time-slicing only: `sharing: {timeSlicing: N}`",
}


def foreign_answer(word: str) -> str:
    """Give what to say in place of a word from elsewhere; an empty text where it is none."""
    return _ANSWERS.get(word, "")


def foreign_word(finding: Finding) -> Finding:
    """Give an unknown key's finding with the answer for its word, where there is one."""
    if finding.code != Code.UNKNOWN_KEY:
        return finding
    answer = foreign_answer(finding.path.rpartition(".")[2])
    return finding._replace(fix=answer) if answer else finding
