"""Offline validation of Karpenter objects: schema, CEL rules, controller rules, crashes, target version."""
