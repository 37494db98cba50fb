"""From a blueprint and a live cluster to a plan, and whether a saved plan is still true."""
