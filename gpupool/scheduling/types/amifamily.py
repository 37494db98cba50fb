"""AMI families, and their effect on a node's capacity.

Source: pkg/providers/amifamily of Karpenter's AWS provider v1.14.1.
"""

from typing import Final, NamedTuple

from gpupool.karpenter.quantities import Amount, parse_amount

DEFAULT_VOLUME: Final = parse_amount("20Gi")


class AmiFamily(NamedTuple):
    """The settings of one AMI family."""

    name: str
    device: str = "/dev/xvda"
    """The device whose volume pods write to; empty if it is unknown."""

    volume: Amount = DEFAULT_VOLUME
    """Default size of that volume in bytes."""

    has_eni_limited_memory: bool = True
    """Whether the kubelet's memory depends on the addresses of the interfaces, not on the allowed pods."""

    has_eni_limited_pods: bool = True
    """Whether interfaces limit the pods; otherwise there are 110."""

    has_pods_per_core: bool = True
    """Whether `kubelet.podsPerCore` is supported."""

    windows_build: str = ""


_WINDOWS: Final = {"2019": "10.0.17763", "2022": "10.0.20348", "2025": "10.0.26100"}
_FAMILIES: Final = {
    family.name: family
    for family in (
        AmiFamily("AL2"),
        AmiFamily("AL2023"),
        AmiFamily("Bottlerocket", "/dev/xvdb", has_eni_limited_memory=False, has_pods_per_core=False),
        AmiFamily("Custom", ""),
        *(
            AmiFamily(
                f"Windows{year}",
                "/dev/sda1",
                parse_amount("50Gi"),
                has_eni_limited_memory=False,
                has_eni_limited_pods=False,
                windows_build=build,
            )
            for year, build in _WINDOWS.items()
        ),
    )
}
NAMES: Final = tuple(_FAMILIES)


def get_ami_family(name: str) -> AmiFamily:
    """Return a family by its name; Karpenter treats an unknown one as AL2."""
    return _FAMILIES.get(name) or AmiFamily(name)


def find_family_of_alias(alias: str) -> str:
    """Return the family of an alias such as `al2023@v20260810`; empty if it is unknown."""
    family = alias.partition("@")[0]
    return next((name for name in NAMES if name.lower() == family and name != "Custom"), "")
