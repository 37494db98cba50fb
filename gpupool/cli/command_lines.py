"""Command lines of gpupool's own, to be pasted: as somebody gave them, or with one word more."""

from __future__ import annotations

import shlex
from dataclasses import fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpupool.planning.plan import Consent
    from gpupool.rollout.connection import ClusterOptions


def build_command_line(command: str, way: ClusterOptions, files: Iterable[str], *more: str) -> str:
    """Return a command with the options for its files and its cluster, and more words behind them."""
    options = [word for file in files for word in ("-f", file)]
    places = (("--kubeconfig", way.kubeconfig), ("--context", way.context), ("--as", way.user))
    options += [word for name, value in places if value for word in (name, value)]
    return shlex.join(["gpupool", command, *options, *more])


def build_consent_options(consent: Consent) -> Iterator[str]:
    """Yield the options that give a consent."""
    usual = type(consent)()
    for each in fields(consent):
        value, flag = getattr(consent, each.name), f"--{each.name.replace('_', '-')}"
        if value == getattr(usual, each.name):
            continue
        if value is True:
            yield flag
        else:
            for part in value if isinstance(value, tuple) else (value,):
                yield from (flag, str(part))
