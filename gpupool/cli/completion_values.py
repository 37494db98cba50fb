"""Candidates for shell completion of the values of options and arguments.

Each function is an `autocompletion=` of typer's. It is called while a user types, so it imports only
what it needs and opens no connection. If one raises, `completion_answers` offers nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from os.path import expandvars
from pathlib import Path
from typing import TypeAlias

import typer

Candidates: TypeAlias = Iterable[str | tuple[str, str]]
"""Values, or pairs of a value and its description; typer omits those that the typed text rules out."""


def list_values(*values: str) -> Callable[[], Candidates]:
    """Return a completion for a closed set of values."""
    return lambda: values


def list_subjects(ctx: typer.Context, incomplete: str) -> Candidates:
    """Return the subjects of `explain`: pools, their fields, and codes of findings."""
    if incomplete.startswith("GP"):
        from gpupool.codes import Code

        return [(str(code), code.meaning) for code in Code]
    if manifests := ctx.params.get("manifests"):
        from gpupool.api import pools

        return pools((), [str(path) for name in manifests if (path := _expand_path(name)).exists()]).names
    from gpupool.provenance import names

    blueprint = names.read_unchecked(_list_blueprint_files(ctx))
    pool_names = names.pool_names(blueprint)
    typed_names = [name for name in pool_names if f"{incomplete}.".startswith(f"{name}.")]
    chosen_names = typed_names or _find_single(pool_names, incomplete)
    fields = [path for name in chosen_names for path in names.field_paths(blueprint, name)]
    return _list_next_level(
        list(dict.fromkeys([*pool_names, *fields, *names.section_paths(blueprint)])), incomplete
    )


def list_addresses(ctx: typer.Context) -> Candidates:
    """Return the blueprint's objects, as in `NodePool/chat`."""
    from gpupool.api import render_files

    return [str(manifest.ref) for manifest in render_files(_list_blueprint_files(ctx)).manifests]


def list_result_formats(ctx: typer.Context) -> Candidates:
    """Return the formats of a result; a calendar can also be drawn."""
    return ["text", "json", "svg"] if ctx.params.get("calendar") else ["text", "json"]


def list_profiles() -> Candidates:
    """Return the names of the shipped profiles."""
    from gpupool.profiles.load import shipped_names

    return shipped_names()


def list_karpenter_versions() -> Candidates:
    """Return the minor versions of Karpenter that gpupool supports."""
    from gpupool.karpenter.versions import TARGETS

    return TARGETS


def list_contexts(ctx: typer.Context) -> Candidates:
    """Return the contexts of the kubeconfig."""
    from gpupool.cluster.contexts import context_names

    kubeconfig = ctx.params.get("kubeconfig")
    return context_names(str(_expand_path(kubeconfig)) if kubeconfig else None)


def list_instance_types() -> Candidates:
    """Return every instance type of the catalogue."""
    from gpupool.catalogue.load import load_preferred

    return load_preferred(None).names


def list_regions() -> Candidates:
    """Return the regions of the catalogue."""
    from gpupool.catalogue.load import load_preferred

    return load_preferred(None).regions


def list_timezones() -> Candidates:
    """Return the names of time zones."""
    from zoneinfo import available_timezones

    return sorted(available_timezones())


def list_charts() -> Candidates:
    """Return the charts that gpupool renders values for."""
    from gpupool.helm.charts import NVIDIA_DEVICE_PLUGIN

    return [NVIDIA_DEVICE_PLUGIN.name]


def _list_blueprint_files(ctx: typer.Context) -> list[str]:
    """Return the blueprint files named on the command line, or the default one."""
    # Only regular files: reading a pipe would block, and standard input is the terminal.
    return [str(path) for name in ctx.params["file"] if (path := _expand_path(name)).is_file()]


def _expand_path(text: str) -> Path:
    """Expand variables and `~` as the shell would; an unfinished line arrives as it was typed."""
    return Path(expandvars(text)).expanduser()


def _list_next_level(paths: Sequence[str], incomplete: str) -> list[str]:
    """Return the outermost paths that begin with the typed text; of a single one also the paths below it."""
    matching = [path for path in paths if path.startswith(incomplete)]
    shown = _find_outermost(matching)
    if len(shown) == 1:
        shown += _find_outermost([path for path in matching if path not in shown])
    return shown


def _find_outermost(paths: Sequence[str]) -> list[str]:
    return [path for path in paths if not any(path.startswith((f"{other}.", f"{other}[")) for other in paths)]


def _find_single(names: Sequence[str], incomplete: str) -> list[str]:
    """Return the name that begins with the typed text, or nothing if several do."""
    matching = [name for name in names if name.startswith(incomplete)]
    return matching if len(matching) == 1 else []
