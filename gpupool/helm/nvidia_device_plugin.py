"""Values of NVIDIA's device plugin chart, typed: the chart itself ignores a misspelt key in silence."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, JsonValue

from gpupool.shapes.base import Flag, Shape, Whole

JsonMap: TypeAlias = dict[str, JsonValue]
MigStrategy: TypeAlias = Literal["none", "single", "mixed"]


class PluginConfig(Shape):
    """The plugin's configurations by name; a node picks one by the label nvidia.com/device-plugin.config."""

    name: str | None = None
    """A ConfigMap that exists already, in place of `map`."""

    map: dict[str, str | None] | None = None
    """Configurations by name, each a YAML text."""

    default: str | None = None
    """The configuration of nodes without the label."""

    fallback_strategies: list[Literal["named", "single", "empty"]] | None = None
    """How the default is found where `default` is empty."""


class Component(Shape):
    """One of the chart's programs."""

    enabled: Flag | None = None
    """Whether it runs."""

    enable_host_network: Flag | None = None
    """Whether it uses the machine's network; from chart 0.20 on."""


class MPS(Component):
    """The MPS control daemon."""

    root: str | None = None
    """The folder of MPS' pipes on the machine."""

    enable_host_pid: Flag | None = Field(None, alias="enableHostPID")
    """Whether it sees the machine's processes."""


class Image(Shape):
    """The plugin's container image."""

    repository: str | None = None
    """The image without its tag."""

    tag: str | None = None
    """The tag; the chart's own version unless said."""

    pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = None
    """When the image is pulled."""


class NvidiaDevicePluginValues(Shape):
    """What may be said under `values`; it merges over the values that gpupool generates."""

    config: PluginConfig | None = None
    """The plugin's configurations; gpupool generates one for each way of sharing."""

    mig_strategy: MigStrategy | None = None
    """How MIG devices are shown."""

    fail_on_init_error: Flag | None = None
    """false hides a broken driver: the plugin idles for ever. Refused by chart 0.17.0."""

    device_list_strategy: str | list[str] | None = None
    """How devices are handed to containers."""

    device_id_strategy: Annotated[Literal["uuid", "index"] | None, Field(alias="deviceIDStrategy")] = None
    """How devices are named to containers."""

    device_discovery_strategy: Literal["auto", "nvml", "tegra"] | None = None
    """How GPUs are found."""

    nvidia_driver_root: str | None = None
    """Where the driver lies on the machine."""

    compat_with_cpu_manager: Annotated[Flag | None, Field(alias="compatWithCPUManager")] = None
    """Run privileged, for the kubelet's static CPU policy."""

    gdrcopy_enabled: Flag | None = None
    """Hand out GDRCopy devices."""

    gds_enabled: Flag | None = None
    """Hand out GPUDirect Storage devices."""

    mofed_enabled: Flag | None = None
    """Hand out Mellanox devices."""

    node_selector: dict[str, str | None] | None = None
    """More node labels that have to be there."""

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
    """Allows the namespace `default`, which the chart refuses otherwise."""

    legacy_daemonset_api: Annotated[Flag | None, Field(alias="legacyDaemonsetAPI")] = None
    """For Kubernetes before 1.16; leave it out."""

    device_plugin: Component | None = None
    """The device plugin itself."""

    gfd: Component | None = None
    """GPU feature discovery, which labels nodes by their GPUs."""

    mps: MPS | None = None
    """The MPS control daemon."""

    nfd: JsonMap | None = None
    """Values of the node feature discovery subchart."""

    cdi: JsonMap | None = None
    """Container device interface."""

    log_level: Whole | None = None
    """How much the plugin logs."""
