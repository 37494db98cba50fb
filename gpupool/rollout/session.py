"""Blueprint files and a cluster, from the command line's words to a plan, and from a plan to its result."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.deadline import Deadline
from gpupool.errors import ClusterError, ConflictError, GuardError, OutdatedError, UsageError
from gpupool.objects import Ref, digest
from gpupool.planning.agreement import times
from gpupool.planning.masking import is_sealed
from gpupool.rollout.applying.results import join_names
from gpupool.rollout.connection import Pins, reach
from gpupool.rollout.desired_state import load_desired_state
from gpupool.rollout.planning.desired_objects import DesiredObject, build_desired_objects
from gpupool.rollout.planning.digest_key import UNKNOWN, build_random_masker, restore_masker
from gpupool.rollout.planning.prepare import PlanOptions, prepare

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gpupool.planning.masking import Masker
    from gpupool.planning.plan import Change, Consent, Plan
    from gpupool.rollout.applying.apply import ApplyOptions
    from gpupool.rollout.applying.results import Result
    from gpupool.rollout.connection import ClusterOptions, ReachedCluster
    from gpupool.rollout.desired_state import DesiredState
    from gpupool.rollout.planning.prepare import Prepared
    from gpupool.yamlio.located import Plain


_MOVE: Final = "gpupool move --from "
_CLOCKS: Final = timedelta(minutes=5)
"""By how much the clocks of two machines may differ."""


class Session(NamedTuple):
    """A blueprint, its cluster, and what would become of it."""

    reached: ReachedCluster
    wanted: DesiredState
    prepared: Prepared

    @property
    def plan(self) -> Plan:
        """Return the plan."""
        return self.prepared.plan


def prepare_session(
    files: Sequence[str], way: ClusterOptions, consent: Consent, deadline: Deadline | None = None
) -> Session:
    """Work out what would become of a blueprint; nothing is saved.

    Raises:
        InputError: with every mistake in the blueprint.
        UsageError: where an object is to be taken over that the blueprint does not have.
        GuardError: where the cluster is not the blueprint's.
        ClusterError: where the server can't be asked.
    """
    return _session(files, way, consent, deadline or Deadline(way.timeout), is_saved=False)


def prepare_saved_session(files: Sequence[str], way: ClusterOptions, consent: Consent) -> Session:
    """Make a plan to be saved: with all that it is held against later.

    Raises:
        InputError: with every mistake in the blueprint.
        GuardError: where the cluster is not the blueprint's.
        ClusterError: where the server can't be asked.
    """
    return _session(files, way, consent, Deadline(way.timeout), is_saved=True)


def _session(
    files: Sequence[str], way: ClusterOptions, consent: Consent, deadline: Deadline, *, is_saved: bool
) -> Session:
    wanted = load_desired_state(files, allow_empty=consent.allow_empty)
    _ensure_known(consent.adopt, wanted)
    reached = reach(way, wanted.pins, deadline)
    agreed = replace(consent, prune=consent.prune or wanted.prune)
    if not is_saved:
        return Session(reached, wanted, prepare(reached, wanted, PlanOptions(agreed, gpupool_version())))
    from gpupool.cluster.crds import read_crd_digests
    from gpupool.planning.file import sealed
    from gpupool.rollout.commit import find_commit

    options = PlanOptions(
        agreed, gpupool_version(), read_crd_digests(reached.cluster), find_commit(wanted.files)
    )
    prepared = prepare(reached, wanted, options)
    plan = prepared.plan
    if _is_masked(plan) and not plan.inventory.key:
        plan = replace(plan, warnings=(*plan.warnings, UNKNOWN))
    return Session(reached, wanted, prepared._replace(plan=sealed(plan)))


def _is_masked(plan: Plan) -> bool:
    return any(is_sealed(each.body) for each in plan.changes)


def _ensure_known(adopted: Sequence[str], wanted: DesiredState) -> None:
    refs = {manifest.ref for manifest in wanted.manifests}
    for address in adopted:
        if Ref.parse(address) not in refs:
            message = f"--adopt {address}: the blueprint has no such object"
            raise UsageError(message)


@cache
def gpupool_version() -> str:
    """Return gpupool's own version; it is read from the disk, and asked for twice in an apply."""
    from importlib.metadata import version as installed

    return installed("gpupool")


