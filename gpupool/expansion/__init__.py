"""Expansion of a blueprint to Karpenter's fields: layers merged, defaults and tiers expanded."""
