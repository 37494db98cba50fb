"""The EC2NodeClass CRD's CEL rules over kubelet settings."""

from collections.abc import Collection, Iterator
from functools import partial
from typing import Final, get_args

from gpupool.codes import Code
from gpupool.karpenter.kubelet_keys import EvictionSignal, ReservedResource
from gpupool.karpenter.validation.rules import Complaint, Rule, has, number, present
from gpupool.shapes.words import nearest
from gpupool.yamlio.nodes import Node, mapping, place

SIGNALS: Final = get_args(EvictionSignal)
RESERVED: Final = get_args(ReservedResource)
_SOFT, _GRACE = "evictionSoft", "evictionSoftGracePeriod"


def thresholds_crossed(kubelet: Node) -> Iterator[Complaint]:
    """Images are removed from the high mark down to the low one."""
    high, low = number(kubelet, "imageGCHighThresholdPercent"), number(kubelet, "imageGCLowThresholdPercent")
    if high is not None and low is not None and high <= low:
        message = f"`imageGCHighThresholdPercent: {high}` is not above `imageGCLowThresholdPercent: {low}`"
        at = place(has(kubelet, "imageGCHighThresholdPercent")[0])
        yield Complaint(at, message, "raise the high threshold, or lower the low one")


def unmatched(there: str, other: str, kubelet: Node) -> Iterator[Complaint]:
    """Each signal of one map stands in the other."""
    known = mapping(present(kubelet, other))
    for signal, value in mapping(present(kubelet, there)).items():
        if signal not in known:
            message = f"`{signal}` is set in `{there}` but not in `{other}`"
            yield Complaint(value.key or value.at, message, f"add it to `{other}`, or remove it here")


def unknown_key(known: Collection[str], settings: Node) -> Iterator[Complaint]:
    """Only known resources and signals are keys."""
    for key, value in mapping(settings).items():
        if key not in known:
            near = nearest(key, tuple(known))
            fix = f"did you mean `{near}`?" if near else f"use one of {', '.join(known)}"
            yield Complaint(
                value.key or value.at, f"unknown key `{key}`: the kubelet does not support it here", fix
            )


def negative(reserved: Node) -> Iterator[Complaint]:
    """Nothing negative is kept back."""
    for key, value in mapping(reserved).items():
        if str(value.value).startswith("-"):
            yield Complaint(place(value), f"`{key}: {value.value}` is negative", "set 0 or more")


RULES: Final = (
    Rule(Code.IMAGE_THRESHOLDS, "spec kubelet", thresholds_crossed),
    Rule(Code.SOFT_EVICTION, "spec kubelet", partial(unmatched, _SOFT, _GRACE)),
    Rule(Code.SOFT_EVICTION, "spec kubelet", partial(unmatched, _GRACE, _SOFT)),
    *(
        Rule(Code.KUBELET_KEY, f"spec kubelet {name}", partial(unknown_key, SIGNALS))
        for name in ("evictionHard", _SOFT, _GRACE)
    ),
    *(
        Rule(Code.KUBELET_KEY, f"spec kubelet {name}", partial(unknown_key, RESERVED))
        for name in ("kubeReserved", "systemReserved")
    ),
    *(
        Rule(Code.NEGATIVE_RESERVE, f"spec kubelet {name}", negative)
        for name in ("kubeReserved", "systemReserved")
    ),
)
"""Each rule of the CRD, at the path where it stands there."""
