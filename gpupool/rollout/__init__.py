"""From a blueprint and a cluster to a plan, and from a plan to a changed cluster."""
