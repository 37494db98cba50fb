"""Plans from a blueprint and a live cluster, and verification of saved plans."""
