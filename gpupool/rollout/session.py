"""Sessions: from blueprint files and cluster options to a plan, and from a plan to its result."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.deadline import Deadline
from gpupool.errors import ClusterError, ConflictError, GuardError, OutdatedError, UsageError
from gpupool.objects import Ref, digest
from gpupool.planning.agreement import parse_times
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
    from gpupool.rollout.inventory.store import Inventory
    from gpupool.rollout.planning.assess import AssessedObject
    from gpupool.rollout.planning.prepare import PreparedPlan
    from gpupool.yamlio.located import Plain


_MOVE: Final = "gpupool move --from "
_CLOCKS: Final = timedelta(minutes=5)
"""The tolerated difference between the clocks of two machines."""


class Session(NamedTuple):
    """A blueprint, its cluster and the plan."""

    reached: ReachedCluster
    desired: DesiredState
    prepared: PreparedPlan

    @property
    def plan(self) -> Plan:
        """Return the plan."""
        return self.prepared.plan


def prepare_session(
    files: Sequence[str], options: ClusterOptions, consent: Consent, deadline: Deadline | None = None
) -> Session:
    """Prepare a plan that is not saved.

    Raises:
        InputError: with every mistake in the blueprint.
        UsageError: where `--adopt` names an object that the blueprint does not have.
        GuardError: where the cluster is not the blueprint's.
        ClusterError: where a request fails.
    """
    return _session(files, options, consent, deadline or Deadline(options.timeout), is_saved=False)


def prepare_saved_session(files: Sequence[str], options: ClusterOptions, consent: Consent) -> Session:
    """Prepare a plan for a file, with the digests that it is verified against later.

    Raises:
        InputError: with every mistake in the blueprint.
        GuardError: where the cluster is not the blueprint's.
        ClusterError: where a request fails.
    """
    return _session(files, options, consent, Deadline(options.timeout), is_saved=True)


def _session(
    files: Sequence[str], options: ClusterOptions, consent: Consent, deadline: Deadline, *, is_saved: bool
) -> Session:
    desired = load_desired_state(files, allow_empty=consent.allow_empty)
    _ensure_adoptable(consent.adopt, desired)
    reached = reach(options, desired.pins, deadline)
    agreed = replace(consent, prune=consent.prune or desired.prune)
    if not is_saved:
        return Session(reached, desired, prepare(reached, desired, PlanOptions(agreed, gpupool_version())))
    from gpupool.cluster.crds import read_crd_digests
    from gpupool.planning.file import seal
    from gpupool.rollout.commit import find_commit

    plan_options = PlanOptions(
        agreed, gpupool_version(), read_crd_digests(reached.cluster), find_commit(desired.files)
    )
    prepared = prepare(reached, desired, plan_options)
    plan = prepared.plan
    if _has_sensitive_values(plan) and not plan.inventory.key:
        plan = replace(plan, warnings=(*plan.warnings, UNKNOWN))
    return Session(reached, desired, prepared._replace(plan=seal(plan)))


def _has_sensitive_values(plan: Plan) -> bool:
    return any(is_sealed(change.body) for change in plan.changes)


def _ensure_adoptable(adopted: Sequence[str], desired: DesiredState) -> None:
    refs = {manifest.ref for manifest in desired.manifests}
    for address in adopted:
        if Ref.parse(address) not in refs:
            message = f"--adopt {address}: the object is not in the blueprint"
            raise UsageError(message)


@cache
def gpupool_version() -> str:
    """Return gpupool's version, which is read from disk once."""
    from importlib.metadata import version as installed

    return installed("gpupool")


