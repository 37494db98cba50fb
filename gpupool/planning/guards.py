"""Guards against dangerous writes and deletions, each with the option that passes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.objects import is_pool
from gpupool.planning.plan import Change, Consent, Guard, Summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gpupool.objects import Ref


class GuardInputs(NamedTuple):
    """The input of the guards."""

    consent: Consent
    deletions: Sequence[Change]
    pools_desired: int
    pools_listed: int
    """The number of NodePools in the inventory."""

    dangling: Mapping[Ref, Ref]
    """NodePools whose class neither exists nor is created, with the class."""

    admissions: Sequence[str]
    """Objects that admission would change."""

    is_complete: bool
    """Whether every kind could be listed; objects of an unlisted kind are not missing."""


def check_guards(inputs: GuardInputs) -> tuple[Guard, ...]:
    """Check the guards and return the result of each that applies."""
    return tuple(_check_guards(inputs))


def _check_guards(inputs: GuardInputs) -> Iterator[Guard]:
    if inputs.dangling:
        references = ", ".join(f"{pool} refers to {kind}" for pool, kind in sorted(inputs.dangling.items()))
        message = f"{references}, which does not exist"
        yield Guard(
            "references", passed=False, message=message, remedy="declare the class, or create it first"
        )
    if inputs.admissions and inputs.consent.fail_on_admission:
        message = (
            f"{', '.join(inputs.admissions)}: admission would store something else than the blueprint says"
        )
        yield Guard("admission", passed=False, message=message, remedy="")
    if not inputs.deletions:
        return
    pools = [change for change in inputs.deletions if is_pool(change.ref)]
    classes = [change for change in inputs.deletions if not is_pool(change.ref)]
    names = ", ".join(change.address for change in inputs.deletions)
    if not inputs.consent.prune:
        message = f"{names}: no longer in the blueprint, and not deleted"
        yield Guard("prune", passed=True, message=message, remedy="--prune")
        return
    if not inputs.is_complete:
        message = "some kinds could not be listed, so objects may be missing from this plan"
        yield Guard("complete", passed=False, message=message, remedy="")
    if inputs.pools_listed and not inputs.pools_desired:
        message = "the blueprint has no pools left: this would remove all of them"
        yield Guard("empty", passed=inputs.consent.allow_empty, message=message, remedy="--allow-empty")
    if len(pools) > inputs.consent.max_deletes:
        number = f"{len(pools)} NodePool{'s' * (len(pools) != 1)}"
        message = f"{number} would be deleted, but --max-deletes is {inputs.consent.max_deletes}"
        yield Guard("max-deletes", passed=False, message=message, remedy=f"--max-deletes {len(pools)}")
    yield from _pools_in_use(inputs.consent, pools)
    yield from _classes_in_use(classes)


def _pools_in_use(consent: Consent, pools: Sequence[Change]) -> Iterator[Guard]:
    for pool in pools:
        if is_kept(pool, consent):
            count = describe_node_claims(pool.node_claims)
            message = f"{pool.address} still has {count}: it is kept until they are gone"
            remedy = "" if consent.drain else f"--drain, or --allow-delete {pool.address}"
            yield Guard("when-empty", passed=True, message=message, remedy=remedy)


def _classes_in_use(classes: Sequence[Change]) -> Iterator[Guard]:
    for node_class in classes:
        if node_class.node_claims:
            count = describe_node_claims(node_class.node_claims)
            message = f"{node_class.address} still has {count}: it is kept until they are gone"
            yield Guard("in-use", passed=True, message=message, remedy="")


def is_kept(change: Change, consent: Consent) -> bool:
    """Return whether an object that would be deleted is kept for now, because it still has NodeClaims."""
    is_allowed = is_pool(change.ref) and change.address in consent.allow_delete
    return bool(change.node_claims) and not is_allowed


def describe_node_claims(count: int | None) -> str:
    """Return a number of NodeClaims as text."""
    return f"{count or 'no'} NodeClaim{'s' * (count != 1)}"


def count_changes(changes: Sequence[Change]) -> Summary:
    """Count the changes by result."""
    idle = [change for change in changes if not change.writes]
    textual = [change for change in idle if change.fields and not change.blocked]
    blocked = [change for change in changes if change.blocked]
    rejected = [change for change in changes if change.rejections]
    return Summary(
        create=sum(change.actions == ("create",) for change in changes),
        update=sum("update" in change.actions for change in changes),
        delete=sum("delete" in change.actions for change in changes),
        unchanged=len(idle) - len(textual) - len(blocked),
        textual=len(textual),
        conflicts=sum(bool(change.conflicts) for change in changes),
        blocked=len(blocked),
        rejected=len(rejected),
    )
