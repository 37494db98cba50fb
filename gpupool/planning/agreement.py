"""Consistency of a plan file: every value that follows from the rest of the plan is checked.

An edited plan can be sealed again with a fitting `id`. So a reader calculates these values again: the plan
that is applied does what the approved plan shows.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.objects import is_pool
from gpupool.planning import addresses, guards
from gpupool.planning.addresses import KINDS, is_address
from gpupool.planning.change_agreement import find_change_mistakes
from gpupool.planning.foreign_fields import BLUEPRINT, PART_OF, calculate_applyset_id
from gpupool.planning.signature import is_signature

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpupool.planning.change_agreement import Mistake
    from gpupool.planning.plan import Change, Consent, Guard, Plan

EXPIRES_AFTER: Final = timedelta(hours=24)
_TIME: Final = "%Y-%m-%dT%H:%M:%SZ"
_CLUSTER_GUARDS: Final = frozenset({"references", "complete"})
"""Guards about the cluster, which a plan file can't prove; `apply` checks them again."""


class PlanTimes(NamedTuple):
    """The times when a plan was made and when it expires."""

    created: datetime
    expires: datetime


def format_time(moment: datetime) -> str:
    """Return a time in the format of plan files."""
    return moment.strftime(_TIME)


def parse_time(text: str) -> datetime | None:
    """Parse a time of a plan file; None for any other text."""
    try:
        moment = datetime.strptime(text, _TIME).replace(tzinfo=UTC)
        return moment if format_time(moment) == text else None
    except ValueError:
        return None


def parse_times(plan: Plan) -> PlanTimes | None:
    """Parse the times when a plan was made and expires; None unless both are valid."""
    created, expires = parse_time(plan.created_at), parse_time(plan.expires_at)
    return None if created is None or expires is None else PlanTimes(created, expires)


def find_mistakes(plan: Plan) -> Iterator[Mistake]:
    """Yield every place where a plan contradicts itself, or that no gpupool writes like this."""
    if plan.signature and not is_signature(plan.signature):
        yield ("signature",), "this is not an Ed25519 signature in base64"
    if len(set(plan.source.features)) < len(plan.source.features):
        yield ("source", "features"), "a feature gate is listed twice"
    yield from _check_times(plan)
    yield from _check_inventory(plan)
    yield from _check_consent(plan)
    yield from _check_addresses(plan)
    labels = {
        PART_OF: calculate_applyset_id(plan.inventory.namespace, plan.inventory.name),
        BLUEPRINT: plan.source.blueprint,
    }
    for index, change in enumerate(plan.changes):
        for path, message in find_change_mistakes(change, labels, plan.consent):
            yield ("changes", index, *path), message
    if not _has_expected_guards(plan):
        yield ("guards",), "the guards are not those that these changes and this consent have"
    if plan.summary != guards.count_changes(plan.changes):
        yield ("summary",), "the summary does not count these changes"


def _check_times(plan: Plan) -> Iterator[Mistake]:
    for key, text in (("createdAt", plan.created_at), ("expiresAt", plan.expires_at)):
        if parse_time(text) is None:
            yield (key,), "this is not a time such as `2026-11-21T08:00:00Z`"
    times = parse_times(plan)
    if times is not None and not times.created < times.expires <= times.created + EXPIRES_AFTER:
        yield ("expiresAt",), "a plan expires within the 24 hours after `createdAt`"


def _check_inventory(plan: Plan) -> Iterator[Mistake]:
    state, blueprint = plan.inventory, plan.source.blueprint
    if not addresses.is_label(blueprint):
        yield ("source", "blueprint"), f"`{blueprint}` is not the name of a blueprint"
    if not addresses.is_label(state.namespace):
        yield ("inventory", "namespace"), f"`{state.namespace}` is not the name of a namespace"
    if state.name != f"gpupool-{blueprint}":
        yield ("inventory", "name"), f"the inventory of this blueprint is `gpupool-{blueprint}`"
    if state.serial < 0 or (state.serial and not state.uid):
        yield ("inventory", "serial"), "an inventory that does not exist has the serial 0, and none has less"


