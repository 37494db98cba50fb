"""One run of the comparison, and its figures in words."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tests.differential.explained import explanation
from tests.differential.mutants import Mutant
from tests.differential.trees import ABSENT, as_bytes, at, parts
from tests.differential.verdicts import Comparison, compared
from tests.rig.client import Client

SHOWN = 20
WIDTH = 300
LINES = 12


class Figures(NamedTuple):
    """What a run came to."""

    seed: int
    origins: Counter[str]
    refused: int
    disagreements: list[Comparison]
    """Objects that one side takes and the other does not."""

    other_fields: list[Comparison]
    """Objects that both refuse, for different fields, without an explanation."""

    explained: Counter[str]
    """How many objects each explanation of different fields covers."""

    @property
    def asked(self) -> int:
        """Count the objects."""
        return self.origins.total()

    @property
    def same_fields(self) -> float:
        """Return the share of refused objects with the same fields on both sides; explained ones are not among them."""
        return 1 - (len(self.other_fields) + self.explained.total()) / max(self.refused, 1)

    def __str__(self) -> str:
        """Return the figures in a few lines."""
        origins = ", ".join(f"{count} {origin}" for origin, count in sorted(self.origins.items()))
        explained = "".join(
            f"\n  {count} explained: {reason}" for reason, count in self.explained.most_common()
        )
        return (
            f"seed {self.seed}: {self.asked} objects ({origins}), {self.refused} refused by the server\n"
            f"  verdicts that differ: {len(self.disagreements)}\n"
            f"  refused for the same fields: {self.same_fields:.2%}; for others without explanation: "
            f"{len(self.other_fields)}{explained}"
        )


def ask(client: Client, mutants: Iterable[Mutant]) -> Iterator[Comparison]:
    """Ask the server and gpupool about each object."""
    for mutant in mutants:
        verdict = client.post_dry_run(as_bytes(mutant.body), mutant.kind, mutant.seed["apiVersion"])
        yield compared(mutant, verdict)


def counted(seed: int, comparisons: Iterable[Comparison]) -> Figures:
    """Put comparisons into figures."""
    figures = Figures(seed, Counter(), 0, [], [], Counter())
    refused = 0
    for each in comparisons:
        figures.origins[each.mutant.origin] += 1
        refused += not each.verdict.accepted
        _sort(each, figures)
    return figures._replace(refused=refused)


def shown(comparison: Comparison) -> str:
    """Return a comparison as a reader needs it: the change, the server's words, and ours."""
    verdict = comparison.verdict
    said = (
        "accepted"
        if verdict.accepted
        else f"{verdict.status} {verdict.message[:WIDTH]} {sorted(comparison.theirs)}"
    )
    ours = [f"{each.code} {each.path}: {each.message}"[:WIDTH] for each in comparison.ours] or ["accepted"]
    return "\n    ".join(
        [
            f"{comparison.mutant.kind} ({comparison.mutant.origin})",
            *changes(comparison.mutant),
            f"server: {said}",
            *(f"gpupool: {line}" for line in ours),
        ]
    )


def report(title: str, comparisons: list[Comparison]) -> str:
    """Return the first of some comparisons in full."""
    return "\n".join([f"{title}: {len(comparisons)}", *map(shown, comparisons[:SHOWN])])


def _sort(each: Comparison, figures: Figures) -> None:
    if not each.agrees:
        figures.disagreements.append(each)
    elif not each.verdict.accepted and not each.same_fields:
        reason = explanation(each)
        if reason:
            figures.explained[reason] += 1
        else:
            figures.other_fields.append(each)


def changes(mutant: Mutant) -> list[str]:
    if mutant.origin == "invented":
        return [json.dumps(mutant.body)[: 4 * WIDTH]]
    lines = [f"{path}: {text}"[:WIDTH] for path, text in _difference(mutant)]
    return lines if len(lines) <= LINES else [*lines[:LINES], f"... and {len(lines) - LINES} more"]


def _difference(mutant: Mutant) -> Iterator[tuple[str, str]]:
    for path, value in parts(mutant.body):
        if not isinstance(value, dict | list) or not value:
            before = at(mutant.seed, path)
            if before is ABSENT or json.dumps(before) != json.dumps(value):
                yield ".".join(map(str, path)), json.dumps(value)
    for path, _ in parts(mutant.seed):
        if at(mutant.body, path) is ABSENT and at(mutant.body, path[:-1]) is not ABSENT:
            yield ".".join(map(str, path)), "taken out"
