"""A surprise, and the NodePool that it is about."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from gpupool.codes import Code
from gpupool.findings import Severity
from gpupool.karpenter import labels
from gpupool.karpenter.requirements import Requirement
from gpupool.scheduling.explained import Candidate, Explained
from gpupool.scheduling.matching import read_requirements
from gpupool.scheduling.types.capacity import ACCELERATORS, DEVICES
from gpupool.yamlio.located import Plain

FieldPath: TypeAlias = tuple[str | int, ...]
REQUIREMENTS: Final = ("spec", "template", "spec", "requirements")
ACCELERATOR_LABELS: Final = (
    labels.INSTANCE_GPU_NAME, labels.INSTANCE_GPU_COUNT, labels.INSTANCE_GPU_MEMORY,
    labels.INSTANCE_GPU_MANUFACTURER, labels.INSTANCE_ACCELERATOR_NAME,
    labels.INSTANCE_ACCELERATOR_COUNT, labels.INSTANCE_ACCELERATOR_MANUFACTURER,
)  # fmt: skip
_MOST_NAMES: Final = 4


class Trap(NamedTuple):
    """One surprise."""

    code: Code
    severity: Severity
    message: str
    fix: str = ""
    path: FieldPath = REQUIREMENTS
    """Where it comes from in the NodePool."""


@dataclass(frozen=True)
class TrapSubject:
    """A NodePool as it stands, and what comes of it."""

    node_pool: Mapping[str, Plain]
    found: Explained
    in_blueprint: bool = False
    """Whether it is rendered from a blueprint, so that a fix is in the blueprint's fields."""

    entries: tuple[Requirement, ...] = field(init=False)
    """Its requirements, one by one."""

    def __post_init__(self) -> None:
        """Read the requirements."""
        entries = tuple(read_requirements(self.at(REQUIREMENTS)))
        object.__setattr__(self, "entries", entries)

    @cached_property
    def launchable(self) -> list[Candidate]:
        """Return the types that are launched, or may be, where that can't be judged."""
        return [each for each in self.found.candidates if each.launchable is not False]

    @cached_property
    def for_accelerators(self) -> bool:
        """Return whether the pool is meant for accelerators: by a condition, a limit or a taint of theirs."""
        taints = self.at(("spec", "template", "spec", "taints"))
        keys = (
            [each.get("key") for each in taints if isinstance(each, dict)] if isinstance(taints, list) else []
        )
        wanted = (each for each in self.entries if each.key in ACCELERATOR_LABELS)
        return any(each.operator != "DoesNotExist" for each in wanted) or any(
            name in ACCELERATORS for name in (*self.found.pool.limits, *keys)
        )

    def fix(self, short: str, key: str, operator: str, value: str) -> str:
        """Return how to set a requirement, in the language of the file that it is in."""
        if self.in_blueprint:
            return f"set `{short}`"
        return f'add `{{key: {key}, operator: {operator}, values: ["{value}"]}}` to the requirements'

    def at(self, path: FieldPath) -> Plain:
        """Return what stands at a path of the NodePool; None where nothing does."""
        value: Plain = dict(self.node_pool)
        for step in path:
            if isinstance(value, dict):
                value = value.get(str(step))
            elif isinstance(value, list) and isinstance(step, int):
                value = value[step]
            else:
                return None
        return value

    def path(self, key: str, value: str = "") -> FieldPath:
        """Return where a condition on a label stands, or a value of it; the list where none does."""
        for index, each in enumerate(self.entries):
            if each.key == key and (not value or value in each.values):
                entry = (*REQUIREMENTS, index)
                said = self.at((*entry, "values"))
                if value and isinstance(said, list) and value in said:
                    return (*entry, "values", said.index(value))
                return entry
        return REQUIREMENTS


TrapRule: TypeAlias = Callable[[TrapSubject], Iterator[Trap]]


def warning(code: Code, message: str, path: FieldPath, fix: str = "") -> Trap:
    """Return a surprise that costs somebody something."""
    return Trap(code, Severity.WARNING, message, fix, path)


def info(code: Code, message: str, path: FieldPath, fix: str = "") -> Trap:
    """Return a surprise that is only worth knowing."""
    return Trap(code, Severity.INFO, message, fix, path)


def count_accelerators(candidate: Candidate) -> int:
    """Return how many GPUs or other accelerators a node has for pods."""
    return int(max(candidate.allocatable.get(name, 0) for name in DEVICES))


def list_names(candidates: Sequence[Candidate]) -> str:
    """Name the first few types."""
    return list_first([each.kind.name for each in candidates])


def list_first(words: Iterable[str]) -> str:
    """Name the first few, and count the others."""
    found = list(words)
    more = len(found) - _MOST_NAMES
    return ", ".join(found[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def format_count(number: int, thing: str) -> str:
    """Return a number and what it counts."""
    return f"{number} {thing}{'s' * (number != 1)}"
