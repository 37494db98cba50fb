"""The way to the real server that a test takes in its own process."""

from pathlib import Path

from gpupool.cluster.deadline import Deadline
from gpupool.rollout.connection import ClusterOptions, Pins, ReachedCluster, reach


def reached(kubeconfig: Path, seconds: float = 60.0) -> ReachedCluster:
    """Reach a cluster; a command with `--timeout` so many seconds would do the same."""
    return reach(ClusterOptions(kubeconfig=str(kubeconfig), timeout=seconds), Pins(), Deadline(seconds))
