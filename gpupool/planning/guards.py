"""What has to hold before anything is deleted or written, and how each guard is passed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.objects import is_pool
from gpupool.planning.plan import Change, Consent, Guard, Summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gpupool.objects import Ref


class GuardInputs(NamedTuple):
    """What the guards look at."""

    consent: Consent
    deletions: Sequence[Change]
    pools_wanted: int
    pools_listed: int
    """How many NodePools the inventory lists."""

    dangling: Mapping[Ref, Ref]
    """NodePools whose class is neither there nor to come, with the class."""

    admissions: Sequence[str]
    """Objects that admission would change."""

    was_complete: bool
    """Whether every kind could be listed: what was not looked at is not missing."""


def check_guards(facts: GuardInputs) -> tuple[Guard, ...]:
    """Return every guard that has something to say."""
    return tuple(_guards(facts))


def _guards(facts: GuardInputs) -> Iterator[Guard]:
    if facts.dangling:
        said = ", ".join(f"{pool} refers to {kind}" for pool, kind in sorted(facts.dangling.items()))
        message = f"{said}, which does not exist"
        yield Guard(
            "references", passed=False, message=message, remedy="declare the class, or create it first"
        )
    if facts.admissions and facts.consent.fail_on_admission:
        message = (
            f"{', '.join(facts.admissions)}: admission would store something else than the blueprint says"
        )
        yield Guard("admission", passed=False, message=message, remedy="")
    if not facts.deletions:
        return
    pools = [each for each in facts.deletions if is_pool(each.ref)]
    classes = [each for each in facts.deletions if not is_pool(each.ref)]
    names = ", ".join(each.address for each in facts.deletions)
    if not facts.consent.prune:
        message = f"{names}: no longer in the blueprint, and not deleted"
        yield Guard("prune", passed=True, message=message, remedy="--prune")
        return
    if not facts.was_complete:
        message = "some kinds could not be listed, so objects may be missing from this plan"
        yield Guard("complete", passed=False, message=message, remedy="")
    if facts.pools_listed and not facts.pools_wanted:
        message = "the blueprint has no pools left: this would remove all of them"
        yield Guard("empty", passed=facts.consent.allow_empty, message=message, remedy="--allow-empty")
    if len(pools) > facts.consent.max_deletes:
        number = f"{len(pools)} NodePool{'s' * (len(pools) != 1)}"
        message = f"{number} would be deleted, but --max-deletes is {facts.consent.max_deletes}"
        yield Guard("max-deletes", passed=False, message=message, remedy=f"--max-deletes {len(pools)}")
    yield from _pools_in_use(facts.consent, pools)
    yield from _classes_in_use(classes)


def _pools_in_use(consent: Consent, pools: Sequence[Change]) -> Iterator[Guard]:
    for each in pools:
        if is_kept(each, consent):
            message = f"{each.address} still has {describe_node_claims(each.node_claims)}: it is kept until they are gone"
            remedy = "" if consent.drain else f"--drain, or --allow-delete {each.address}"
            yield Guard("when-empty", passed=True, message=message, remedy=remedy)


def _classes_in_use(classes: Sequence[Change]) -> Iterator[Guard]:
    for each in classes:
        if each.node_claims:
            message = f"{each.address} still has {describe_node_claims(each.node_claims)}: it is kept until they are gone"
            yield Guard("in-use", passed=True, message=message, remedy="")


def is_kept(change: Change, consent: Consent) -> bool:
    """Return whether an object that would be deleted is kept for now, as something runs on it."""
    is_allowed = is_pool(change.ref) and change.address in consent.allow_delete
    return bool(change.node_claims) and not is_allowed


def describe_node_claims(count: int | None) -> str:
    """Count NodeClaims."""
    return f"{count or 'no'} NodeClaim{'s' * (count != 1)}"


def count_changes(changes: Sequence[Change]) -> Summary:
    """Count the changes."""
    idle = [each for each in changes if not each.writes]
    textual = [each for each in idle if each.fields and not each.blocked]
    blocked = [each for each in changes if each.blocked]
    rejected = [each for each in changes if each.rejections]
    return Summary(
        create=sum(each.actions == ("create",) for each in changes),
        update=sum("update" in each.actions for each in changes),
        delete=sum("delete" in each.actions for each in changes),
        unchanged=len(idle) - len(textual) - len(blocked),
        textual=len(textual),
        conflicts=sum(bool(each.conflicts) for each in changes),
        blocked=len(blocked),
        rejected=len(rejected),
    )
