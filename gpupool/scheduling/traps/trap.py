"""Lint findings about a NodePool, and helpers of the lint rules."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from gpupool.codes import Code
from gpupool.findings import Severity
from gpupool.karpenter import labels
from gpupool.karpenter.requirements import Requirement
from gpupool.scheduling.explained import Candidate, PoolExplanation
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
    """One lint finding about a NodePool."""

    code: Code
    severity: Severity
    message: str
    fix: str = ""
    path: FieldPath = REQUIREMENTS
    """The field of the NodePool that causes it."""


@dataclass(frozen=True)
class TrapSubject:
    """A NodePool and the explanation of what it may launch."""

    node_pool: Mapping[str, Plain]
    explained: PoolExplanation
    is_in_blueprint: bool = False
    """Whether it is rendered from a blueprint, so that a fix is in the blueprint's fields."""

    entries: tuple[Requirement, ...] = field(init=False)
    """Its requirements, one by one."""

    def __post_init__(self) -> None:
        """Read the requirements."""
        entries = tuple(read_requirements(self.at(REQUIREMENTS)))
        object.__setattr__(self, "entries", entries)

    @cached_property
    def launchable(self) -> list[Candidate]:
        """Return the types that are launchable, or may be, if that can't be judged."""
        return [candidate for candidate in self.explained.candidates if candidate.is_launchable is not False]

    @cached_property
    def is_for_accelerators(self) -> bool:
        """Return whether a requirement, limit or taint of the pool is about accelerators."""
        taints = self.at(("spec", "template", "spec", "taints"))
        keys = (
            [condition.get("key") for condition in taints if isinstance(condition, dict)]
            if isinstance(taints, list)
            else []
        )
        conditions = (condition for condition in self.entries if condition.key in ACCELERATOR_LABELS)
        return any(condition.operator != "DoesNotExist" for condition in conditions) or any(
            name in ACCELERATORS for name in (*self.explained.pool.limits, *keys)
        )

    def fix(self, short: str, key: str, operator: str, value: str) -> str:
        """Return the fix that sets a requirement, in blueprint or manifest fields as in the file."""
        if self.is_in_blueprint:
            return f"set `{short}`"
        return f'add `{{key: {key}, operator: {operator}, values: ["{value}"]}}` to the requirements'

    def at(self, path: FieldPath) -> Plain:
        """Return the value at a path of the NodePool; None if there is none."""
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
        """Return the path of a requirement on a label, or of its value; that of the list if there is none."""
        for index, requirement in enumerate(self.entries):
            if requirement.key == key and (not value or value in requirement.values):
                entry = (*REQUIREMENTS, index)
                values = self.at((*entry, "values"))
                if value and isinstance(values, list) and value in values:
                    return (*entry, "values", values.index(value))
                return entry
        return REQUIREMENTS


TrapRule: TypeAlias = Callable[[TrapSubject], Iterator[Trap]]


def warning(code: Code, message: str, path: FieldPath, fix: str = "") -> Trap:
    """Return a finding with severity warning."""
    return Trap(code, Severity.WARNING, message, fix, path)


def info(code: Code, message: str, path: FieldPath, fix: str = "") -> Trap:
    """Return a finding with severity info."""
    return Trap(code, Severity.INFO, message, fix, path)


def count_accelerators(candidate: Candidate) -> int:
    """Count the GPUs or other accelerators that a node has for pods."""
    return int(max(candidate.allocatable.get(name, 0) for name in DEVICES))


def list_names(candidates: Sequence[Candidate]) -> str:
    """Return the names of the first few types."""
    return list_first([candidate.kind.name for candidate in candidates])


def list_first(texts: Iterable[str]) -> str:
    """Return the first few texts, and the number of others."""
    texts_list = list(texts)
    more = len(texts_list) - _MOST_NAMES
    return ", ".join(texts_list[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun in singular or plural."""
    return f"{number} {noun}{'s' * (number != 1)}"
