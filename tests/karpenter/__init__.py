"""Tests of Karpenter's types, and the CRDs that they are held against."""