def ensure_acceptable(plan: Plan) -> None:
    """Raise an error for rejected objects and conflicts of a plan.

    Raises:
        ClusterError: where the API server rejects an object.
        ConflictError: where another owner manages a field or an object.
    """
    if rejected := [change.address for change in plan.changes if change.rejections]:
        message = f"the API server rejects {join_names(rejected)}; nothing was applied"
        raise ClusterError(message)
    foreign = [
        change for change in plan.changes if change.conflicts or (change.blocked and not change.leaving)
    ]
    if foreign:
        addresses = join_names([change.address for change in foreign])
        advice = "".join(f". {sentence}" for sentence in _advice(foreign))
        message = f"conflict: another owner manages {addresses}. Nothing was applied{advice}"
        raise ConflictError(message)


def ensure_applicable(plan: Plan) -> None:
    """Raise an error for everything that blocks a plan, before anything is written.

    Raises:
        ClusterError: where the API server rejects an object.
        ConflictError: where another owner manages a field or an object.
        GuardError: where a guard blocks the plan.
    """
    ensure_acceptable(plan)
    failed = [f"{guard.name}: {guard.message}" for guard in plan.guards if not guard.passed]
    if failed:
        message = f"blocked by a guard; nothing was applied: {join_names(failed, '; ')}"
        raise GuardError(message)


def _advice(foreign: Sequence[Change]) -> Iterator[str]:
    """Yield advice about other owners, one sentence for each kind of owner."""
    kinds = {conflict.kind for change in foreign for conflict in change.conflicts}
    if "people" in kinds:
        yield (
            "To keep what people changed, write it into the blueprint; to overwrite it, pass --on-conflict"
            " take or take=PATHS"
        )
    if "gitops" in kinds:
        yield "Remove what another tool applies from that tool or from the blueprint"
    if "controller" in kinds:
        yield "Leave what a controller writes out of the blueprint"
    commands = [change.blocked.partition(_MOVE) for change in foreign]
    for command in dict.fromkeys("".join(rest) for _, *rest in commands if rest[0]):
        yield f"If a blueprint was renamed, or its inventory moved: {command}"
    if adoptable := [change.address for change in foreign if "--adopt" in change.blocked]:
        tools = dict.fromkeys(tool for change in foreign for tool in change.managed_by)
        flags = [
            *(f"--adopt {address}" for address in adoptable),
            *(f"--adopt-from {tool}" for tool in tools),
        ]
        yield f"To adopt: {join_names(flags, ' ')}"


def is_settled(session: Session) -> bool:
    """Return whether neither an object nor the inventory would change."""
    plan, inventory = session.plan, session.prepared.observed.inventory
    kept = [change for change in plan.changes if change.actions != ("delete",)]
    if inventory.pending or any(change.writes or change.leaving for change in kept):
        return False
    if plan.consent.prune and session.prepared.deletions:
        return False
    if any(_has_other_inputs(item, inventory) for item in session.prepared.assessed):
        return False
    recorded = {entry.ref: entry.digest for entry in inventory.current}
    desired = {item.desired.ref: item.desired.digest for item in session.prepared.assessed}
    stale = recorded.keys() - desired.keys() - session.prepared.observed.live.keys()
    return not stale and all(recorded.get(ref) == digest for ref, digest in desired.items())


def _has_other_inputs(item: AssessedObject, inventory: Inventory) -> bool:
    """Return whether the inventory has outdated texts of inputs, which the next plan would compare with."""
    entry = inventory.entries.get(item.desired.ref)
    return entry is not None and entry.inputs != () and dict(entry.inputs) != dict(item.change.inputs)


def is_ready(session: Session, wait: str) -> bool:
    """Return whether the condition of `--wait` is met already by the live state."""
    from gpupool.rollout.watch.waiting import read_readiness

    if wait == "none":
        return True
    live, has_overlays = session.prepared.observed.live, session.desired.is_overlay_gate_on
    return all(
        read_readiness(live[item.desired.ref]).is_ready
        for item in session.prepared.assessed
        if has_overlays or item.desired.kind.name != "NodeOverlay"
    )


