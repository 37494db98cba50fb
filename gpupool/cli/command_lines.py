"""Command lines of gpupool that a user can paste."""

from __future__ import annotations

import shlex
from dataclasses import fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpupool.planning.plan import Consent
    from gpupool.rollout.connection import ClusterOptions


def build_command_line(
    command: str, connection: ClusterOptions, files: Iterable[str], *arguments: str
) -> str:
    """Build a command line from the options for files and cluster, and more arguments after them."""
    options = [argument for file in files for argument in ("-f", file)]
    cluster_options = (
        ("--kubeconfig", connection.kubeconfig),
        ("--context", connection.context),
        ("--as", connection.user),
    )
    options += [argument for name, value in cluster_options if value for argument in (name, value)]
    return shlex.join(["gpupool", command, *options, *arguments])


def build_consent_options(consent: Consent) -> Iterator[str]:
    """Yield the options that set a consent."""
    default = type(consent)()
    for field in fields(consent):
        value, flag = getattr(consent, field.name), f"--{field.name.replace('_', '-')}"
        if value == getattr(default, field.name):
            continue
        if value is True:
            yield flag
        else:
            for item in value if isinstance(value, tuple) else (value,):
                yield from (flag, str(item))
