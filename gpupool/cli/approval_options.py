"""Options that allow a plan to delete, adopt or overwrite objects."""

from typing import TYPE_CHECKING, Annotated

import typer

from gpupool.cli import completion_values
from gpupool.cli.bundle import bundle_options
from gpupool.errors import UsageError

if TYPE_CHECKING:
    from gpupool.planning.plan import Consent


def _build_consent(  # noqa: PLR0913 - each is an option of the command line
    *,
    prune: bool,
    max_deletes: int,
    drain: bool,
    allow_delete: list[str] | None,
    allow_empty: bool,
    adopt: list[str] | None,
    adopt_from: list[str] | None,
    fail_on_admission: bool,
    on_conflict: str,
) -> "Consent":
    from gpupool.planning.addresses import is_address
    from gpupool.planning.agreement import is_conflict_choice
    from gpupool.planning.plan import Consent
    from gpupool.planning.tools import NAMES

    if not is_conflict_choice(on_conflict):
        message = f"--on-conflict {on_conflict}: expected fail, take, or take=PATH,PATH"
        raise UsageError(message)
    for flag, names in (("--adopt", adopt), ("--allow-delete", allow_delete)):
        for name in names or ():
            if not is_address(name):
                message = f"{flag} {name}: expected KIND/NAME, as in NodePool/chat"
                raise UsageError(message)
    for tool in adopt_from or ():
        if tool not in NAMES:
            message = f"--adopt-from {tool}: expected one of {', '.join(NAMES)}"
            raise UsageError(message)
    return Consent(
        prune=prune,
        max_deletes=max_deletes,
        drain=drain,
        allow_delete=tuple(allow_delete or ()),
        allow_empty=allow_empty,
        adopt=tuple(adopt or ()),
        adopt_from=tuple(adopt_from or ()),
        fail_on_admission=fail_on_admission,
        on_conflict=on_conflict,
    )


_NAME = "KIND/NAME"
add_consent_options = bundle_options(
    "consent",
    {
        "prune": (
            Annotated[bool, typer.Option("--prune", help="Delete what is no longer in the blueprint.")],
            False,
        ),
        "max_deletes": (
            Annotated[
                int, typer.Option("--max-deletes", metavar="N", min=0, help="Most NodePools to delete.")
            ],
            1,
        ),
        "drain": (
            Annotated[
                bool,
                typer.Option("--drain", help="Stop launches of deleted pools; wait for their nodes to end."),
            ],
            False,
        ),
        "allow_delete": (
            Annotated[
                list[str] | None,
                typer.Option(
                    "--allow-delete", metavar=_NAME, show_default=False,
                    help="Delete this pool even if it has nodes; repeat it for more.",
                ),
            ],
            None,
        ),
        "allow_empty": (
            Annotated[bool, typer.Option("--allow-empty", help="Allow a blueprint without pools.")],
            False,
        ),
        "adopt": (
            Annotated[
                list[str] | None,
                typer.Option(
                    "--adopt", metavar=_NAME, show_default=False,
                    help="Adopt an object that gpupool did not create; repeat it for more.",
                    autocompletion=completion_values.list_addresses,
                ),
            ],
            None,
        ),
        "adopt_from": (
            Annotated[
                list[str] | None,
                typer.Option(
                    "--adopt-from", metavar="TOOL", show_default=False,
                    help="Adopt from argocd, flux, helm or owner as well; repeat it for more.",
                    autocompletion=completion_values.list_values("argocd", "flux", "helm", "owner"),
                ),
            ],
            None,
        ),
        "fail_on_admission": (
            Annotated[
                bool,
                typer.Option("--fail-on-admission", help="Do not apply if admission would change an object."),
            ],
            False,
        ),
        "on_conflict": (
            Annotated[
                str,
                typer.Option(
                    "--on-conflict", metavar="fail|take[=PATHS]",
                    help="What to do with fields that people changed in the cluster.",
                    autocompletion=completion_values.list_values("fail", "take"),
                ),
            ],
            "fail",
        ),
    },
    _build_consent,
)  # fmt: skip
"""Replace the parameter `consent: Consent` of a command by the options that set its fields."""
