"""Which kubeconfig is meant, which context of it, and what is wrong with it, for whoever wrote it."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kubernetes import config
from kubernetes.config import ConfigException
from kubernetes.config.kube_config import KubeConfigMerger

from gpupool.cluster.addresses import hide_credentials
from gpupool.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubernetes.client import Configuration

_MISSING = re.compile(r"Expected object with name (?P<name>\S*) in .*/(?P<kind>\w+)s list")


class ClusterAccess(NamedTuple):
    """Which cluster is meant, and as whom."""

    kubeconfig: str | None = None
    """A file; None for $KUBECONFIG or ~/.kube/config, and where there is none for the Pod's own cluster."""

    context: str | None = None
    """A context of it; None for the current one."""

    user: str | None = None
    """Whom to impersonate."""

    connections: int = 16
    """How many requests may be under way at once."""


def redact_addresses(text: str, configuration: Configuration) -> str:
    """Return a text without the credentials that addresses hold."""
    return hide_credentials(text, (configuration.host, configuration.proxy))


def current_context(files: str) -> str:
    """Return the current context as kubectl finds it: of several files the first that names one counts."""
    several = [file for file in files.split(os.pathsep) if file and _exists(file)]
    for file in several if len(several) > 1 else ():
        if name := KubeConfigMerger(file).config.value.get("current-context"):
            return str(name)
    return str(config.list_kube_config_contexts(config_file=files)[1]["name"])


def find_kubeconfig(way: ClusterAccess) -> str:
    """Return the kubeconfig that is meant; it need not be there."""
    return way.kubeconfig or os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")


def is_in_cluster(way: ClusterAccess) -> bool:
    """Return whether there is no kubeconfig and a Pod's own way in."""
    if way.kubeconfig or way.context or "KUBERNETES_SERVICE_HOST" not in os.environ:
        return False
    return not _exists(find_kubeconfig(way))


@contextmanager
def explain_errors(way: ClusterAccess, configuration: Configuration) -> Iterator[None]:
    """Say in words what is wrong with a kubeconfig that the library can't use.

    Raises:
        ClusterError: whatever the library raises.
    """
    try:
        yield
    except Exception as problem:
        # What a broken kubeconfig makes the library raise is of every kind: of YAML, KeyError, TypeError.
        within = is_in_cluster(way)
        file = "the Pod's service account" if within else find_kubeconfig(way)
        why = redact_addresses(str(problem) if within else _why(problem, file), configuration)
        message = f"can't use {file}: {why}"
        raise ClusterError(message) from problem


def _why(problem: Exception, file: str) -> str:
    """Return what is wrong with a kubeconfig, in words for whoever wrote it."""
    said = " ".join(str(problem).split())
    missing = _MISSING.search(str(problem))
    if not _exists(file):
        return "there is no such file; name one with --kubeconfig or $KUBECONFIG"
    if "current-context" in said or (missing and not missing["name"]):
        return "it has no current context; name one with --context"
    if missing:
        return f"it has no {missing['kind']} `{missing['name']}`"
    is_said = isinstance(problem, ConfigException | OSError) or type(problem).__module__.startswith("yaml")
    return said if is_said else "it is no kubeconfig"


def _exists(files: str) -> bool:
    return any(Path(file).expanduser().exists() for file in files.split(os.pathsep) if file)