def ensure_acceptable(plan: Plan) -> None:
    """Raise where the API server, or another owner, speaks against a plan.

    Raises:
        ClusterError: where the API server rejects an object.
        ConflictError: where somebody else owns a field, or an object.
    """
    if rejected := [each.address for each in plan.changes if each.rejections]:
        message = f"the API server rejects {join_names(rejected)}; nothing was applied"
        raise ClusterError(message)
    foreign = [each for each in plan.changes if each.conflicts or (each.blocked and not each.leaving)]
    if foreign:
        addresses = join_names([each.address for each in foreign])
        advice = "".join(f". {each}" for each in _ways_out(foreign))
        message = f"conflict: another owner manages {addresses}. Nothing was applied{advice}"
        raise ConflictError(message)


def ensure_applicable(plan: Plan) -> None:
    """Raise where something speaks against a plan; nothing of it is written then.

    Raises:
        ClusterError: where the API server rejects an object.
        ConflictError: where somebody else owns a field, or an object.
        GuardError: where a guard holds it back.
    """
    ensure_acceptable(plan)
    failed = [f"{each.name}: {each.message}" for each in plan.guards if not each.passed]
    if failed:
        message = f"blocked by a guard; nothing was applied: {join_names(failed, '; ')}"
        raise GuardError(message)


def _ways_out(foreign: Sequence[Change]) -> Iterator[str]:
    """Yield what can be done about other owners, for each kind of owner that there is."""
    kinds = {each.kind for change in foreign for each in change.conflicts}
    if "people" in kinds:
        yield (
            "To keep what people changed, write it into the blueprint; to overwrite it, pass --on-conflict"
            " take or take=PATHS"
        )
    if "gitops" in kinds:
        yield "Remove what another tool applies from that tool or from the blueprint"
    if "controller" in kinds:
        yield "Leave what a controller writes out of the blueprint"
    commands = [each.blocked.partition(_MOVE) for each in foreign]
    for command in dict.fromkeys("".join(rest) for _, *rest in commands if rest[0]):
        yield f"If a blueprint was renamed, or its inventory moved: {command}"
    if adoptable := [each.address for each in foreign if "--adopt" in each.blocked]:
        tools = dict.fromkeys(name for each in foreign for name in each.managed_by)
        flags = [*(f"--adopt {each}" for each in adoptable), *(f"--adopt-from {each}" for each in tools)]
        yield f"To adopt: {join_names(flags, ' ')}"


def is_settled(session: Session) -> bool:
    """Return whether there is nothing to do: neither an object nor the inventory would change."""
    plan, listed = session.plan, session.prepared.observed.inventory
    here = [each for each in plan.changes if each.actions != ("delete",)]
    if listed.pending or any(each.writes or each.leaving for each in here):
        return False
    if plan.consent.prune and session.prepared.deletions:
        return False
    recorded = {entry.ref: entry.digest for entry in listed.current}
    desired = {each.wish.ref: each.wish.digest for each in session.prepared.assessed}
    stale = recorded.keys() - desired.keys() - session.prepared.observed.live.keys()
    return not stale and all(recorded.get(ref) == digest for ref, digest in desired.items())


def is_ready(session: Session, wait: str) -> bool:
    """Return whether what is waited for holds already, by what was listed."""
    from gpupool.rollout.watch.waiting import read_readiness

    if wait == "none":
        return True
    live, counts = session.prepared.observed.live, session.wanted.overlays_count
    return all(
        read_readiness(live[each.wish.ref]).is_ready
        for each in session.prepared.assessed
        if counts or each.wish.kind.name != "NodeOverlay"
    )


def carry_out(session: Session, how: ApplyOptions) -> Result:
    """Do what a session's plan says.

    Raises:
        StalePlanError: where the cluster has changed since; nothing was written.
        GuardError: where somebody else holds the lock for too long; nothing was written.
    """
    from gpupool.rollout.applying import apply

    prepared, plan = session.prepared, session.plan
    # It is never read again: to seal all of it would take as long as to send fifty requests.
    known: Plain = [plan.created_at, plan.source.render, plan.inventory.serial, plan.target.uid]
    named = plan if plan.id else replace(plan, id=digest(known))
    return apply.carry_out(session.reached, named, prepared.assessed, prepared.masker, how)


