"""Karpenter's disruption budgets and the words of windows, minute by minute and independent of the compiler."""
