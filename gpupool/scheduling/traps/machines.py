"""Lint rules about unexpected instance types."""

from collections.abc import Iterator
from typing import Final

from gpupool.codes import Code
from gpupool.karpenter import labels
from gpupool.scheduling.traps.trap import (
    Trap,
    TrapSubject,
    count_accelerators,
    format_count,
    info,
    list_first,
    list_names,
    warning,
)
from gpupool.scheduling.types.capacity import AMD, NVIDIA

_MANY_TIMES: Final = 4
"""The factor in price and in accelerators over the cheapest type from which a type is reported."""

_FEW_ON_SPOT: Final = 5


def find_fractional_gpus(subject: TrapSubject) -> Iterator[Trap]:
    """Find types with a fraction of a GPU."""
    fractional = [
        candidate
        for candidate in subject.launchable
        if candidate.kind.gpus and not count_accelerators(candidate)
    ]
    if fractional:
        have = "have" if len(fractional) > 1 else "has"
        message = (
            f"{list_names(fractional)} {have} a fraction of a GPU, which counts as 0: only pods that request "
            "no GPU land there"
        )
        fix = subject.fix("instances: {gpus: {above: 0}}", labels.INSTANCE_GPU_COUNT, "Gt", "0")
        yield warning(Code.FRACTIONAL_GPUS, message, subject.path(labels.INSTANCE_GPU_COUNT), fix)


def find_mixed_architectures(subject: TrapSubject) -> Iterator[Trap]:
    """Find arm64 types beside amd64 ones, such as g5g in the category g."""
    accelerated = [candidate for candidate in subject.launchable if count_accelerators(candidate)]
    arm = [candidate for candidate in accelerated if candidate.kind.arch == "arm64"]
    if arm and len(arm) < len(accelerated):
        message = (
            f"{list_names(arm)} {'are' if len(arm) > 1 else 'is'} arm64 and the others amd64; an image for "
            "one does not start on the other"
        )
        fix = subject.fix("arch: amd64", labels.ARCH, "In", "amd64")
        yield warning(Code.MIXED_ARCHITECTURES, message, subject.path(labels.ARCH), fix)


def find_large_types(subject: TrapSubject) -> Iterator[Trap]:
    """Find that a pod with one accelerator can land on a type with many."""
    pod = subject.explained.one_pod
    if pod is None:
        return
    first_count, last_count = count_accelerators(pod.cheapest), count_accelerators(pod.dearest)
    lowest_price, highest_price = pod.cheapest.price or 0, pod.dearest.price or 0
    if last_count >= first_count * _MANY_TIMES and highest_price >= lowest_price * _MANY_TIMES:
        is_gpu = pod.resource in (NVIDIA, AMD)
        small, large = ("1-GPU pod", "GPUs") if is_gpu else (f"pod for 1 {pod.resource}", "of them")
        message = (
            f"a {small} can land on {pod.dearest.kind.name} ({last_count} {large}, "
            f"{highest_price:.2f} USD/h) when cheaper types are unavailable; the first choice is "
            f"{pod.cheapest.kind.name} ({lowest_price:.2f} USD/h)"
        )
        fix = _suggest_maximum(subject, pod.resource, first_count)
        yield warning(Code.LARGE_TYPE, message, subject.path(labels.INSTANCE_GPU_COUNT), fix)


def _suggest_maximum(subject: TrapSubject, resource: str, most: int) -> str:
    """Return the fix that limits types to at least one and at most `most` accelerators."""
    if resource in (NVIDIA, AMD):
        short = f"instances: {{gpus: {most if most == 1 else f'{{min: 1, max: {most}}}'}}}"
        return subject.fix(short, labels.INSTANCE_GPU_COUNT, "Lt", str(most + 1))
    label = labels.INSTANCE_ACCELERATOR_COUNT
    return subject.fix(f"requirements: {{{label}: {{min: 1, max: {most}}}}}", label, "Lt", str(most + 1))


def find_unpriced_types(subject: TrapSubject) -> Iterator[Trap]:
    """Find types that Karpenter does not launch because they have no price."""
    unpriced = [
        candidate.kind.name
        for candidate in subject.explained.candidates
        if candidate.is_offered and candidate.price is None
    ]
    if subject.explained.market.is_judged and unpriced:
        have = "have" if len(unpriced) > 1 else "has"
        message = (
            f"{list_first(unpriced)} {have} no price: Karpenter launches such types only from a reservation, "
            "or with a price from a NodeOverlay"
        )
        yield warning(Code.NO_PRICE, message, subject.path(labels.INSTANCE_FAMILY))


def find_few_spot_types(subject: TrapSubject) -> Iterator[Trap]:
    """Find that few types are available as spot."""
    capacity_type = subject.explained.requirements.get(labels.CAPACITY_TYPE)
    spot = [candidate for candidate in subject.launchable if "spot" in candidate.capacity_types]
    if capacity_type is not None and capacity_type.has("spot") and 0 < len(spot) < _FEW_ON_SPOT:
        message = f"only {format_count(len(spot), 'type')} can launch as spot: {list_names(spot)}"
        fix = "allow more types or sizes, or on-demand as well"
        yield info(Code.FEW_SPOT_TYPES, message, subject.path(labels.CAPACITY_TYPE), fix)
