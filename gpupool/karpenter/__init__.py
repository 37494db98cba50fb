"""Karpenter's own types, under the names that Karpenter gives them."""
