"""Chart releases: which chart, which version, where it goes. gpupool writes values and never runs Helm."""

from typing import Annotated

from gpupool.helm.nvidia_device_plugin import NvidiaDevicePluginValues
from gpupool.shapes.annotations import Matching
from gpupool.shapes.base import Shape


class Release(Shape):
    """One chart in the cluster."""

    version: (
        Annotated[str, Matching(r"^v?[0-9]+\.[0-9]+\.[0-9]+", 'a chart version such as "0.20.0"')] | None
    ) = None
    """The chart's version."""

    namespace: Annotated[str, Matching(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a namespace")] | None = None
    """The namespace to install it in."""

    release: Annotated[str, Matching(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a release name")] | None = None
    """The name of the Helm release."""

    repository: str | None = None
    """The chart's repository: an https or oci address."""


class NvidiaDevicePluginRelease(Release):
    """NVIDIA's device plugin, which exposes GPUs to Kubernetes."""

    values: NvidiaDevicePluginValues | None = None
    """Values that override those that gpupool generates; `null` removes one."""
