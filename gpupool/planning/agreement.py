"""Agreement inside a plan file: whatever follows from the rest of the plan must be what the plan states.

A plan's `id` fits whatever somebody seals anew. So a reader works out again what was worked out once: who
approves a plan by what it shows approves what is done.
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
_UNKNOWABLE: Final = frozenset({"references", "complete"})
"""Guards about the cluster, which a plan can't prove; `apply` asks them again."""


class PlanTimes(NamedTuple):
    """When a plan was made, and until when it may be applied."""

    created: datetime
    expires: datetime


def format_time(moment: datetime) -> str:
    """Return a time as a plan states it."""
    return moment.strftime(_TIME)


def parse_time(text: str) -> datetime | None:
    """Return the time that a plan states; None for any other text."""
    try:
        moment = datetime.strptime(text, _TIME).replace(tzinfo=UTC)
        return moment if format_time(moment) == text else None
    except ValueError:
        return None


def parse_times(plan: Plan) -> PlanTimes | None:
    """Return when a plan was made and expires; None where it does not state two times."""
    created, expires = parse_time(plan.created_at), parse_time(plan.expires_at)
    return None if created is None or expires is None else PlanTimes(created, expires)


def find_mistakes(plan: Plan) -> Iterator[Mistake]:
    """Yield every place where a plan contradicts itself, or states what no gpupool writes."""
    if plan.signature and not is_signature(plan.signature):
        yield ("signature",), "this is not an Ed25519 signature in base64"
    yield from _times(plan)
    yield from _inventory(plan)
    yield from _consent(plan)
    yield from _addresses(plan)
    labels = {
        PART_OF: calculate_applyset_id(plan.inventory.namespace, plan.inventory.name),
        BLUEPRINT: plan.source.blueprint,
    }
    for index, change in enumerate(plan.changes):
        for path, message in find_change_mistakes(change, labels, plan.consent):
            yield ("changes", index, *path), message
    if not _is_same_guards(plan):
        yield ("guards",), "the guards are not those that these changes and this consent have"
    if plan.summary != guards.count_changes(plan.changes):
        yield ("summary",), "the summary does not count these changes"


def _times(plan: Plan) -> Iterator[Mistake]:
    for key, text in (("createdAt", plan.created_at), ("expiresAt", plan.expires_at)):
        if parse_time(text) is None:
            yield (key,), "this is not a time such as `2026-11-21T08:00:00Z`"
    found = parse_times(plan)
    if found is not None and not found.created < found.expires <= found.created + EXPIRES_AFTER:
        yield ("expiresAt",), "a plan expires within the 24 hours after `createdAt`"


def _inventory(plan: Plan) -> Iterator[Mistake]:
    state, blueprint = plan.inventory, plan.source.blueprint
    if not addresses.is_label(blueprint):
        yield ("source", "blueprint"), f"`{blueprint}` is not the name of a blueprint"
    if not addresses.is_label(state.namespace):
        yield ("inventory", "namespace"), f"`{state.namespace}` is not the name of a namespace"
    if state.name != f"gpupool-{blueprint}":
        yield ("inventory", "name"), f"the inventory of this blueprint is `gpupool-{blueprint}`"
    if state.serial < 0 or (state.serial and not state.uid):
        yield ("inventory", "serial"), "an inventory that does not exist has the serial 0, and none has less"


def _consent(plan: Plan) -> Iterator[Mistake]:
    consent = plan.consent
    if consent.max_deletes < 0:
        yield ("consent", "maxDeletes"), "the number of deletions is at least 0"
    if not is_conflict_choice(consent.on_conflict):
        yield ("consent", "onConflict"), "this is none of `fail`, `take` and `take=PATH,PATH`"
    for key, names in (("allowDelete", consent.allow_delete), ("adopt", consent.adopt)):
        for index, address in enumerate(names):
            if not is_address(address):
                yield ("consent", key, index), _not_an_address(address)
    written = {each.address for each in plan.changes if each.actions != ("delete",)}
    for index, address in enumerate(consent.adopt):
        if is_address(address) and address not in written:
            yield ("consent", "adopt", index), f"the plan does not write `{address}`"


def is_conflict_choice(text: str) -> bool:
    """Return whether a text is a choice of `--on-conflict`."""
    word, equals, paths = text.partition("=")
    return bool(paths) and word == "take" if equals else word in {"fail", "take"}


def _addresses(plan: Plan) -> Iterator[Mistake]:
    lists: tuple[tuple[str, Sequence[str]], ...] = (("orphans", plan.orphans), ("lost", plan.lost))
    for key, names in lists:
        for index, address in enumerate(names):
            if not is_address(address):
                yield (key, index), _not_an_address(address)
    known: Counter[str] = Counter()
    for index, change in enumerate(plan.changes):
        known[change.address] += 1
        if not is_address(change.address):
            yield ("changes", index, "address"), _not_an_address(change.address)
        elif known[change.address] > 1:
            yield ("changes", index, "address"), f"duplicate change of `{change.address}`"
    valid = [each for each in plan.changes if is_address(each.address)]
    if valid != sorted(valid, key=_rank):
        message = (
            "the changes are not in the order in which they are made: classes, overlays, pools, deletions"
        )
        yield ("changes",), message


def _not_an_address(address: str) -> str:
    return f"`{address}` is not the address of a NodePool, EC2NodeClass or NodeOverlay"


def _rank(change: Change) -> tuple[bool, int, str]:
    kind = KINDS.index(change.ref.kind)
    is_deletion = change.actions == ("delete",)
    return (True, -kind, change.address) if is_deletion else (False, kind, "")


def _is_same_guards(plan: Plan) -> bool:
    """Return whether a plan's guards are those that follow from it, as far as a file can prove them."""
    if any(each.name in _UNKNOWABLE and each.passed for each in plan.guards):
        return False
    known = [each for each in plan.guards if each.name not in _UNKNOWABLE]
    deletions = [each for each in plan.changes if each.actions == ("delete",)]
    listed = sum(is_pool(each.ref) for each in deletions)
    # The inventory may list pools that no longer exist: then the last one goes without a deletion.
    return any(
        known == build_expected_guards(plan.changes, plan.consent, count)
        for count in {listed, max(listed, 1)}
    )


def build_expected_guards(changes: Sequence[Change], consent: Consent, pools_listed: int) -> list[Guard]:
    """Return the guards of these changes, in a cluster that has every class and every kind."""
    deletions = [each for each in changes if each.actions == ("delete",)]
    facts = guards.GuardInputs(
        consent=consent,
        deletions=deletions,
        pools_wanted=sum(is_pool(each.ref) for each in changes)
        - sum(is_pool(each.ref) for each in deletions),
        pools_listed=pools_listed,
        dangling={},
        admissions=[each.address for each in changes if each.admissions],
        was_complete=True,
    )
    return [*guards.check_guards(facts)]
