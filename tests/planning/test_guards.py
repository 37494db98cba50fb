"""Every guard by a table: what it says, whether it is passed, and how it would be."""

from dataclasses import replace

import pytest

from gpupool.objects import Ref
from gpupool.planning.guards import GuardInputs, check_guards, count_changes, describe_node_claims, is_kept
from gpupool.planning.plan import Change, Conflict, Consent, FieldChange, Guard, Rejection, Summary
from tests.planning.plans import change, field

PRUNE = Consent(prune=True)
EMPTY = GuardInputs(PRUNE, (), pools_desired=1, pools_listed=1, dangling={}, admissions=(), is_complete=True)
ADMITTED = EMPTY._replace(admissions=("NodePool/a",))


def gone(name: str, claims: int = 0) -> Change:
    return replace(change(f"NodePool/{name}", "delete"), node_claims=claims)


A, B, IN_USE = gone("a"), gone("b"), gone("used", 3)
CLASS = change("EC2NodeClass/a", "delete")
RUNS = replace(CLASS, node_claims=2)

SAYS: dict[str, tuple[GuardInputs, dict[str, bool]]] = {
    "nothing to say": (EMPTY, {}),
    "nothing is deleted": (EMPTY._replace(consent=Consent(), pools_desired=0, is_complete=False), {}),
    "one pool and its class": (EMPTY._replace(deletions=(A, CLASS)), {}),
    "without consent": (EMPTY._replace(consent=Consent(), deletions=(A, B, IN_USE)), {"prune": True}),
    "too many": (EMPTY._replace(deletions=(A, B)), {"max-deletes": False}),
    "as many as were agreed to": (EMPTY._replace(deletions=(A, B), consent=replace(PRUNE, max_deletes=2)), {}),
    "none may go": (EMPTY._replace(deletions=(A,), consent=replace(PRUNE, max_deletes=0)), {"max-deletes": False}),
    "classes are not counted": (EMPTY._replace(deletions=(CLASS,), consent=replace(PRUNE, max_deletes=0)), {}),
    "the last pool": (EMPTY._replace(deletions=(A,), pools_desired=0), {"empty": False}),
    "the last pool, agreed to": (
        EMPTY._replace(deletions=(A,), pools_desired=0, consent=replace(PRUNE, allow_empty=True)),
        {"empty": True},
    ),
    "there never was a pool": (EMPTY._replace(deletions=(CLASS,), pools_desired=0, pools_listed=0), {}),
    "not all was looked at": (EMPTY._replace(deletions=(A,), is_complete=False), {"complete": False}),
    "nodes": (EMPTY._replace(deletions=(IN_USE,)), {"when-empty": True}),
    "nodes, and it is named": (
        EMPTY._replace(deletions=(IN_USE,), consent=replace(PRUNE, allow_delete=("NodePool/used",))),
        {},
    ),
    "nodes, and another is named": (
        EMPTY._replace(deletions=(IN_USE,), consent=replace(PRUNE, allow_delete=("NodePool/a",))),
        {"when-empty": True},
    ),
    "nodes, and the pool is drained": (
        EMPTY._replace(deletions=(IN_USE,), consent=replace(PRUNE, drain=True)), {"when-empty": True},
    ),
    "admission changes something": (ADMITTED, {}),
    "admission changes something, and may not": (
        ADMITTED._replace(consent=Consent(fail_on_admission=True)), {"admission": False},
    ),
    "a class with nodes": (EMPTY._replace(deletions=(RUNS,)), {"in-use": True}),
    "a class with nodes, without consent": (EMPTY._replace(consent=Consent(), deletions=(RUNS,)), {"prune": True}),
    "a class that is nowhere": (EMPTY._replace(dangling={A.ref: Ref("EC2NodeClass", "x")}), {"references": False}),
    "all at once": (
        GuardInputs(PRUNE, (A, IN_USE), 0, 2, {A.ref: Ref("EC2NodeClass", "x")}, (), is_complete=False),
        {"references": False, "complete": False, "empty": False, "max-deletes": False, "when-empty": True},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SAYS)
def test_what_they_say(case: str) -> None:
    facts, verdicts = SAYS[case]
    assert {each.name: each.passed for each in check_guards(facts)} == verdicts


def said(name: str, facts: GuardInputs) -> Guard:
    (found,) = [each for each in check_guards(facts) if each.name == name]
    return found


def test_their_words() -> None:
    many = EMPTY._replace(deletions=(A, IN_USE, CLASS))
    assert said("max-deletes", many).remedy == "--max-deletes 2"
    assert said("max-deletes", many).message == "2 NodePools would be deleted, but --max-deletes is 1"
    assert said("when-empty", many).remedy == "--drain, or --allow-delete NodePool/used"
    assert said("when-empty", many._replace(consent=replace(PRUNE, drain=True))).remedy == ""
    runs = said("in-use", EMPTY._replace(deletions=(RUNS,))).message
    assert runs == "EC2NodeClass/a still has 2 NodeClaims: it is kept until they are gone"
    assert "NodePool/used still has 3 NodeClaims" in said("when-empty", many).message
    unagreed = said("prune", many._replace(consent=Consent()))
    assert unagreed.remedy == "--prune"
    assert "NodePool/a, NodePool/used, EC2NodeClass/a" in unagreed.message
    dangling = said(
        "references", EMPTY._replace(dangling={Ref("NodePool", "b"): Ref("K", "y"), A.ref: Ref("K", "x")})
    )
    assert "NodePool/a refers to K/x, NodePool/b refers to K/y" in dangling.message


def test_whatever_is_agreed_to_leaves_no_more_guards_than_before() -> None:
    """Consent never makes a guard fail that was passed."""
    for each, _ in SAYS.values():
        if each.consent.prune:
            before = {one.name for one in check_guards(each) if not one.passed}
            for agreed in (
                replace(each.consent, max_deletes=9),
                replace(each.consent, allow_empty=True),
                replace(each.consent, allow_delete=("NodePool/used",)),
            ):
                after = {one.name for one in check_guards(each._replace(consent=agreed)) if not one.passed}
                assert after <= before, (each, agreed)


@pytest.mark.parametrize(
    ("deletion", "consent", "kept"),
    [
        (A, PRUNE, False),
        (IN_USE, PRUNE, True),
        (IN_USE, replace(PRUNE, drain=True), True),
        (IN_USE, replace(PRUNE, allow_delete=("NodePool/used",)), False),
        (IN_USE, replace(PRUNE, allow_delete=("EC2NodeClass/used", "used")), True),
        (CLASS, PRUNE, False),
        (RUNS, PRUNE, True),
        (RUNS, replace(PRUNE, allow_delete=("EC2NodeClass/a",)), True),
    ],
)
def test_what_is_kept_for_now(deletion: Change, consent: Consent, *, kept: bool) -> None:
    assert is_kept(deletion, consent) is kept


def test_counts_in_words() -> None:
    assert [describe_node_claims(count) for count in (None, 0, 1, 2)] == [
        "no NodeClaims", "no NodeClaims", "1 NodeClaim", "2 NodeClaims",
    ]  # fmt: skip


def test_the_summary_counts_each_once_by_its_fate() -> None:
    textual: FieldChange = field("spec.limits.cpu", "1000", "1k", semantic=False)
    changes = (
        change("NodePool/new", "create"),
        change("NodePool/other", "update"),
        change("NodePool/taken", "adopt", "update"),
        gone("gone"),
        change("NodePool/same", "no-op"),
        replace(change("NodePool/words", "no-op"), fields=(textual,)),
        replace(change("NodePool/blocked", "no-op"), blocked="it is being deleted"),
        replace(change("NodePool/contested", "update"), conflicts=(Conflict("spec.weight", "kubectl", "people", ""),)),
        replace(change("NodePool/wrong", "update"), rejections=(Rejection("", "no", None),)),
    )  # fmt: skip

    assert count_changes(changes) == Summary(
        create=1, update=4, delete=1, unchanged=1, textual=1, conflicts=1, blocked=1, rejected=1
    )
    assert count_changes(()) == Summary(0, 0, 0, 0, 0, 0, 0, 0)
