"""One object's two verdicts side by side: accepted or not, and which fields are to blame."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from gpupool.codes import Layer, layer
from gpupool.findings import Finding, Severity
from gpupool.karpenter.validation.check import check
from tests.differential.mutants import Mutant
from tests.differential.trees import node
from tests.rig.client import Cause, Verdict

SERVERS = frozenset({Layer.STRUCTURAL, Layer.CEL})
"""The layers in which gpupool speaks for the API server."""

SKIPPED = "some validation rules were not checked"
STRICT = 400
NO_FIELD = "<nil>"


class Comparison(NamedTuple):
    """What the server says of an object, and what gpupool says."""

    mutant: Mutant
    verdict: Verdict
    ours: tuple[Finding, ...]
    """The errors of the layers that speak for the API server."""

    theirs: frozenset[str]
    """The fields that the server blames."""

    @property
    def agrees(self) -> bool:
        """Return whether both take the object, or neither does."""
        return self.verdict.accepted == (not self.ours)

    @property
    def missing(self) -> frozenset[str]:
        """Return the fields that the server blames and gpupool does not."""
        blamed = {canonical(finding.path) for finding in self.ours}
        return frozenset(field for field in self.theirs if not _covered(field, blamed, self.verdict.status))

    @property
    def extra(self) -> frozenset[str]:
        """Return the fields that gpupool blames and the server does not, though it looked at all of them."""
        if self.verdict.status == STRICT:
            return frozenset()
        skipped = SKIPPED in self.verdict.message
        ours = (each for each in self.ours if not (skipped and layer(each.code) is Layer.CEL))
        return frozenset(canonical(finding.path) for finding in ours) - self.theirs

    @property
    def same_fields(self) -> bool:
        """Return whether both blame the same fields."""
        return not self.missing and not self.extra


def compared(mutant: Mutant, verdict: Verdict) -> Comparison:
    """Ask gpupool about an object and put its answer beside the server's."""
    findings = check(mutant.kind, node(mutant.body))
    return Comparison(mutant, verdict, errors(findings), server_fields(verdict))


def errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings for which the API server rejects an object."""
    return tuple(each for each in findings if each.severity is Severity.ERROR and layer(each.code) in SERVERS)


def server_fields(verdict: Verdict) -> frozenset[str]:
    """Return the fields that the server's causes name, or its message where it stopped at decoding."""
    if verdict.accepted:
        return frozenset()
    found = [field for cause in verdict.causes for field in _cause(cause)]
    if verdict.status == STRICT:
        found = [*_unknown(verdict.message), *_undecodable(verdict.message)]
    return frozenset(map(canonical, found))


def canonical(field: str) -> str:
    """Spell a field path in one way: no dot in front, keys without brackets and quotes, owners without index."""
    plain = re.sub(r"\[[\"']?([^\]\"']*[^\]\"'\d][^\]\"']*)[\"']?\]", r".\1", field).removeprefix(".")
    return re.sub(r"^(metadata\.(?:ownerReferences|managedFields|finalizers))\[\d+\]", r"\1", plain)


def _cause(cause: Cause) -> list[str]:
    if "accessor error" in cause.message:
        return []  # the scale subresource stumbles over what its own cause names already
    if cause.field not in {"", NO_FIELD}:
        return [cause.field]
    # Widths of integers are told at the root, with the field in the words.
    return re.findall(r"Checked value must be of type \S+ .* in (\S.*)$", cause.message)


def _unknown(message: str) -> list[str]:
    quoted = re.findall(r'(?:unknown|duplicate) field "((?:[^"\\]|\\.)*)"', message)
    return [re.sub(r"\\(.)", r"\1", field) for field in quoted]


def _undecodable(message: str) -> list[str]:
    found = re.search(r"Go (?:struct field (\w+)\.(\S+)|value) of type (\S+)", message)
    if not found:
        return []
    return [f"metadata.{found[2]}" if found[2] else "metadata"]


def _covered(field: str, blamed: set[str], status: int) -> bool:
    below: Callable[[str], bool] = lambda path: path.startswith((f"{field}.", f"{field}["))  # noqa: E731
    return field in blamed or (status == STRICT and field.startswith("metadata") and any(map(below, blamed)))
