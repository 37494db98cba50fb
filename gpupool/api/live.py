"""Python API with a cluster: plan, diff, apply, status, doctor, move and unlock.

Each function connects with the options in `cluster` and first checks that the cluster is the one that the
blueprint names. Without `cluster`, the default is the kubeconfig and the context that kubectl would use,
unless the blueprint names another one. Without `consent`, nothing is done beyond applying the blueprint's
own objects: no deletion, and no takeover of objects of another owner. The errors are those of the commands
(`GpupoolError.exit_code`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gpupool.cluster.lease import Lease
    from gpupool.planning.plan import Consent, Plan
    from gpupool.rollout.applying.apply import ApplyOptions
    from gpupool.rollout.applying.moving import MoveOptions
    from gpupool.rollout.applying.results import Outcome, Result
    from gpupool.rollout.connection import ClusterOptions, ReachedCluster
    from gpupool.rollout.desired_state import DesiredState
    from gpupool.rollout.doctor.check import Diagnosis
    from gpupool.rollout.watch.status import Status


def diff(files: Sequence[str], cluster: ClusterOptions | None = None, consent: Consent | None = None) -> Plan:
    """Return the changes of an apply; the plan is complete, but not sealed for saving.

    Raises:
        InputError: with every error in the blueprint.
        GuardError: where the cluster is not the blueprint's.
        ClusterError: where the API server can't be reached, or answers with an error.
    """
    from gpupool.rollout import session

    return session.prepare_session(files, _or_default(cluster), consent or _no_consent()).plan


def plan(files: Sequence[str], cluster: ClusterOptions | None = None, consent: Consent | None = None) -> Plan:
    """Return a plan that can be saved: the changes of an apply, and the live state that they depend on.

    `consent` allows changes beyond applying the blueprint's own objects.

    Raises:
        InputError: with every error in the blueprint.
        GuardError: where the cluster is not the blueprint's.
        ClusterError: where the API server can't be reached, or answers with an error.
    """
    from gpupool.rollout import session

    return session.prepare_saved_session(files, _or_default(cluster), consent or _no_consent()).plan


def read_plan(path: str, verify_key: str | None = None) -> Plan:
    """Read a saved plan; with the path of a public key, its signature is required and verified.

    Raises:
        InputError: where the file can't be read, or is not a valid plan.
        GuardError: where the signature is missing or wrong.
    """
    from gpupool.planning import file

    if verify_key is None:
        return file.parse_plan(file.read_contents(path), path)
    from gpupool.planning.signature import ensure_signed, read_verifying_key

    key = read_verifying_key(verify_key)
    saved = file.parse_plan(file.read_contents(path), path)
    ensure_signed(saved, key)
    return saved


def write_plan(plan: Plan, path: str, sign_key: str | None = None) -> None:
    """Write a plan as JSON that only its owner can read; with the path of a private key, sign it.

    Raises:
        InputError: where the file can't be written.
    """
    from gpupool.planning.file import render_plan
    from gpupool.rendering.folder import write_atomically

    if sign_key is not None:
        from gpupool.planning.signature import read_signing_key, sign_plan

        plan = sign_plan(plan, read_signing_key(sign_key))
    write_atomically(Path(path), render_plan(plan), is_private=True)


def plan_document(plan: Plan, format_name: str = "text", *, show_textual: bool = False) -> str:
    """Return a plan as `text`, `patch`, `json`, `markdown` or `github` annotations, without secrets."""
    from gpupool.reports.plan.formats import FORMATS

    return FORMATS[format_name](plan, show_textual=show_textual)


def apply(
    files: Sequence[str], cluster: ClusterOptions | None = None, consent: Consent | None = None, *,
    wait: bool = True, lock_timeout: float = 60.0, on_progress: Callable[[str], None] | None = None,
) -> Result:  # fmt: skip
    """Plan and apply a blueprint without a prompt, and return the outcome of each object.

    Args:
        files: The blueprint's files, later ones over earlier ones.
        cluster: How to connect.
        consent: Changes that are allowed beyond applying the blueprint's own objects, such as pruning.
        wait: Whether to wait until the applied objects are Ready.
        lock_timeout: Seconds to wait for another run that holds the blueprint's lock.
        on_progress: Called with a line for each event.

    Raises:
        InputError: with every error in the blueprint.
        GuardError: where a guard blocks the plan, or another run holds the lock; nothing is applied.
        ConflictError: where another owner manages fields of the objects; nothing is applied.
        ClusterError: where the API server can't be reached or rejects an object; nothing is applied.
    """
    from gpupool.cluster.deadline import Deadline
    from gpupool.rollout import session

    cluster = _or_default(cluster)
    deadline = Deadline(cluster.timeout)
    prepared = session.prepare_session(files, cluster, consent or _no_consent(), deadline)
    session.ensure_applicable(prepared.plan)
    options = apply_options(
        files, wait=wait, lock_timeout=lock_timeout, is_overlay_gate_on=prepared.desired.is_overlay_gate_on,
        on_progress=on_progress,
    )  # fmt: skip
    return session.carry_out(prepared, options)


def apply_plan(
    plan: Plan, files: Sequence[str] = (), cluster: ClusterOptions | None = None, *,
    wait: bool = True, lock_timeout: float = 60.0, on_progress: Callable[[str], None] | None = None,
) -> Result:  # fmt: skip
    """Apply a saved plan that is not stale, and return the outcome of each object.

    `files` are the blueprint's; they are read only where the plan has digests of sensitive values.

    Raises:
        OutdatedError: where the plan has expired, is for another cluster, or is stale; nothing is applied.
        GuardError: where a guard blocks the plan, or another run holds the lock; nothing is applied.
    """
    from gpupool.cluster.deadline import Deadline
    from gpupool.rollout.session import carry_out_saved

    cluster = _or_default(cluster)
    options = apply_options(
        files, wait=wait, lock_timeout=lock_timeout, is_overlay_gate_on=plan.source.is_overlay_gate_on,
        on_progress=on_progress,
    )  # fmt: skip
    return carry_out_saved(plan, files, cluster, Deadline(cluster.timeout), options)


def status(files: Sequence[str], cluster: ClusterOptions | None = None) -> Status:
    """Return the state of the blueprint's objects in the cluster, and of the nodes of its pools.

    Raises:
        InputError: with every error in the blueprint.
        ClusterError: where the API server can't be reached, or answers with an error.
    """
    from gpupool.rollout.watch.status import read_status

    desired, reached = _reach(files, cluster)
    return read_status(reached, desired)


def wait_until(
    state: Literal["ready", "rollout"], files: Sequence[str], cluster: ClusterOptions | None = None
) -> list[str]:
    """Wait until all objects are Ready, or with `rollout` also until no node is outdated.

    Returns the objects that are not after `cluster.timeout`, as `NodePool/chat: …` with the reason; an empty
    list on success.

    Raises:
        InputError: with every error in the blueprint.
        ClusterError: where the API server can't be reached, or answers with an error.
    """
    from gpupool.rollout.watch.status import wait_until as wait_for

    desired, reached = _reach(files, cluster)
    return wait_for(reached, desired, state, _ignore_progress)


def doctor(
    files: Sequence[str] = (), cluster: ClusterOptions | None = None, *, prove_plan_only: bool = False
) -> Diagnosis:
    """Check whether plan and apply would work; without files, check only the cluster.

    Nothing is written; `prove_plan_only` also checks that a write attempt is denied.

    Raises:
        InputError: with every error in the blueprint.
        GuardError: where the cluster is not the blueprint's.
    """
    from gpupool.cluster.deadline import Deadline
    from gpupool.rollout.desired_state import load_desired_state
    from gpupool.rollout.doctor.doctor import DoctorRequest, diagnose

    cluster = _or_default(cluster)
    blueprint = load_desired_state(files) if files else None
    return diagnose(DoctorRequest(cluster, blueprint, prove_plan_only), Deadline(cluster.timeout))


def lock_holder(files: Sequence[str], cluster: ClusterOptions | None = None) -> Lease | None:
    """Return the lock of a blueprint, or None where it is free.

    Raises:
        ClusterError: where the API server can't be reached, or answers with an error.
    """
    from gpupool.rollout.lock import unlock as locks

    desired, reached = _reach(files, cluster)
    return locks.find_lock(reached.cluster, desired.namespace, desired.inventory)


def unlock(files: Sequence[str], holder: str, cluster: ClusterOptions | None = None) -> Lease | None:
    """Delete the lock of a run that has died, and return it; return None where the lock is free.

    `holder` is the id of the lock's holder; the lock of any other holder is kept.

    Raises:
        GuardError: where another run holds the lock.
    """
    from gpupool.rollout.lock import unlock as locks
    from gpupool.rollout.lock.lock import unlock_line

    desired, reached = _reach(files, cluster)
    lock = locks.find_lock(reached.cluster, desired.namespace, desired.inventory)
    if lock is None:
        return None
    return locks.unlock(reached.cluster, lock, holder, unlock_line(reached.options, files))


def move(
    files: Sequence[str], source: str, cluster: ClusterOptions | None = None, *,
    lock_timeout: float = 60.0, on_progress: Callable[[str], None] | None = None,
) -> Result | None:  # fmt: skip
    """Move the objects of a renamed blueprint to its new name or inventory, without a prompt.

    `source` is the blueprint that owns them now: `NAME`, or `NAMESPACE/NAME` for an inventory in another
    namespace. Returns the outcome of each object, or None where there is nothing to move.

    Raises:
        GuardError: where another run holds one of the locks.
        ConflictError: where neither blueprint owns an object.
    """
    from gpupool.rollout.applying import moving

    place = moving.parse_source(source)
    desired, reached = _reach(files, cluster)
    place = place._replace(namespace=place.namespace or desired.namespace)
    planned = moving.find_move(reached, desired, place)
    if moving.is_over(planned):
        return None
    return moving.carry_out(reached, desired, planned, move_options(files, lock_timeout, on_progress))


def move_options(
    files: Sequence[str], lock_timeout: float, on_progress: Callable[[str], None] | None = None
) -> MoveOptions:
    """Return the options of a move by this user, from the commit that the files are of."""
    from gpupool.rollout.applying.moving import MoveOptions

    options = apply_options(
        files, wait=False, lock_timeout=lock_timeout, is_overlay_gate_on=False, on_progress=on_progress
    )
    return MoveOptions(lock_timeout, options.tooling, options.who, options.files, options.say, options.done)


def apply_options(
    files: Sequence[str], *, wait: bool, lock_timeout: float, is_overlay_gate_on: bool,
    on_progress: Callable[[str], None] | None = None,
) -> ApplyOptions:  # fmt: skip
    """Return the options of an apply by this user, with the commit of the files."""
    from gpupool.reports.apply.result import format_outcome
    from gpupool.rollout.applying.apply import ApplyOptions
    from gpupool.rollout.commit import find_commit
    from gpupool.rollout.lock.lock_owner import current_owner
    from gpupool.rollout.session import gpupool_version

    report = on_progress or _ignore

    def done(outcome: Outcome) -> None:
        report(format_outcome(outcome))

    return ApplyOptions(
        wait="ready" if wait else "none",
        lock_timeout=lock_timeout,
        tooling=f"gpupool/{gpupool_version()}",
        who={"by": current_owner().text, "commit": find_commit(dict.fromkeys(files, ""))},
        is_overlay_gate_on=is_overlay_gate_on,
        files=tuple(files),
        say=report,
        done=done,
        waits=_ignore_progress,
    )


def _ignore(_text: str) -> None:
    """Ignore a line of progress."""


def _ignore_progress(_progress: object) -> None:
    """Ignore the progress of a wait."""


def _or_default(cluster: ClusterOptions | None) -> ClusterOptions:
    from gpupool.rollout.connection import ClusterOptions

    return cluster or ClusterOptions()


def _no_consent() -> Consent:
    from gpupool.planning.plan import Consent

    return Consent()


def _reach(files: Sequence[str], cluster: ClusterOptions | None) -> tuple[DesiredState, ReachedCluster]:
    from gpupool.cluster.deadline import Deadline
    from gpupool.rollout.connection import reach
    from gpupool.rollout.desired_state import load_desired_state

    blueprint, cluster = load_desired_state(files), _or_default(cluster)
    return blueprint, reach(cluster, blueprint.pins, Deadline(cluster.timeout))
