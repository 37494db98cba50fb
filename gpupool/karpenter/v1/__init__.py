"""The kinds of Karpenter's v1 API: NodePool and EC2NodeClass."""
