"""Machines that nobody thought of."""

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
"""So many times as dear, and as many accelerators, as the cheapest machine that would do."""

_FEW_ON_SPOT: Final = 5


def find_fractional_gpus(asked: TrapSubject) -> Iterator[Trap]:
    """Find machines with a share of a GPU."""
    shares = [each for each in asked.launchable if each.kind.gpus and not count_accelerators(each)]
    if shares:
        have = "have" if len(shares) > 1 else "has"
        message = (
            f"{list_names(shares)} {have} a fraction of a GPU, which counts as 0: only pods that request no GPU "
            "land there"
        )
        fix = asked.fix("instances: {gpus: {above: 0}}", labels.INSTANCE_GPU_COUNT, "Gt", "0")
        yield warning(Code.FRACTIONAL_GPUS, message, asked.path(labels.INSTANCE_GPU_COUNT), fix)


def find_mixed_architectures(asked: TrapSubject) -> Iterator[Trap]:
    """Find arm64 machines beside amd64 ones; it is g5g that slips into the category g."""
    able = [each for each in asked.launchable if count_accelerators(each)]
    arm = [each for each in able if each.kind.arch == "arm64"]
    if arm and len(arm) < len(able):
        message = (
            f"{list_names(arm)} {'are' if len(arm) > 1 else 'is'} arm64 and the others amd64; an image for one "
            "does not start on the other"
        )
        fix = asked.fix("arch: amd64", labels.ARCH, "In", "amd64")
        yield warning(Code.MIXED_ARCHITECTURES, message, asked.path(labels.ARCH), fix)


def find_large_types(asked: TrapSubject) -> Iterator[Trap]:
    """Find that a pod for one accelerator may get a machine with many."""
    pod = asked.found.one_pod
    if pod is None:
        return
    few, many = count_accelerators(pod.cheapest), count_accelerators(pod.dearest)
    cheap, dear = pod.cheapest.price or 0, pod.dearest.price or 0
    if many >= few * _MANY_TIMES and dear >= cheap * _MANY_TIMES:
        is_gpu = pod.resource in (NVIDIA, AMD)
        small, large = ("1-GPU pod", "GPUs") if is_gpu else (f"pod for 1 {pod.resource}", "of them")
        message = (
            f"a {small} can land on {pod.dearest.kind.name} ({many} {large}, {dear:.2f} USD/h) when "
            f"cheaper types are unavailable; the first choice is {pod.cheapest.kind.name} ({cheap:.2f} USD/h)"
        )
        fix = _bound(asked, pod.resource, few)
        yield warning(Code.LARGE_MACHINE, message, asked.path(labels.INSTANCE_GPU_COUNT), fix)


def _bound(asked: TrapSubject, resource: str, most: int) -> str:
    """Return the fix that leaves types with at most so many accelerators, and none without any."""
    if resource in (NVIDIA, AMD):
        short = f"instances: {{gpus: {most if most == 1 else f'{{min: 1, max: {most}}}'}}}"
        return asked.fix(short, labels.INSTANCE_GPU_COUNT, "Lt", str(most + 1))
    label = labels.INSTANCE_ACCELERATOR_COUNT
    return asked.fix(f"requirements: {{{label}: {{min: 1, max: {most}}}}}", label, "Lt", str(most + 1))


def find_unpriced_types(asked: TrapSubject) -> Iterator[Trap]:
    """Find machines that Karpenter does not launch for want of a price."""
    lacking = [each.kind.name for each in asked.found.candidates if each.offered and each.price is None]
    if asked.found.market.judged and lacking:
        have = "have" if len(lacking) > 1 else "has"
        message = (
            f"{list_first(lacking)} {have} no price: Karpenter launches such types only from a reservation, or "
            "with a price from a NodeOverlay"
        )
        yield warning(Code.NO_PRICE, message, asked.path(labels.INSTANCE_FAMILY))


def find_few_spot_types(asked: TrapSubject) -> Iterator[Trap]:
    """Find that spot has few types to choose from."""
    said = asked.found.requirements.get(labels.CAPACITY_TYPE)
    spot = [each for each in asked.launchable if "spot" in each.capacity_types]
    if said is not None and said.has("spot") and 0 < len(spot) < _FEW_ON_SPOT:
        message = f"only {format_count(len(spot), 'type')} can launch as spot: {list_names(spot)}"
        fix = "allow more types or sizes, or on-demand as well"
        yield info(Code.FEW_SPOT_TYPES, message, asked.path(labels.CAPACITY_TYPE), fix)