def carry_out_saved(
    plan: Plan, files: Sequence[str], way: ClusterOptions, deadline: Deadline, how: ApplyOptions
) -> Result:
    """Do what a saved plan says, if it is still true.

    Raises:
        OutdatedError: where it has expired, is for another cluster, or is no longer true.
    """
    from gpupool.rollout.applying import apply
    from gpupool.rollout.planning.verify import with_desired_objects

    _ensure_in_time(plan)
    ensure_applicable(plan)
    wanted = load_desired_state(files, allow_empty=plan.consent.allow_empty) if _is_masked(plan) else None
    pins = Pins(uid=None) if wanted is None else wanted.pins
    reached = reach(way, pins, deadline)
    if reached.uid != plan.target.uid:
        message = (
            f"the plan is for another cluster: its uid is {plan.target.uid}, and this one's {reached.uid}"
        )
        raise OutdatedError(message)
    _ensure_same_crds(plan, reached)
    masker = restore_masker(reached, plan)
    if wanted is not None and masker is None:
        raise OutdatedError(_no_key(plan))
    masker = masker or build_random_masker(reached, plan)
    bodies = _from_plan(plan) if wanted is None else _from_blueprint(plan, wanted, masker)
    approved = with_desired_objects(plan, bodies)
    return apply.carry_out(reached, plan, approved, masker, replace(how, is_saved=True))


def _ensure_in_time(plan: Plan) -> None:
    """Raise for a plan that has expired, or that was made later than now, and so would expire too late."""
    stated, now = times(plan), datetime.now(UTC)
    if stated is None or stated.expires < now:
        message = f"the plan has expired at {plan.expires_at}: make a new one"
        raise OutdatedError(message)
    if stated.created > now + _CLOCKS:
        message = (
            f"the plan was made at {plan.created_at}, which is later than now: correct the clock of the"
            " machine that made it or of this one, and make a new plan"
        )
        raise OutdatedError(message)


def _no_key(plan: Plan) -> str:
    """Return why the sensitive values of a plan can't be compared with the blueprint's."""
    if not plan.inventory.key:
        return (
            "the plan has no key for its sensitive values: an older gpupool made it, or a user who may read"
            " neither the inventory nor the CRDs. Grant what `gpupool rbac plan` prints, and make a new one"
        )
    return (
        "the key of the plan's sensitive values is gone: the inventory is another one, or the CRDs were"
        " installed anew, since the plan was made. Make a new one"
    )


def _ensure_same_crds(plan: Plan, reached: ReachedCluster) -> None:
    if not plan.target.crds:
        return
    from gpupool.cluster.crds import read_crd_digests

    now = read_crd_digests(reached.cluster)
    changed = sorted(name for name, digest in plan.target.crds.items() if now.get(name, digest) != digest)
    if changed:
        message = f"the CRDs were changed since the plan was made: {', '.join(changed)}. Make a new one"
        raise OutdatedError(message)


def _from_plan(plan: Plan) -> Mapping[Ref, DesiredObject]:
    from gpupool.cluster.resources import KINDS

    return {
        change.ref: DesiredObject(KINDS[change.ref.kind], change.ref.name, change.body, None)
        for change in plan.changes
        if change.body is not None
    }


def _from_blueprint(plan: Plan, wanted: DesiredState, masker: Masker) -> Mapping[Ref, DesiredObject]:
    """Put the sensitive values back, and ensure that all the rest is what was approved, byte for byte."""
    from gpupool.rollout.inventory.store import InventoryRef

    place = InventoryRef(plan.inventory.namespace, plan.inventory.name)
    desired_objects = {each.ref: each for each in build_desired_objects(wanted, place)}
    approved = {change.ref: change.body for change in plan.changes if change.body is not None}
    now = {ref: masker.sealed(str(ref), dict(each.body)) for ref, each in desired_objects.items()}
    if changed := sorted(str(ref) for ref in {*approved, *now} if approved.get(ref) != now.get(ref)):
        message = (
            f"the blueprint is not the one that was planned: {', '.join(changed)} differ. Make a new plan"
        )
        raise OutdatedError(message)
    return desired_objects
