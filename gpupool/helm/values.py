"""Values of the charts, as a blueprint can set them."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, JsonValue

from gpupool.shapes.annotations import Matching
from gpupool.shapes.base import Flag, Shape, Whole

JsonMap: TypeAlias = dict[str, JsonValue]
ChartVersion: TypeAlias = Annotated[
    str, Matching(r"^v?[0-9]+\.[0-9]+\.[0-9]+", 'a chart version such as "0.20.0"')
]
ChartNamespace: TypeAlias = Annotated[str, Matching(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a namespace")]
ReleaseName: TypeAlias = Annotated[str, Matching(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a release name")]
MigStrategy: TypeAlias = Literal["none", "single", "mixed"]


class PluginConfig(Shape):
    """Configurations by name; a node selects one by the label `nvidia.com/device-plugin.config`."""

    name: str | None = None
    """An existing ConfigMap, instead of `map`."""

    map: dict[str, str | None] | None = None
    """Configurations by name, each a YAML text."""

    default: str | None = None
    """The configuration of nodes without the label."""

    fallback_strategies: list[Literal["named", "single", "empty"]] | None = None
    """How the default is found where `default` is empty."""


class Component(Shape):
    """One component of the chart."""

    enabled: Flag | None = None
    """Whether it runs."""

    enable_host_network: Flag | None = None
    """Whether it uses the host network; from chart 0.20 on."""


class MPS(Component):
    """The MPS control daemon."""

    root: str | None = None
    """The directory of MPS' pipes on the node."""

    enable_host_pid: Flag | None = Field(None, alias="enableHostPID")
    """Whether it uses the host's process namespace."""


class Image(Shape):
    """The plugin's container image."""

    repository: str | None = None
    """The image without its tag."""

    tag: str | None = None
    """The tag. Default: the chart's version."""

    pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = None
    """When the image is pulled."""


class NvidiaDevicePluginValues(Shape):
    """Values of the chart; they override the values that gpupool generates."""

    config: PluginConfig | None = None
    """The plugin's configurations; gpupool generates one for each `sharing` value."""

    mig_strategy: MigStrategy | None = None
    """How MIG devices are exposed."""

    fail_on_init_error: Flag | None = None
    """false: a broken driver goes unnoticed, because the plugin waits forever. Fails with chart 0.17.0."""

    device_list_strategy: str | list[str] | None = None
    """How devices are passed to containers."""

    device_id_strategy: Annotated[Literal["uuid", "index"] | None, Field(alias="deviceIDStrategy")] = None
    """How devices are identified in containers."""

    device_discovery_strategy: Literal["auto", "nvml", "tegra"] | None = None
    """How GPUs are found."""

    nvidia_driver_root: str | None = None
    """The driver's root directory on the node."""

    compat_with_cpu_manager: Annotated[Flag | None, Field(alias="compatWithCPUManager")] = None
    """Whether the plugin runs privileged, for the kubelet's static CPU policy."""

    gdrcopy_enabled: Flag | None = None
    """Whether GDRCopy devices are exposed."""

    gds_enabled: Flag | None = None
    """Whether GPUDirect Storage devices are exposed."""

    mofed_enabled: Flag | None = None
    """Whether Mellanox devices are exposed."""

    node_selector: dict[str, str | None] | None = None
    """Additional required node labels."""

    affinity: JsonMap | None = None
    """Replaces the affinity that gpupool generates from the pools."""

    tolerations: list[JsonMap] | None = None
    """Replaces the tolerations that gpupool generates from the pools' taints."""

    resources: JsonMap | None = None
    """Requests and limits of each container."""

    priority_class_name: str | None = None
    """The priority class of the plugin's pods."""

    runtime_class_name: str | None = None
    """The runtime class of the plugin's pods."""

    update_strategy: JsonMap | None = None
    """How the DaemonSet is updated."""

    image: Image | None = None
    """The container image."""

    image_pull_secrets: list[JsonMap] | None = None
    """Secrets for a private registry."""

    pod_annotations: dict[str, str | None] | None = None
    """Annotations of the plugin's pods."""

    pod_security_context: JsonMap | None = None
    """The security context of the plugin's pods."""

    security_context: JsonMap | None = None
    """The security context of the plugin's containers."""

    name_override: str | None = None
    """Replaces the chart's name in object names."""

    fullname_override: str | None = None
    """Replaces object names."""

    namespace_override: str | None = None
    """Replaces the release's namespace."""

    allow_default_namespace: Flag | None = None
    """Whether the namespace `default` is allowed; the chart rejects it by default."""

    legacy_daemonset_api: Annotated[Flag | None, Field(alias="legacyDaemonsetAPI")] = None
    """For Kubernetes before 1.16; do not set it."""

    device_plugin: Component | None = None
    """The device plugin itself."""

    gfd: Component | None = None
    """GPU feature discovery, which sets node labels for GPUs."""

    mps: MPS | None = None
    """The MPS control daemon."""

    nfd: JsonMap | None = None
    """Values of the node feature discovery subchart."""

    cdi: JsonMap | None = None
    """Container device interface."""

    log_level: Whole | None = None
    """How much the plugin logs."""
