"""How an instance is launched: its metadata service, network interfaces and CPU."""

from typing import Annotated, Literal

from pydantic import Field

from gpupool.karpenter.scalars import Count, Switch
from gpupool.shapes.base import Shape, Whole


class MetadataOptions(Shape):
    """The instance metadata service (IMDS)."""

    http_endpoint: Switch | None = None
    """Whether the service is on. Default: `enabled`."""

    http_protocol_ipv6: Switch | None = Field(default=None, alias="httpProtocolIPv6")
    """Whether the service has an IPv6 address. Default: `disabled`."""

    http_put_response_hop_limit: Annotated[Whole, Field(ge=1, le=64)] | None = None
    """Maximum network hops of a response, 1 to 64. Default: 1, which does not reach pods; pods need 2."""

    http_tokens: Literal["required", "optional"] | None = None
    """Whether a session token (IMDSv2) is required. Default: `required`."""


class NetworkInterface(Shape):
    """One network interface of the instance. Card 0, device 0 is required, with type `interface`."""

    network_card_index: Count
    """Network card, from 0; instance types without it are not considered."""

    device_index: Count
    """Device index on that card, from 0."""

    interface_type: Literal["interface", "efa-only"]
    """`interface` carries IP traffic, `efa-only` carries EFA and no IP address; one of these per card."""


class ConnectionTracking(Shape):
    """Idle timeouts of connections that security groups track, in seconds; at least one is required."""

    tcp_established_timeout: Annotated[Whole, Field(ge=60, le=432000)] | None = None
    """Seconds for established TCP connections, 60 to 432000."""

    udp_stream_timeout: Annotated[Whole, Field(ge=60, le=180)] | None = None
    """Seconds for UDP flows with more than one request and response, 60 to 180."""

    udp_timeout: Annotated[Whole, Field(ge=30, le=60)] | None = None
    """Seconds for UDP flows in one direction or with a single response, 30 to 60."""


class CPUOptions(Shape):
    """Options of the instance's CPU."""

    nested_virtualization: Switch | None = None
    """Whether the instance can run virtual machines, if its type supports that."""