def _check_consent(plan: Plan) -> Iterator[Mistake]:
    consent = plan.consent
    if consent.max_deletes < 0:
        yield ("consent", "maxDeletes"), "the number of deletions is at least 0"
    if not is_conflict_choice(consent.on_conflict):
        yield ("consent", "onConflict"), "this is none of `fail`, `take` and `take=PATH,PATH`"
    for key, names in (("allowDelete", consent.allow_delete), ("adopt", consent.adopt)):
        for index, address in enumerate(names):
            if not is_address(address):
                yield ("consent", key, index), _not_an_address(address)
    written = {change.address for change in plan.changes if change.actions != ("delete",)}
    for index, address in enumerate(consent.adopt):
        if is_address(address) and address not in written:
            yield ("consent", "adopt", index), f"the plan does not write `{address}`"


def is_conflict_choice(text: str) -> bool:
    """Return whether a text is a choice of `--on-conflict`."""
    choice, equals, paths = text.partition("=")
    return bool(paths) and choice == "take" if equals else choice in {"fail", "take"}


def _check_addresses(plan: Plan) -> Iterator[Mistake]:
    lists: tuple[tuple[str, Sequence[str]], ...] = (("orphans", plan.orphans), ("lost", plan.lost))
    for key, names in lists:
        for index, address in enumerate(names):
            if not is_address(address):
                yield (key, index), _not_an_address(address)
    counts: Counter[str] = Counter()
    for index, change in enumerate(plan.changes):
        counts[change.address] += 1
        if not is_address(change.address):
            yield ("changes", index, "address"), _not_an_address(change.address)
        elif counts[change.address] > 1:
            yield ("changes", index, "address"), f"duplicate change of `{change.address}`"
    valid = [change for change in plan.changes if is_address(change.address)]
    if valid != sorted(valid, key=_sort_key):
        message = (
            "the changes are not in the order in which they are made: classes, overlays, pools, deletions"
        )
        yield ("changes",), message


def _not_an_address(address: str) -> str:
    return f"`{address}` is not the address of a NodePool, EC2NodeClass or NodeOverlay"


def _sort_key(change: Change) -> tuple[bool, int, str]:
    kind = KINDS.index(change.ref.kind)
    is_deletion = change.actions == ("delete",)
    return (True, -kind, change.address) if is_deletion else (False, kind, "")


def _has_expected_guards(plan: Plan) -> bool:
    """Return whether a plan's guards follow from the plan, as far as a file can prove them."""
    if any(guard.name in _CLUSTER_GUARDS and guard.passed for guard in plan.guards):
        return False
    provable = [guard for guard in plan.guards if guard.name not in _CLUSTER_GUARDS]
    deletions = [change for change in plan.changes if change.actions == ("delete",)]
    listed = sum(is_pool(change.ref) for change in deletions)
    # The inventory may list pools that no longer exist: then the last pool is removed without a deletion.
    return any(
        provable == build_expected_guards(plan.changes, plan.consent, count)
        for count in {listed, max(listed, 1)}
    )


def build_expected_guards(changes: Sequence[Change], consent: Consent, pools_listed: int) -> list[Guard]:
    """Build the guards of these changes in a cluster that has every class and every kind."""
    deletions = [change for change in changes if change.actions == ("delete",)]
    inputs = guards.GuardInputs(
        consent=consent,
        deletions=deletions,
        pools_desired=sum(is_pool(change.ref) for change in changes)
        - sum(is_pool(change.ref) for change in deletions),
        pools_listed=pools_listed,
        dangling={},
        admissions=[change.address for change in changes if change.admissions],
        is_complete=True,
    )
    return [*guards.check_guards(inputs)]
