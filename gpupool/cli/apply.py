"""`gpupool apply`: make the cluster what the blueprint, or a saved plan, says."""

import sys
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from gpupool.cli import completion_values, output
from gpupool.cli.approval_options import consents
from gpupool.cli.cluster_options import ends_at_once, one_deadline, reaches_cluster, seconds
from gpupool.cli.confirmation import ensure_meant, ensure_terminal
from gpupool.cli.options import (
    Files,
    Output,
    PlanOutputs,
    VerifyKey,
    files_or_default,
    plan_outputs,
    refuse_stdin_twice,
)
from gpupool.cli.plan_output import CHANGED, deliver
from gpupool.cli.progress import Live, live
from gpupool.errors import GuardError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.planning.plan import Consent, Plan
    from gpupool.reports.apply.not_ready import RetryCommands
    from gpupool.rollout.applying.apply import ApplyOptions
    from gpupool.rollout.applying.results import Result
    from gpupool.rollout.connection import ClusterOptions


class _Manner(NamedTuple):
    """How the command line wants it to be done."""

    places: list[Output]
    wait: str
    lock_timeout: float
    yes: bool
    changed: int
    """The exit code where something was changed."""


@reaches_cluster
@consents
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
            autocompletion=completion_values.one_of("none", "ready"),
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
    refuse_stdin_twice([*files, *(each for each in (plan, verify_key) if each is not None)])
    manner = _Manner(plan_outputs(to), wait, seconds("--lock-timeout", lock_timeout), yes, changed)
    saved = None if plan is None else _Saved(plan, verify_key)
    if saved is not None:
        from gpupool.planning.plan import Consent

        if consent != Consent():
            message = "a saved plan contains its options: pass --prune and the like to `gpupool plan`"
            raise UsageError(message)
        result: Result | None = _saved(saved, files, way, manner)
    else:
        if verify_key is not None:
            message = "--verify-key requires a saved plan: gpupool apply PLAN --verify-key FILE"
            raise UsageError(message)
        result = _planned(files, way, consent, manner)
    if result is not None:
        from gpupool.reports.apply.result import said
        from gpupool.rollout.applying.results import ensure_complete

        sys.stderr.write(said(result, _again(result, files, way, saved)))
        ensure_complete(result)
        if manner.changed and result.has_written:
            raise typer.Exit(manner.changed)


def _again(
    result: "Result", files: list[str], way: "ClusterOptions", saved: "_Saved | None"
) -> "RetryCommands":
    """Return the command lines that apply the blueprint once more; a saved plan is good for one time."""
    from gpupool.cli.command_lines import command_line, consent_words
    from gpupool.reports.apply.not_ready import RetryCommands

    def line(consent: "Consent") -> str:
        words, given = consent_words(consent), result.files or files
        if saved is None:
            return command_line("apply", way, given, *words, "--yes")
        sign, verify = (["--sign-key", "KEY"], ["--verify-key", saved.key]) if saved.key else ([], [])
        planned = command_line("plan", way, given, *words, *sign, "-o", f"json={saved.path}")
        return f"{planned} && {command_line('apply', way, given, saved.path, *verify)}"

    return RetryCommands(line(result.consent), line(replace(result.consent, prune=True)))


def _planned(files: list[str], way: "ClusterOptions", consent: "Consent", manner: _Manner) -> "Result | None":
    from gpupool.cluster.deadline import Deadline
    from gpupool.rollout import session as sessions

    deadline = Deadline(way.timeout)
    with one_deadline(way, deadline.stop):
        session = sessions.prepare_session(files, way, consent, deadline)
        output.say(session.desired.findings)
        deliver(manner.places, session.plan, manner.changed, is_guarded=True)
        sessions.ensure_applicable(session.plan)
        ensure_meant(session.reached.context, pinned=session.reached.is_pinned)
        if sessions.is_settled(session) and sessions.is_ready(session, manner.wait):
            sys.stderr.write("nothing to do\n")
            return None
        if session.plan.has_changes:
            with ends_at_once():
                _agree(session.plan, yes=manner.yes)
        with _showing_what_is_stale(session.plan), live() as told:
            return sessions.carry_out(
                session, _how(manner, files, told, is_overlay_gate_on=session.desired.is_overlay_gate_on)
            )


class _Saved(NamedTuple):
    """A plan file, and the public key that it has to be signed by; None for any plan."""

    path: str
    key: str | None

    def read(self) -> "Plan":
        """Read the plan, and ensure that it may be trusted before anything of it is shown."""
        from gpupool.planning import file as plans

        if self.key is None:
            return plans.parse_plan(plans.read_contents(self.path), self.path)
        from gpupool.planning.signature import ensure_signed, read_verifying_key

        key = read_verifying_key(self.key)
        plan = plans.parse_plan(plans.read_contents(self.path), self.path)
        ensure_signed(plan, key)
        return plan


def _saved(saved: _Saved, files: list[str], way: "ClusterOptions", manner: _Manner) -> "Result":
    from gpupool.cluster.deadline import Deadline
    from gpupool.rollout.session import carry_out_saved

    deadline = Deadline(way.timeout)
    plan = saved.read()
    with one_deadline(way, deadline.stop):
        deliver(manner.places, plan, manner.changed, is_guarded=True)
        # A plan does not say which feature gates are on, and where NodeOverlay is off none is ever Ready.
        with _showing_what_is_stale(plan), live() as told:
            return carry_out_saved(
                plan, files, way, deadline, _how(manner, files, told, is_overlay_gate_on=False)
            )


@contextmanager
def _showing_what_is_stale(plan: "Plan") -> "Iterator[None]":
    from gpupool.rollout.planning.verify import StalePlanError

    try:
        yield
    except StalePlanError as problem:
        from gpupool.reports.apply.result import stale

        sys.stderr.write(stale(plan.changes, problem.now))
        raise


def _agree(plan: "Plan", *, yes: bool) -> None:
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


def _how(manner: _Manner, files: list[str], told: Live, *, is_overlay_gate_on: bool) -> "ApplyOptions":
    from gpupool.api.live import apply_options

    options = apply_options(
        files,
        wait=manner.wait == "ready",
        lock_timeout=manner.lock_timeout,
        is_overlay_gate_on=is_overlay_gate_on,
        on_progress=told.say,
    )
    return replace(options, waits=told)
