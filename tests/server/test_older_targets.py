"""Checks for an older target agree with the CRDs of that minor, on an API server that has those.

Only Karpenter's core can be had in every minor. Its CRDs know no EC2NodeClass and lack the rule over label
keys of AWS that the provider adds; objects with a key for that rule are left to the provider's own release.
"""

import json
import random
from collections.abc import Iterator
from copy import deepcopy
from itertools import islice

import pytest

from gpupool.codes import Code
from gpupool.findings import Finding
from gpupool.karpenter import labels
from gpupool.karpenter.validation.check import check
from gpupool.karpenter.versions import LATEST, TARGETS
from tests.differential.mutants import Mutant, mutants
from tests.differential.run import counted, report
from tests.differential.trees import Body, as_bytes, at, changed, node, reaches
from tests.differential.verdicts import SKIPPED, Comparison, errors, server_fields
from tests.karpenter.targets import LATER, LATER_FIELDS, TWICE
from tests.rig import older
from tests.rig.client import Verdict
from tests.rig.older import Release
from tests.rig.server import ApiServer, api_server
from tests.tiers import FEWEST_OBJECTS, volume

SEED = 20_261_121
MUTANTS = 12_000
RELEASES = 6
OBJECTS = volume(1_000, at_least=FEWEST_OBJECTS // RELEASES)
SHARE_OF_LATER = 0.4
LEAST_OF_THE_VERSION = volume(30, at_least=3)
KINDS = ("NodePool", "NodeOverlay", "EC2NodeClass")

POLICY = ("spec", "disruption", "consolidationPolicy")
LABEL_ROWS = frozenset(row.path for row in LATER if row.word in labels.WELL_KNOWN)
BUDGETS = ("spec disruption budgets", TWICE["spec"]["disruption"]["budgets"])
BALANCED = (" ".join(POLICY), "Balanced")
NOTHING: tuple[object, ...] = (None, {}, [], 1)
MORE: dict[str, list[tuple[str, object]]] = {
    "NodePool": [BUDGETS, BUDGETS, BALANCED],
    "NodeOverlay": [("spec requirements 0 key", key) for key in sorted(labels.OVERLAY_REFUSED)],
    "EC2NodeClass": [(f"spec {name}", value) for name in LATER_FIELDS for value in NOTHING],
}
"""What to put into objects beside the rows of the table."""


@pytest.fixture(scope="module")
def server() -> Iterator[ApiServer]:
    """A server of this module's own: its CRDs are replaced."""
    with api_server() as found:
        yield found


@pytest.fixture(scope="module")
def pool() -> list[Mutant]:
    return mutants(MUTANTS, SEED)


def test_there_is_a_release_for_each_older_target() -> None:
    found = older.releases()

    assert len(found) == RELEASES

    assert [release.target for release in found if not release.is_for_aws] == [*TARGETS[:-1]]
    assert [release.target for release in found if release.is_for_aws] == [TARGETS[0]]
    assert all({"NodePool", "NodeOverlay"} <= older.crds(release).keys() for release in found)


@pytest.mark.parametrize("release", older.releases(), ids=str)
def test_each_verdict_is_that_of_the_older_crds(
    release: Release, server: ApiServer, pool: list[Mutant]
) -> None:
    for kind in kinds(release):
        older.serve(server, release, kind)

    asked = [compared(server, release, mutant) for mutant in islice(aged(pool, release), OBJECTS)]

    figures = counted(SEED, asked)
    assert not figures.disagreements, report(f"{release}: verdicts that differ", figures.disagreements)
    assert not figures.other_fields, report(f"{release}: other fields", figures.other_fields)
    assert figures.asked == OBJECTS
    assert OBJECTS // 2 < figures.refused < OBJECTS * 6 // 7
    assert sum(map(is_of_the_version, asked)) > LEAST_OF_THE_VERSION


def kinds(release: Release) -> list[str]:
    """The checked kinds that a release has."""
    return [kind for kind in KINDS if kind in older.crds(release)]


def compared(server: ApiServer, release: Release, mutant: Mutant) -> Comparison:
    """Both verdicts on one object, gpupool's for the release's minor."""
    verdict = server.post_dry_run(as_bytes(mutant.body), mutant.kind, mutant.seed["apiVersion"])
    ours = errors(check(mutant.kind, node(mutant.body), release.target))
    return Comparison(
        mutant, verdict, tuple(each for each in ours if is_looked_at(each, verdict)), server_fields(verdict)
    )


def is_looked_at(finding: Finding, verdict: Verdict) -> bool:
    """Whether the server went as far as what a finding is about: label keys are a matter of CEL there."""
    return not (
        SKIPPED in verdict.message and finding.code == Code.TOO_NEW and "the label" in finding.message
    )


def is_of_the_version(comparison: Comparison) -> bool:
    """Whether the newest Karpenter would have another word on an object."""
    newest = errors(check(comparison.mutant.kind, node(comparison.mutant.body), LATEST))
    return bool(newest) == comparison.verdict.accepted


def aged(pool: list[Mutant], release: Release) -> Iterator[Mutant]:
    """Objects in random order, each without what is newer than 1.9 or with one thing of that."""
    chance = random.Random(f"{SEED} {release}")  # noqa: S311 - a fixed sequence is what we want
    known = set()
    for mutant in chance.sample(pool, len(pool)):
        if mutant.kind not in kinds(release):
            continue
        body = without_later(mutant.body, chance)
        if chance.random() < SHARE_OF_LATER:
            body = with_later(body, mutant.kind, release, chance)
        text = json.dumps(body)
        if text not in known and (release.is_for_aws or not has_key_of_aws(body)):
            known.add(text)
            yield mutant._replace(body=body)


def without_later(body: Body, chance: random.Random) -> Body:
    """An object without what its seed has of later versions; a field that was changed may stay."""
    result = deepcopy(body)
    spec = result.get("spec")
    for name in LATER_FIELDS:
        if isinstance(spec, dict) and chance.random() > SHARE_OF_LATER / len(LATER_FIELDS):
            spec.pop(name, None)
    return changed(result, POLICY, "WhenEmpty") if at(result, POLICY) == "Balanced" else result


def with_later(body: Body, kind: str, release: Release, chance: random.Random) -> Body:
    """An object with one thing of a later version, where it has a place for that."""
    rows = [(row.path, row.value) for row in LATER if row.whole["kind"] == kind]
    additions = [row for row in rows + MORE[kind] if release.is_for_aws or row[0] not in LABEL_ROWS]
    path, value = chance.choice(additions)
    steps = tuple(int(step) if step.isdigit() else step for step in path.split())
    return changed(body, steps, value) if reaches(body, steps) else body


def has_key_of_aws(body: Body) -> bool:
    """Whether a label key is one that the provider's rule is about and that not every version takes."""
    always = labels.AWS_ALLOWED - labels.OVERLAY_REFUSED
    return any(labels.get_domain(key).endswith(labels.AWS) and key not in always for key in keys(body))


def keys(body: Body) -> Iterator[str]:
    """The keys of labels and requirements."""
    given = at(body, ("spec", "template", "metadata", "labels"))
    yield from given if isinstance(given, dict) else ()
    for path in (("spec", "template", "spec", "requirements"), ("spec", "requirements")):
        items = at(body, path)
        yield from (str(at(item, ("key",))) for item in items if item) if isinstance(items, list) else ()
