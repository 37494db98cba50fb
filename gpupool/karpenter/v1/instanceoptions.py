"""How an instance is launched: its metadata service, network interfaces and CPU."""

from typing import Annotated, Literal

from pydantic import Field

from gpupool.karpenter.scalars import Count, Switch
from gpupool.shapes.base import Shape, Whole


class MetadataOptions(Shape):
    """The instance metadata service (IMDS)."""

    http_endpoint: Switch | None = None
    """Whether the service is on; absent means `enabled`."""

    http_protocol_ipv6: Switch | None = Field(default=None, alias="httpProtocolIPv6")
    """Whether the service has an IPv6 address; absent means `disabled`."""

    http_put_response_hop_limit: Annotated[Whole, Field(ge=1, le=64)] | None = None
    """Network hops that the answer may take, 1 to 64; absent means 1, which pods can't reach. Pods need 2."""

    http_tokens: Literal["required", "optional"] | None = None
    """Whether a session token (IMDSv2) is demanded; absent means `required`."""


class NetworkInterface(Shape):
    """One network interface of the instance. Card 0, device 0 has to be there, as `interface`."""

    network_card_index: Count
    """Which network card, from 0; instance types that lack it are no longer considered."""

    device_index: Count
    """Which place on that card, from 0."""

    interface_type: Literal["interface", "efa-only"]
    """`interface` carries IP traffic, `efa-only` carries EFA and no IP address; one of these per card."""


class ConnectionTracking(Shape):
    """How long idle connections stay in the security groups' memory, in seconds; one at least."""

    tcp_established_timeout: Annotated[Whole, Field(ge=60, le=432000)] | None = None
    """Seconds for established TCP connections, 60 to 432000."""

    udp_stream_timeout: Annotated[Whole, Field(ge=60, le=180)] | None = None
    """Seconds for UDP flows with more than one request and answer, 60 to 180."""

    udp_timeout: Annotated[Whole, Field(ge=30, le=60)] | None = None
    """Seconds for UDP flows in one direction or with a single answer, 30 to 60."""


class CPUOptions(Shape):
    """Options of the instance's CPU."""

    nested_virtualization: Switch | None = None
    """Whether virtual machines may run on the instance, where its type can do that."""
