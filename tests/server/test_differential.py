"""gpupool's verdict on an object is the API server's, and so are the fields to blame."""

from collections.abc import Callable

import pytest

from tests.differential import rules, schemas
from tests.differential.mutants import Mutant, mutants, sampled
from tests.differential.ruletable import Rule, applied
from tests.differential.run import Figures, ask, counted, report
from tests.differential.trees import as_bytes
from tests.differential.verdicts import compared
from tests.rig.server import ApiServer
from tests.tiers import volume

SEED = 20_261_121
OBJECTS = 12_000
LEAST_SAME_FIELDS = 0.98

Say = Callable[[str], None]


@pytest.fixture(scope="module")
def say(pytestconfig: pytest.Config) -> Say:
    """Write a line past pytest's capture, so that the figures of a run can be read in its log."""
    screen = pytestconfig.pluginmanager.get_plugin("terminalreporter")
    capture = pytestconfig.pluginmanager.get_plugin("capturemanager")

    def write(text: str) -> None:
        if screen and capture:
            with capture.global_and_fixture_disabled():
                screen.write_line(f"\n{text}")

    return write


@pytest.fixture(scope="module")
def figures(api_server: ApiServer, say: Say) -> Figures:
    found = counted(SEED, ask(api_server, sampled(mutants(OBJECTS, SEED))))
    say(str(found))
    return found


def test_the_run_is_as_wide_as_it_says(figures: Figures) -> None:
    assert figures.asked >= volume(OBJECTS)
    assert figures.refused > figures.asked // 3
    assert figures.asked - figures.refused > figures.asked // 6
    assert set(figures.origins) == {"seed", "case", "rule", "field", "status", "metadata", "pair", "invented"}
    assert min(figures.origins.values()) > volume(200, at_least=20)


def test_each_verdict_is_the_servers(figures: Figures) -> None:
    assert not figures.disagreements, report(f"seed {SEED}, verdicts that differ", figures.disagreements)


def test_the_same_fields_are_to_blame(figures: Figures) -> None:
    assert not figures.other_fields, report(f"seed {SEED}, other fields", figures.other_fields)
    assert figures.same_fields >= LEAST_SAME_FIELDS, str(figures)


def test_the_table_of_rules_names_each_rule_of_the_crds() -> None:
    theirs = {(kind, path, message) for kind in schemas.KINDS for path, message in schemas.rules(kind)}
    ours = {(rule.seed["kind"], rule.path, rule.message) for rule in rules.RULES}

    assert ours == theirs
    assert len(theirs) > 70
    assert all(rule.kept and rule.broken for rule in rules.RULES)


@pytest.mark.parametrize(
    "rule", rules.RULES, ids=lambda rule: f"{rule.seed['kind']}-{rule.path}-{rule.message}"[:90]
)
def test_the_server_tells_both_sides_of_a_rule(api_server: ApiServer, rule: Rule) -> None:
    for changes in rule.kept:
        body = applied(rule.seed, changes)
        verdict = api_server.post_dry_run(as_bytes(body), body["kind"], body["apiVersion"])
        assert not any(rule.message in cause.message for cause in verdict.causes), changes
        assert verdict.accepted, (changes, verdict.message)
        assert compared(Mutant(body, rule.seed, "rule"), verdict).agrees, changes
    for changes in rule.broken:
        body = applied(rule.seed, changes)
        verdict = api_server.post_dry_run(as_bytes(body), body["kind"], body["apiVersion"])
        assert any(rule.message in cause.message for cause in verdict.causes), (changes, verdict.message)
        assert compared(Mutant(body, rule.seed, "rule"), verdict).agrees, changes
