"""`gpupool apply`: make the cluster what the blueprint, or a saved plan, says."""

import sys
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from gpupool.cli import completion_values, output
from gpupool.cli.approval_options import add_consent_options
from gpupool.cli.cluster_options import (
    add_cluster_options,
    enforce_deadline,
    parse_seconds,
    stop_at_first_signal,
)
from gpupool.cli.confirmation import ensure_cluster_chosen, ensure_terminal
from gpupool.cli.options import (
    Files,
    Output,
    PlanOutputs,
    VerifyKey,
    ensure_stdin_once,
    files_or_default,
    parse_plan_outputs,
)
from gpupool.cli.plan_output import CHANGED, write_plan
from gpupool.cli.progress import ProgressDisplay, show_progress
from gpupool.errors import GuardError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.planning.plan import Consent, Plan
    from gpupool.reports.apply.not_ready import RetryCommands
    from gpupool.rollout.applying.apply import ApplyOptions
    from gpupool.rollout.applying.results import Result
    from gpupool.rollout.connection import ClusterOptions


class _ApplySettings(NamedTuple):
    """How the command line wants it to be done."""

    places: list[Output]
    wait: str
    lock_timeout: float
    yes: bool
    changed: int
    """The exit code where something was changed."""


@add_cluster_options
@add_consent_options
def apply(  # noqa: PLR0913 - each is an option of the command line
    plan: Annotated[
        str | None,
        typer.Argument(metavar="PLAN", help="Saved plan to apply. [default: plan the blueprint now]"),
    ] = None,
    file: Files = None,
    to: PlanOutputs = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not prompt.")] = False,
    wait: Annotated[
        str,
        typer.Option(
            "--wait",
            metavar="none|ready",
            help="What to wait for after applying.",
            autocompletion=completion_values.list_values("none", "ready"),
        ),
    ] = "ready",
    lock_timeout: Annotated[
        str, typer.Option("--lock-timeout", metavar="TIME", help="How long to wait for the lock.")
    ] = "60s",
    detailed_exitcode: Annotated[
        bool, typer.Option("--detailed-exitcode", help="Exit 2 if something was changed.")
    ] = False,
    verify_key: VerifyKey = None,
    way: "ClusterOptions",
    consent: "Consent",
) -> None:
    """Apply a blueprint or a saved plan to the cluster.

    \b
    1. plan: read the live objects; the API server checks each change in a dry run
    2. stop, with nothing applied, if it rejects one, another owner manages it,
       or a guard blocks it
    3. prompt for confirmation, unless --yes or a saved plan is given
    4. acquire the lock, and check that the plan is not stale
    5. write node classes, wait until they are Ready, then NodePools likewise
    6. with --prune, delete what is no longer in the blueprint and has no nodes

    \b
    gpupool apply
    gpupool apply plan.json
    gpupool apply plan.json --verify-key plan.pub
    gpupool apply -f base.yaml -f prod.yaml --context prod --yes --prune
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    if wait not in {"none", "ready"}:
        message = f"--wait {wait}: expected none or ready"
        raise UsageError(message)
    files, changed = files_or_default(file), CHANGED if detailed_exitcode else 0
    ensure_stdin_once([*files, *(each for each in (plan, verify_key) if each is not None)])
    manner = _ApplySettings(
        parse_plan_outputs(to), wait, parse_seconds("--lock-timeout", lock_timeout), yes, changed
    )
    saved = None if plan is None else _SavedPlan(plan, verify_key)
    if saved is not None:
        from gpupool.planning.plan import Consent

        if consent != Consent():
            message = "a saved plan contains its options: pass --prune and the like to `gpupool plan`"
            raise UsageError(message)
        result: Result | None = _apply_saved(saved, files, way, manner)
    else:
        if verify_key is not None:
            message = "--verify-key requires a saved plan: gpupool apply PLAN --verify-key FILE"
            raise UsageError(message)
        result = _apply_now(files, way, consent, manner)
    if result is not None:
        from gpupool.reports.apply.result import said
        from gpupool.rollout.applying.results import ensure_complete

        sys.stderr.write(said(result, _build_retry_commands(result, files, way, saved)))
        ensure_complete(result)
        if manner.changed and result.has_written:
            raise typer.Exit(manner.changed)


def _build_retry_commands(
    result: "Result", files: list[str], way: "ClusterOptions", saved: "_SavedPlan | None"
) -> "RetryCommands":
    """Return the command lines that apply the blueprint once more; a saved plan is good for one time."""
    from gpupool.cli.command_lines import build_command_line, build_consent_options
    from gpupool.reports.apply.not_ready import RetryCommands

    def line(consent: "Consent") -> str:
        words, given = build_consent_options(consent), result.files or files
        if saved is None:
            return build_command_line("apply", way, given, *words, "--yes")
        sign, verify = (["--sign-key", "KEY"], ["--verify-key", saved.key]) if saved.key else ([], [])
        planned = build_command_line("plan", way, given, *words, *sign, "-o", f"json={saved.path}")
        return f"{planned} && {build_command_line('apply', way, given, saved.path, *verify)}"

    return RetryCommands(line(result.consent), line(replace(result.consent, prune=True)))


def _apply_now(
    files: list[str], way: "ClusterOptions", consent: "Consent", manner: _ApplySettings
) -> "Result | None":
    from gpupool.cluster.deadline import Deadline
    from gpupool.rollout import session as sessions

    deadline = Deadline(way.timeout)
    with enforce_deadline(way, deadline.stop):
        session = sessions.prepare_session(files, way, consent, deadline)
        output.print_findings(session.desired.findings)
        write_plan(manner.places, session.plan, manner.changed, is_guarded=True)
        sessions.ensure_applicable(session.plan)
        ensure_cluster_chosen(session.reached.context, pinned=session.reached.is_pinned)
        if sessions.is_settled(session) and sessions.is_ready(session, manner.wait):
            sys.stderr.write("nothing to do\n")
            return None
        if session.plan.has_changes:
            with stop_at_first_signal():
                _confirm(session.plan, yes=manner.yes)
        with _print_if_stale(session.plan), show_progress() as told:
            return sessions.carry_out(
                session,
                _build_options(manner, files, told, is_overlay_gate_on=session.desired.is_overlay_gate_on),
            )


class _SavedPlan(NamedTuple):
    """A plan file, and the public key that it has to be signed by; None for any plan."""

    path: str
    key: str | None

    def read(self) -> "Plan":
        """Read the plan, and ensure that it may be trusted before anything of it is shown."""
        from gpupool.planning import file as plans

        if self.key is None:
            return plans.read(plans.contents(self.path), self.path)
        from gpupool.planning.signature import ensure_signed, verifying_key

        key = verifying_key(self.key)
        plan = plans.read(plans.contents(self.path), self.path)
        ensure_signed(plan, key)
        return plan


def _apply_saved(
    saved: _SavedPlan, files: list[str], way: "ClusterOptions", manner: _ApplySettings
) -> "Result":
    from gpupool.cluster.deadline import Deadline
    from gpupool.rollout.session import carry_out_saved

    deadline = Deadline(way.timeout)
    plan = saved.read()
    with enforce_deadline(way, deadline.stop):
        write_plan(manner.places, plan, manner.changed, is_guarded=True)
        # A plan does not say which feature gates are on, and where NodeOverlay is off none is ever Ready.
        with _print_if_stale(plan), show_progress() as told:
            return carry_out_saved(
                plan, files, way, deadline, _build_options(manner, files, told, is_overlay_gate_on=False)
            )


@contextmanager
def _print_if_stale(plan: "Plan") -> "Iterator[None]":
    from gpupool.rollout.planning.verify import StalePlanError

    try:
        yield
    except StalePlanError as problem:
        from gpupool.reports.apply.result import stale

        sys.stderr.write(stale(plan.changes, problem.now))
        raise


def _confirm(plan: "Plan", *, yes: bool) -> None:
    """Ask on a terminal; for each pool that is deleted, its name has to be typed."""
    if yes:
        return
    ensure_terminal("--yes, or apply a saved plan")
    from gpupool.objects import is_pool

    pools = [
        change.ref.name
        for change in plan.changes
        if change.actions == ("delete",) and plan.consent.prune and is_pool(change.ref)
    ]
    for name in pools:
        if typer.prompt(f"Type the name of the NodePool {name} to delete it", err=True) != name:
            message = f"{name} was not confirmed; nothing was applied"
            raise GuardError(message)
    if not pools and typer.prompt("Apply these changes? Only `yes` is accepted", err=True) != "yes":
        message = "not confirmed; nothing was applied"
        raise GuardError(message)


def _build_options(
    manner: _ApplySettings, files: list[str], told: ProgressDisplay, *, is_overlay_gate_on: bool
) -> "ApplyOptions":
    from gpupool.api.live import apply_options

    options = apply_options(
        files,
        wait=manner.wait == "ready",
        lock_timeout=manner.lock_timeout,
        is_overlay_gate_on=is_overlay_gate_on,
        on_progress=told.say,
    )
    return replace(options, waits=told)
