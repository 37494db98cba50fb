"""Of the objects that the API server takes, gpupool blames those that Karpenter's own Go code refuses."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from gpupool.codes import Code, Layer, layer
from gpupool.findings import Finding
from gpupool.karpenter.validation.check import check
from tests.differential import decoding, karpenter, runtime
from tests.differential.karpenter import Opinion
from tests.differential.mutants import Mutant
from tests.differential.run import changes
from tests.differential.trees import Body, as_bytes, changed, node
from tests.karpenter.examples import EC2NODECLASS, NODEPOOL
from tests.rig.server import ApiServer
from tests.tiers import is_thorough, volume

SEED = 20_261_122
WATCHED, DECODED = volume(4_000), volume(3_000)
SECONDS_TO_STALL = 3.0 if is_thorough() else 1.0
DECODING = {Code.ENDLESS_DURATION, Code.UNREADABLE_QUANTITY, Code.UNREADABLE_TIME, Code.UNREADABLE_GRACE}
"""The codes for values on which an informer stalls."""


class Asked(NamedTuple):
    """An object that the API server took, Karpenter's opinion of it and gpupool's findings."""

    mutant: Mutant
    opinion: Opinion
    findings: tuple[Finding, ...]

    def __str__(self) -> str:
        said = "; ".join((self.opinion.decode, *self.opinion.runtime))[:400]
        ours = "; ".join(f"{each.code} {each.path}" for each in self.findings)
        return "\n    ".join(
            [
                self.mutant.kind,
                *changes(self.mutant),
                f"Karpenter: {said or 'fine'}",
                f"gpupool: {ours or 'fine'}",
            ]
        )


@pytest.fixture(scope="module")
def program() -> Path:
    return karpenter.build()


def taken(server: ApiServer, mutants: Iterable[Mutant]) -> Iterator[tuple[Mutant, Body]]:
    """Yield the objects that the API server takes, with what it stores."""
    for mutant in mutants:
        verdict = server.post_dry_run(as_bytes(mutant.body), mutant.kind, mutant.seed["apiVersion"])
        if verdict.accepted:
            yield mutant, verdict.stored


def asked(server: ApiServer, program: Path, mutants: Iterable[Mutant]) -> list[Asked]:
    """Ask Karpenter and gpupool about what the API server takes."""
    found = list(taken(server, mutants))
    opinions = karpenter.opinions(program, (stored for _, stored in found))
    return [
        Asked(mutant, opinion, tuple(check(mutant.kind, node(mutant.body))))
        for (mutant, _), opinion in zip(found, opinions, strict=True)
    ]


def differing(found: list[Asked], differs: Iterable[bool]) -> str:
    """Return the first of the objects that the two sides judge differently."""
    wrong = [each for each, here in zip(found, differs, strict=True) if here]
    return "\n".join([f"seed {SEED}: {len(wrong)} of {len(found)}", *map(str, wrong[:20])]) if wrong else ""


def test_the_runtime_layer_is_karpenters_own_validation(api_server: ApiServer, program: Path) -> None:
    found = asked(api_server, program, runtime.watched(WATCHED, SEED))
    theirs = [bool(each.opinion.runtime) for each in found]
    ours = [any(layer(finding.code) is Layer.RUNTIME for finding in each.findings) for each in found]

    assert differing(found, (a != b for a, b in zip(theirs, ours, strict=True))) == ""
    assert not any(each.opinion.decode for each in found)
    assert len(found) > WATCHED / 2
    assert WATCHED / 8 < sum(theirs) < len(found) - WATCHED / 8


def test_what_go_can_not_decode_is_a_crash(api_server: ApiServer, program: Path) -> None:
    found = asked(api_server, program, decoding.decoded(DECODED, SEED))
    theirs = [bool(each.opinion.decode) for each in found]
    ours = [any(finding.code in DECODING for finding in each.findings) for each in found]

    assert differing(found, (a != b for a, b in zip(theirs, ours, strict=True))) == ""
    assert len(found) > DECODED / 2
    assert DECODED / 10 < sum(theirs) < len(found) - DECODED / 10


@pytest.mark.parametrize("text", decoding.STALLING)
def test_a_quantity_that_keeps_go_reckoning_is_a_crash(
    api_server: ApiServer, program: Path, text: str
) -> None:
    body = changed(NODEPOOL, ("spec", "limits", "cpu"), text)
    assert api_server.post_dry_run(as_bytes(body), "NodePool").accepted

    assert karpenter.stalls(program, body, SECONDS_TO_STALL)
    assert Code.UNREADABLE_QUANTITY in {finding.code for finding in check("NodePool", node(body))}


@pytest.mark.parametrize(
    "text", ["al2023@latest", "al2023@v20260810", "al2023@v1@x", "al2023@@", "bottlerocket@1.10.0", "windows2022@latest@x", "windows2022@latest", "al2@ "]
)  # fmt: skip
def test_an_alias_that_ends_the_process_is_a_crash(api_server: ApiServer, program: Path, text: str) -> None:
    seed = {key: value for key, value in EC2NODECLASS["spec"].items() if key != "amiFamily"}
    body = changed(EC2NODECLASS | {"spec": seed}, ("spec", "amiSelectorTerms"), [{"alias": text}])
    verdict = api_server.post_dry_run(as_bytes(body), "EC2NodeClass")
    assert verdict.accepted

    ends = karpenter.alias(program, verdict.stored) == "fatal"

    assert ends == any(finding.code == Code.ALIAS_CRASH for finding in check("EC2NodeClass", node(body)))
    assert ends == (text.count("@") > 1)
