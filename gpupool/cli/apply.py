"""The command `gpupool apply`: apply a blueprint or a saved plan to the cluster."""

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
    """Options of apply that are not about the plan itself."""

    destinations: list[Output]
    """The formats in which the plan is shown, and their files."""

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
    connection: "ClusterOptions",
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
    ensure_stdin_once([*files, *(path for path in (plan, verify_key) if path is not None)])
    settings = _ApplySettings(
        parse_plan_outputs(to), wait, parse_seconds("--lock-timeout", lock_timeout), yes, changed
    )
    saved = None if plan is None else _SavedPlan(plan, verify_key)
    if saved is not None:
        from gpupool.planning.plan import Consent

        if consent != Consent():
            message = "a saved plan contains its options: pass --prune and the like to `gpupool plan`"
            raise UsageError(message)
        result: Result | None = _apply_saved(saved, files, connection, settings)
    else:
        if verify_key is not None:
            message = "--verify-key requires a saved plan: gpupool apply PLAN --verify-key FILE"
            raise UsageError(message)
        result = _apply_now(files, connection, consent, settings)
    if result is not None:
        from gpupool.reports.apply.result import render_result
        from gpupool.rollout.applying.results import ensure_complete

        sys.stderr.write(render_result(result, _build_retry_commands(result, files, connection, saved)))
        ensure_complete(result)
        if settings.changed and result.has_written:
            raise typer.Exit(settings.changed)


def _build_retry_commands(
    result: "Result", files: list[str], connection: "ClusterOptions", saved: "_SavedPlan | None"
) -> "RetryCommands":
    """Build the command lines that apply the blueprint again; a saved plan can be applied only once."""
    from gpupool.cli.command_lines import build_command_line, build_consent_options
    from gpupool.reports.apply.not_ready import RetryCommands

    def build_line(consent: "Consent") -> str:
        options, paths = build_consent_options(consent), result.files or files
        if saved is None:
            return build_command_line("apply", connection, paths, *options, "--yes")
        sign, verify = (["--sign-key", "KEY"], ["--verify-key", saved.key]) if saved.key else ([], [])
        plan_line = build_command_line("plan", connection, paths, *options, *sign, "-o", f"json={saved.path}")
        apply_line = build_command_line("apply", connection, paths, saved.path, *verify)
        return f"{plan_line} && {apply_line}"

    return RetryCommands(build_line(result.consent), build_line(replace(result.consent, prune=True)))


def _apply_now(
    files: list[str], connection: "ClusterOptions", consent: "Consent", settings: _ApplySettings
) -> "Result | None":
    from gpupool.cluster.deadline import Deadline
    from gpupool.rollout import session as sessions

    deadline = Deadline(connection.timeout)
    with enforce_deadline(connection, deadline.stop):
        session = sessions.prepare_session(files, connection, consent, deadline)
        output.print_findings(session.desired.findings)
        write_plan(settings.destinations, session.plan, settings.changed, is_guarded=True)
        sessions.ensure_applicable(session.plan)
        ensure_cluster_chosen(session.reached.context, is_pinned=session.reached.is_pinned)
        if sessions.is_settled(session) and sessions.is_ready(session, settings.wait):
            sys.stderr.write("nothing to do\n")
            return None
        if session.plan.has_changes:
            with stop_at_first_signal():
                _confirm(session.plan, yes=settings.yes)
        with _print_if_stale(session.plan), show_progress() as display:
            return sessions.carry_out(
                session,
                _build_options(
                    settings, files, display, is_overlay_gate_on=session.desired.is_overlay_gate_on
                ),
            )


class _SavedPlan(NamedTuple):
    """A plan file, and the file of the public key that its signature must match; None accepts any plan."""

    path: str
    key: str | None

    def read(self) -> "Plan":
        """Read the plan, and check its signature before any of it is shown."""
        from gpupool.planning import file as plans

        if self.key is None:
            return plans.parse_plan(plans.read_contents(self.path), self.path)
        from gpupool.planning.signature import ensure_signed, read_verifying_key

        key = read_verifying_key(self.key)
        plan = plans.parse_plan(plans.read_contents(self.path), self.path)
        ensure_signed(plan, key)
        return plan


def _apply_saved(
    saved: _SavedPlan, files: list[str], connection: "ClusterOptions", settings: _ApplySettings
) -> "Result":
    from gpupool.cluster.deadline import Deadline
    from gpupool.rollout.session import carry_out_saved

    deadline = Deadline(connection.timeout)
    plan = saved.read()
    with enforce_deadline(connection, deadline.stop):
        write_plan(settings.destinations, plan, settings.changed, is_guarded=True)
        with _print_if_stale(plan), show_progress() as display:
            return carry_out_saved(
                plan,
                files,
                connection,
                deadline,
                _build_options(settings, files, display, is_overlay_gate_on=plan.source.is_overlay_gate_on),
            )


@contextmanager
def _print_if_stale(plan: "Plan") -> "Iterator[None]":
    """Print how the cluster differs from a plan if the block finds that the plan is stale."""
    from gpupool.rollout.planning.verify import StalePlanError

    try:
        yield
    except StalePlanError as problem:
        from gpupool.reports.apply.result import render_stale_changes

        sys.stderr.write(render_stale_changes(plan.changes, problem.now))
        raise


def _confirm(plan: "Plan", *, yes: bool) -> None:
    """Prompt on a terminal; for each pool to delete, the user has to type its name."""
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
    settings: _ApplySettings, files: list[str], display: ProgressDisplay, *, is_overlay_gate_on: bool
) -> "ApplyOptions":
    from gpupool.api.live import apply_options

    options = apply_options(
        files,
        wait=settings.wait == "ready",
        lock_timeout=settings.lock_timeout,
        is_overlay_gate_on=is_overlay_gate_on,
        on_progress=display.print_line,
    )
    return replace(options, waits=display)
