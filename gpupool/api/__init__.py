"""Python API: the commands of the command line, as functions of blueprint files.

`offline` does not contact a cluster, `live` does. Modules are imported when a function needs them.
"""

from typing import TYPE_CHECKING

from gpupool.api.live import (
    apply,
    apply_plan,
    diff,
    doctor,
    lock_holder,
    move,
    plan,
    plan_document,
    read_plan,
    status,
    unlock,
    wait_until,
    write_plan,
)
from gpupool.api.offline import (
    calendars,
    catalogue,
    chart_values,
    check_folder,
    explain,
    explain_all,
    fit,
    folder_diff,
    pools,
    profile,
    profiles,
    provenance,
    refresh_catalogue,
    render_files,
    roles,
    schema_text,
    validate,
    write_folder,
    write_karpenter_schemas,
    write_starter,
)

if TYPE_CHECKING:
    from gpupool.planning.plan import Consent
    from gpupool.rollout.connection import ClusterOptions

__all__ = [
    "ClusterOptions", "Consent", "apply", "apply_plan", "calendars", "catalogue", "chart_values",
    "check_folder", "diff", "doctor", "explain", "explain_all", "fit", "folder_diff", "lock_holder",
    "move", "plan", "plan_document", "pools", "profile", "profiles", "provenance", "read_plan",
    "refresh_catalogue", "render_files", "roles", "schema_text", "status", "unlock", "validate", "wait_until",
    "write_folder", "write_karpenter_schemas", "write_plan", "write_starter",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Import the types of arguments on first access: most commands need neither."""
    if name == "ClusterOptions":
        from gpupool.rollout.connection import ClusterOptions

        return ClusterOptions
    if name == "Consent":
        from gpupool.planning.plan import Consent

        return Consent
    raise AttributeError(name)
