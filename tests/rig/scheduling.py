"""Karpenter's own scheduler and AWS provider: asked which types a pool may use, what is launched, where pods go.

What EC2 would answer is given when the oracle starts. Each question stands for itself.
"""

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from threading import Thread
from typing import IO, NamedTuple, Self

from tests.rig import programs
from tests.rig.errors import RigError
from tests.rig.scheduling_answers import (
    Body,
    Limits,
    Match,
    Overlaid,
    Solution,
    limited,
    matched,
    overlaid,
    solved,
)

__all__ = ["Body", "Karpenter", "Oracle", "Panic", "Question"]

Question = Mapping[str, object]
"""`op` and its parameters, as the Go program names them."""


class Karpenter(NamedTuple):
    """What EC2 answers in a region, and Karpenter's settings; defaults are Karpenter's."""

    region: str
    types: Sequence[Body]
    """Items of DescribeInstanceTypes as the API names their fields."""

    offerings: Mapping[str, Sequence[str]]
    """The zones, by name, that offer a type."""

    zones: Mapping[str, str]
    """Zone name to zone ID; a node class without subnets in its status gets one in each."""

    prices: Mapping[str, float] | None = None
    """For on-demand and for spot in every zone; None stands for Karpenter's own table of the region."""

    reserved_enis: int = 0
    vm_memory_overhead_percent: float = 0.075
    min_values_policy: str = "Strict"
    preference_policy: str = "Respect"


class Panic(Exception):  # noqa: N818 - what Go calls it
    """Karpenter panics on this question, or would end its process."""


class Oracle:
    """The running program; a context manager that ends it."""

    def __init__(self, karpenter: Karpenter) -> None:
        self._program = programs.build(programs.SCHEDULING).path
        self._first = _line(_set_up(karpenter))

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [self._program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        self._write([self._first])
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()

    def types(self, node_class: Body) -> dict[str, Body]:
        """Describe all types under a node class, by name.

        Each has `requirements`, `capacity`, `kubeReserved`, `systemReserved`, `evictionThreshold`, `allocatable`,
        `offerings` and `compatible`, which is the provider's verdict on type and class.
        """
        return {each["name"]: each for each in self.ask(_op("types", nodeClass=node_class))["types"]}

    def overlaid(
        self, node_pools: Sequence[Body], node_classes: Sequence[Body], node_overlays: Sequence[Body]
    ) -> Overlaid:
        """Return what NodeOverlays make of the types for each pool."""
        asked = _op("overlaid", nodePools=node_pools, nodeClasses=node_classes, nodeOverlays=node_overlays)
        return overlaid(self.ask(asked))

    def match(
        self,
        node_pool: Body,
        node_class: Body,
        node_overlays: Sequence[Body] = (),
        *,
        launch: bool = True,
        **policies: str,
    ) -> Match:
        """Return which types a pool may use; without `launch` it takes a tenth of the time."""
        asked = _op(
            "match",
            nodePool=node_pool,
            nodeClass=node_class,
            nodeOverlays=node_overlays,
            launch=launch,
            **policies,
        )
        return matched(self.ask(asked))

    def limits(
        self,
        node_pool: Body,
        node_class: Body,
        usage: Mapping[str, str] | None = None,
        node_overlays: Sequence[Body] = (),
    ) -> Limits:
        """Return what the limits admit; a usage counts as one node unless it names `nodes`."""
        name = node_pool["metadata"]["name"]
        asked = _op(
            "limits",
            nodePool=node_pool,
            nodeClass=node_class,
            usage={name: usage} if usage else {},
            nodeOverlays=node_overlays,
        )
        return limited(self.ask(asked))

    def solve(
        self,
        node_pools: Sequence[Body],
        node_classes: Sequence[Body],
        pods: Sequence[Body],
        daemon_sets: Sequence[Body] = (),
        usage: Mapping[str, Mapping[str, str]] | None = None,
        *,
        launch: bool = True,
        **more: object,
    ) -> Solution:
        """Schedule pods on new nodes; `daemon_sets` may be pod templates too, `usage` is by pool.

        More are Karpenter's policies, and `nodeOverlays`.
        """
        asked = _op(
            "solve",
            nodePools=node_pools,
            nodeClasses=node_classes,
            pods=pods,
            daemonSets=daemon_sets,
            usage=usage or {},
            launch=launch,
            **more,
        )
        return solved(self.ask(asked))

    def tables(self) -> Body:
        """Return Karpenter's own `prices` of the region, `bandwidths` and VPC `limits`."""
        return self.ask(_op("tables"))

    def ask(self, question: Question) -> Body:
        """Ask one question and give the answer as it is.

        Raises:
            Panic: Karpenter would panic.
            RigError: The question makes no sense to it.
        """
        return next(self.ask_all([question]))

    def ask_all(self, questions: Iterable[Question]) -> Iterator[Body]:
        """Ask many questions without waiting between them; the answers come in order."""
        lines = [_line(question) for question in questions]
        # A thread, as program and test would else wait for each other where the pipes are full.
        writer = Thread(target=self._write, args=(lines,), daemon=True)
        writer.start()
        left = len(lines)
        try:
            while left:
                left -= 1
                yield _answer(self._pipe(self._process.stdout).readline())
        finally:
            # Who stops in the middle, as a test that fails, must not leave its answers to the next one.
            for _ in range(left):
                self._pipe(self._process.stdout).readline()
            writer.join()

    def _write(self, lines: Iterable[bytes]) -> None:
        pipe = self._pipe(self._process.stdin)
        for line in lines:
            pipe.write(line)
        pipe.flush()

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        if pipe is None:
            message = "the oracle has not been started"
            raise RigError(message)
        return pipe


def _set_up(karpenter: Karpenter) -> Body:
    return {
        "region": karpenter.region,
        "types": list(karpenter.types),
        "offerings": dict(karpenter.offerings),
        "zones": [{"name": name, "id": zone_id} for name, zone_id in karpenter.zones.items()],
        "prices": karpenter.prices and dict(karpenter.prices),
        "reservedENIs": karpenter.reserved_enis,
        "vmMemoryOverheadPercent": karpenter.vm_memory_overhead_percent,
        "minValuesPolicy": karpenter.min_values_policy,
        "preferencePolicy": karpenter.preference_policy,
    }


def _op(name: str, **parameters: object) -> Body:
    return {"op": name, **parameters}


def _line(value: Question) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _answer(line: bytes) -> Body:
    if not line:
        message = "the oracle ended; what it said last stands above"
        raise RigError(message)
    found: Body = json.loads(line)
    for key in ("panic", "fatal"):
        if key in found:
            raise Panic(found[key])
    if found.keys() == {"error"}:
        raise RigError(found["error"])
    return found
