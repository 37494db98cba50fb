"""Karpenter's API types, label keys, values and scheduling rules, under Karpenter's own names."""
