"""Pod scheduling: which pools accept a pod, why others reject it, and what is launched for it."""
