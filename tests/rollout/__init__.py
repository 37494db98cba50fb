"""What the rollout makes of a cluster's answers, without a cluster."""
