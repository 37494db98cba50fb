"""Helm charts that gpupool renders values for."""

from typing import NamedTuple


class Chart(NamedTuple):
    """A chart that gpupool renders values for, with the defaults of its release.

    Source: the chart's own repository index, read 2026-08.
    """

    name: str
    repository: str
    version: str
    release: str
    namespace: str


NVIDIA_DEVICE_PLUGIN = Chart(
    name="nvidia-device-plugin",
    repository="https://nvidia.github.io/k8s-device-plugin",
    version="0.20.0",
    release="nvidia-device-plugin",
    namespace="kube-system",
)
