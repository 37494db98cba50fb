"""The Python API offers what the command line does."""

import inspect

import pytest

from gpupool import api
from gpupool.cli.app import app

COMMANDS = {
    "apply": ("apply", "apply_plan"),
    "catalogue": ("refresh_catalogue",),
    "diff": ("diff",),
    "doctor": ("doctor",),
    "explain": ("explain", "explain_all", "provenance", "calendars"),
    "fit": ("fit",),
    "init": ("write_starter",),
    "move": ("move",),
    "plan": ("plan", "write_plan"),
    "profiles": ("profiles", "profile"),
    "rbac": ("roles",),
    "render": ("render_files", "write_folder", "check_folder", "folder_diff", "chart_values"),
    "schema": ("schema_text", "write_karpenter_schemas"),
    "show": ("read_plan", "plan_document"),
    "status": ("status", "wait_until"),
    "unlock": ("lock_holder", "unlock"),
    "validate": ("validate",),
}
ABOUT_THE_SHELL = {"completion"}


def test_each_command_has_its_functions() -> None:
    commands = {
        command.name or command.callback.__name__ for command in app.registered_commands if command.callback
    }

    assert commands - ABOUT_THE_SHELL == set(COMMANDS)
    assert {name for names in COMMANDS.values() for name in names} <= set(api.__all__)


@pytest.mark.parametrize("name", sorted(api.__all__))
def test_each_is_typed_and_documented(name: str) -> None:
    offered = getattr(api, name)

    assert inspect.getdoc(offered)
    if inspect.isfunction(offered):
        signature = inspect.signature(offered)
        assert signature.return_annotation is not inspect.Signature.empty
        assert all(each.annotation is not inspect.Parameter.empty for each in signature.parameters.values())
