"""The command `gpupool rbac`: print the roles that plan and apply need."""

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gpupool.cli import output
from gpupool.cli.options import Files, files_or_default
from gpupool.errors import UsageError
from gpupool.findings import Severity

if TYPE_CHECKING:
    from gpupool.rendering.roles import Subject


def rbac(
    purpose: Annotated[
        Literal["plan", "apply"], typer.Argument(metavar="plan|apply", help="Command that needs the rights.")
    ],
    file: Files = None,
    user: Annotated[str | None, typer.Option("--user", metavar="NAME", help="Grant it to a user.")] = None,
    group: Annotated[str | None, typer.Option("--group", metavar="NAME", help="Grant it to a group.")] = None,
    service_account: Annotated[
        str | None,
        typer.Option("--service-account", metavar="NAMESPACE/NAME", help="Grant it to a service account."),
    ] = None,
) -> None:
    """Print the roles to grant, for plan or for apply.

    They grant what the command needs for this blueprint, and nothing else. A plan needs dry runs, for which
    the API server requires the right to write; so the roles for plan come with an admission policy that
    denies the subject every write that is not a dry run (Kubernetes 1.30 or newer). The default subject is
    the group gpupool-plan or gpupool-apply. Does not contact a cluster.

    \b
    gpupool rbac plan --group ci-plan | kubectl apply -f -
    gpupool rbac apply -f base.yaml -f prod.yaml --service-account ci/deployer
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    subject = _parse_subject(user, group, service_account)

    from gpupool.rendering.roles import RoleScope, render_roles
    from gpupool.rollout.desired_state import load_desired_state

    desired = load_desired_state(files_or_default(file))
    output.print_findings([finding for finding in desired.findings if finding.severity is not Severity.INFO])
    sys.stdout.write(render_roles(purpose, RoleScope(desired.blueprint, desired.namespace), subject))


def _parse_subject(user: str | None, group: str | None, service_account: str | None) -> "Subject | None":
    """Parse the subject of the options; None if none is set.

    Raises:
        UsageError: if several are set, or one is invalid.
    """
    from gpupool.rendering.roles import Subject

    options = {"--user": user, "--group": group, "--service-account": service_account}
    granted = [(option, name) for option, name in options.items() if name is not None]
    if not granted:
        return None
    if len(granted) > 1:
        conflicting = " and ".join(option for option, _ in granted)
        message = f"{conflicting} conflict: pass one of them"
        raise UsageError(message)
    ((option, name),) = granted
    if not name or not name.isprintable():
        message = f"{option}: the name must have printable characters only"
        raise UsageError(message)
    if option == "--service-account":
        namespace, _, account = name.partition("/")
        if not (namespace and account) or "/" in account:
            message = f"--service-account {name}: expected NAMESPACE/NAME, such as ci/deployer"
            raise UsageError(message)
        return Subject("ServiceAccount", account, namespace)
    if option == "--group" and name.startswith("system:"):
        # Karpenter is a member of some of them, and the policy would deny its writes.
        message = f"--group {name}: built-in groups have other members, too; pass a group of your own"
        raise UsageError(message)
    return Subject("User" if option == "--user" else "Group", name)
