"""Accelerator names exactly as Karpenter labels them, and who makes them.

Source: the instance types of Karpenter v1.14.1's documentation and of EC2's DescribeInstanceTypes, 2026-10.
"""

from enum import StrEnum


class Maker(StrEnum):
    """Who makes an accelerator, in the words of the blueprint."""

    NVIDIA = "nvidia"
    AMD = "amd"
    HABANA = "habana"
    NEURON = "neuron"
    QUALCOMM = "qualcomm"


MAKERS: dict[str, Maker] = {
    **dict.fromkeys(
        ("a10g", "a100", "b200", "b300", "h100", "h200", "k80", "l4", "l40s", "rtx-pro-4500",
         "rtx-pro-server-6000", "t4", "t4g", "v100"),
        Maker.NVIDIA,
    ),
    "radeon-pro-v520": Maker.AMD,
    "gaudi-hl-205": Maker.HABANA,
    **dict.fromkeys(("inferentia", "inferentia2", "trainium", "trainium2"), Maker.NEURON),
    "qualcomm-ai100": Maker.QUALCOMM,
}  # fmt: skip

GPU_MAKERS = (Maker.NVIDIA, Maker.AMD, Maker.HABANA)
"""Makers whose chips EC2 counts as GPUs; the others stand in the `instance-accelerator-*` labels."""

RESOURCES = {
    Maker.NVIDIA: "nvidia.com/gpu",
    Maker.AMD: "amd.com/gpu",
    Maker.HABANA: "habana.ai/gaudi",
    Maker.NEURON: "aws.amazon.com/neuron",
}
"""The resource that each maker's device plugin advertises and Karpenter models."""

_FAMILIES = {
    "g4ad": Maker.AMD, "dl1": Maker.HABANA, "dl2q": Maker.QUALCOMM,
}  # fmt: skip
_CATEGORIES = {
    "g": Maker.NVIDIA, "gr": Maker.NVIDIA, "p": Maker.NVIDIA, "inf": Maker.NEURON, "trn": Maker.NEURON,
}  # fmt: skip


def maker_of_category(category: str) -> Maker | None:
    """Give the maker of (nearly) all accelerators in an instance category, or None for CPU machines."""
    return _CATEGORIES.get(category)


def maker_of_family(family: str) -> Maker | None:
    """Give the maker of the accelerators in an instance family, or None for CPU machines."""
    letters = family[: next((index for index, char in enumerate(family) if char.isdigit()), len(family))]
    return _FAMILIES.get(family) or _CATEGORIES.get(letters)
