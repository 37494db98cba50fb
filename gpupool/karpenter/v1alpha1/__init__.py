"""The kinds of Karpenter's v1alpha1 API: NodeOverlay."""
