"""Step summary and step outputs of `-o github` on GitHub Actions."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpupool.planning.plan import Plan


def append_for_steps(plan: "Plan", exit_code: int) -> None:
    """Append the step's summary and outputs to the files that GitHub Actions sets; elsewhere do nothing."""
    from gpupool.reports.plan.github import render_step_outputs, render_step_summary

    _append("GITHUB_STEP_SUMMARY", lambda: render_step_summary(plan))
    _append("GITHUB_OUTPUT", lambda: render_step_outputs(plan, exit_code))


def _append(variable: str, text: "Callable[[], str]") -> None:
    name = os.environ.get(variable)
    if name:
        with Path(name).open("a", encoding="utf-8", newline="\n") as file:
            file.write(text())