def carry_out(session: Session, options: ApplyOptions) -> Result:
    """Apply a session's plan.

    Raises:
        StalePlanError: where the cluster has changed since; nothing was written.
        GuardError: where another run holds the lock for too long; nothing was written.
    """
    from gpupool.rollout.applying import apply

    prepared, plan = session.prepared, session.plan
    # This plan is never saved: sealing all of it would take as long as fifty requests.
    identity: Plain = [plan.created_at, plan.source.render, plan.inventory.serial, plan.target.uid]
    identified = plan if plan.id else replace(plan, id=digest(identity))
    return apply.carry_out(session.reached, identified, prepared.assessed, prepared.masker, options)


def carry_out_saved(
    plan: Plan, files: Sequence[str], connection: ClusterOptions, deadline: Deadline, options: ApplyOptions
) -> Result:
    """Apply a saved plan, if it is still valid.

    Raises:
        OutdatedError: where it has expired, is for another cluster, or is stale.
    """
    from gpupool.rollout.applying import apply
    from gpupool.rollout.planning.verify import with_desired_objects

    _ensure_in_time(plan)
    ensure_applicable(plan)
    desired = (
        load_desired_state(files, allow_empty=plan.consent.allow_empty)
        if _has_sensitive_values(plan)
        else None
    )
    pins = Pins(uid=None) if desired is None else desired.pins
    reached = reach(connection, pins, deadline)
    if reached.uid != plan.target.uid:
        message = f"the plan is for another cluster: its uid is {plan.target.uid}, not {reached.uid}"
        raise OutdatedError(message)
    _ensure_same_crds(plan, reached)
    masker = restore_masker(reached, plan)
    if desired is not None and masker is None:
        raise OutdatedError(_no_key(plan))
    masker = masker or build_random_masker(reached, plan)
    bodies = _from_plan(plan) if desired is None else _from_blueprint(plan, desired, masker)
    approved = with_desired_objects(plan, bodies)
    return apply.carry_out(reached, plan, approved, masker, replace(options, is_saved=True))


def _ensure_in_time(plan: Plan) -> None:
    """Raise an error for a plan that has expired, or that was made in the future."""
    stated, now = parse_times(plan), datetime.now(UTC)
    if stated is None or stated.expires < now:
        message = f"the plan has expired at {plan.expires_at}: make a new one"
        raise OutdatedError(message)
    if stated.created > now + _CLOCKS:
        message = (
            f"the plan was made at {plan.created_at}, which is in the future: correct the clock of the"
            " computer that made it or of this one, and make a new plan"
        )
        raise OutdatedError(message)


def _no_key(plan: Plan) -> str:
    """Return why a plan's sensitive values can't be compared with the blueprint's."""
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
        message = f"the CRDs were changed since the plan was made: {', '.join(changed)}. Make a new plan"
        raise OutdatedError(message)


def _from_plan(plan: Plan) -> Mapping[Ref, DesiredObject]:
    from gpupool.cluster.resources import KINDS

    return {
        change.ref: DesiredObject(
            KINDS[change.ref.kind], change.ref.name, change.body, saved_inputs=change.inputs
        )
        for change in plan.changes
        if change.body is not None
    }


def _from_blueprint(plan: Plan, desired: DesiredState, masker: Masker) -> Mapping[Ref, DesiredObject]:
    """Return the blueprint's objects, and check that they are those of the plan, byte for byte."""
    from gpupool.rollout.inventory.store import InventoryRef

    place = InventoryRef(plan.inventory.namespace, plan.inventory.name)
    desired_objects = {item.ref: item for item in build_desired_objects(desired, place)}
    approved = {change.ref: change.body for change in plan.changes if change.body is not None}
    now = {ref: masker.seal(str(ref), dict(item.body)) for ref, item in desired_objects.items()}
    if changed := sorted(str(ref) for ref in {*approved, *now} if approved.get(ref) != now.get(ref)):
        message = (
            f"the blueprint has changed since the plan was made: {', '.join(changed)} differ. Make a new plan"
        )
        raise OutdatedError(message)
    return desired_objects
