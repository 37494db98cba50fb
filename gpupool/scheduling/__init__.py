"""Offline model of Karpenter's scheduler: instance types of a pool, limits, cost and pod placement."""
