"""The command `gpupool doctor`: check whether plan and apply would work."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpupool.cli import output
from gpupool.cli.cluster_options import add_cluster_options, enforce_deadline
from gpupool.cli.options import (
    DEFAULT_FILE,
    TEXT_OR_JSON,
    Files,
    ResultOption,
    ensure_stdin_once,
    parse_outputs,
)

if TYPE_CHECKING:
    from gpupool.rollout.connection import ClusterOptions
    from gpupool.rollout.doctor.check import Diagnosis


@add_cluster_options
def doctor(
    file: Files = None,
    prove_plan_only: Annotated[
        bool, typer.Option("--prove-plan-only", help="Try to write; it must be denied.")
    ] = False,
    to: ResultOption = None,
    *,
    connection: "ClusterOptions",
) -> None:
    """Check whether plan and apply would work here.

    Checks the kubeconfig, the identity of the cluster, the API server, Karpenter's CRDs, your rights, the
    inventory, the lock and admission webhooks; exits 1 if a check fails. Without a blueprint it checks
    the cluster only. It writes nothing; with --prove-plan-only it tries to, and passes if that is denied.

    \b
    gpupool doctor
    gpupool doctor -f base.yaml -f prod.yaml --context prod -o json=doctor.json
    gpupool doctor --prove-plan-only
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    destinations = parse_outputs(to, TEXT_OR_JSON)
    files = file or [DEFAULT_FILE] * Path(DEFAULT_FILE).exists()
    ensure_stdin_once(files)

    from gpupool.cluster.deadline import Deadline
    from gpupool.rollout.desired_state import load_desired_state
    from gpupool.rollout.doctor.doctor import DoctorRequest, diagnose

    desired = load_desired_state(files) if files else None
    with enforce_deadline(connection):
        diagnosis = diagnose(
            DoctorRequest(connection, desired, prove_plan_only), Deadline(connection.timeout)
        )
    width = output.find_width(destinations)
    output.write_outputs(destinations, lambda name: _render(diagnosis, name, width))
    if diagnosis.has_failed:
        raise typer.Exit(1)


def _render(diagnosis: "Diagnosis", name: str, width: int | None) -> str:
    from gpupool.reports import doctor as report

    return (
        report.render_text(diagnosis, width)
        if name == "text"
        else output.render_json(report.to_json(diagnosis))
    )
