"""Helm releases in a blueprint: version, namespace and values of a chart. gpupool never runs Helm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpupool.shapes.fields import Fields, One, Part

if TYPE_CHECKING:
    from gpupool.helm.values import ChartNamespace, ChartVersion, ReleaseName
    from gpupool.shapes.base import Flag, Text


class ChartRelease(Fields):
    """One chart in the cluster."""

    type_names = "gpupool.helm.values"

    version: One[ChartVersion] = One()
    """The chart's version."""

    namespace: One[ChartNamespace] = One()
    """The namespace to install it in."""

    release: One[ReleaseName] = One()
    """The name of the Helm release."""

    repository: One[Text] = One()
    """The chart's repository: an https or oci address."""


class NvidiaDevicePluginValues(Fields):
    """Values of the chart; they override the values that gpupool generates."""

    type_names = "gpupool.helm.values"
    inherits = "gpupool.helm.values:NvidiaDevicePluginValues"

    fail_on_init_error: One[Flag] = One(is_inherited=True)


class NvidiaDevicePluginRelease(ChartRelease):
    """NVIDIA's device plugin, which exposes GPUs to Kubernetes."""

    values = Part(NvidiaDevicePluginValues)
    """Values that override those that gpupool generates; `null` removes one."""
