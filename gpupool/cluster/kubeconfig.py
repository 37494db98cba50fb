"""Choice of kubeconfig and context, and error messages for a kubeconfig that is not usable."""

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
    """The kubeconfig, the context and the user of a connection."""

    kubeconfig: str | None = None
    """A file; None for $KUBECONFIG or ~/.kube/config, and without these for the Pod's own cluster."""

    context: str | None = None
    """A context of the kubeconfig; None for the current one."""

    user: str | None = None
    """The user to impersonate."""

    connections: int = 16
    """The number of parallel requests."""


def redact_addresses(text: str, configuration: Configuration) -> str:
    """Return a text without the credentials in the addresses of server and proxy."""
    return hide_credentials(text, (configuration.host, configuration.proxy))


def current_context(files: str) -> str:
    """Return the current context as kubectl finds it: that of the first file that sets one."""
    existing = [file for file in files.split(os.pathsep) if file and _exists(file)]
    for file in existing if len(existing) > 1 else ():
        if name := KubeConfigMerger(file).config.value.get("current-context"):
            return str(name)
    return str(config.list_kube_config_contexts(config_file=files)[1]["name"])


def find_kubeconfig(access: ClusterAccess) -> str:
    """Return the path of the kubeconfig, which may not exist."""
    return access.kubeconfig or os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")


def is_in_cluster(access: ClusterAccess) -> bool:
    """Return whether to use the Pod's own service account: in a Pod, without a kubeconfig."""
    if access.kubeconfig or access.context or "KUBERNETES_SERVICE_HOST" not in os.environ:
        return False
    return not _exists(find_kubeconfig(access))


@contextmanager
def explain_errors(access: ClusterAccess, configuration: Configuration) -> Iterator[None]:
    """Explain the library's errors about a kubeconfig in this block.

    Raises:
        ClusterError: for every exception of the library.
    """
    try:
        yield
    except Exception as problem:
        # The library raises any exception for an invalid kubeconfig: YAML errors, KeyError, TypeError.
        in_cluster = is_in_cluster(access)
        file = "the Pod's service account" if in_cluster else find_kubeconfig(access)
        why = redact_addresses(str(problem) if in_cluster else _why(problem, file), configuration)
        message = f"can't use {file}: {why}"
        raise ClusterError(message) from problem


def _why(problem: Exception, file: str) -> str:
    """Return why a kubeconfig is not usable, for its author."""
    text = " ".join(str(problem).split())
    missing = _MISSING.search(str(problem))
    if not _exists(file):
        return "there is no such file; name one with --kubeconfig or $KUBECONFIG"
    if "current-context" in text or (missing and not missing["name"]):
        return "it has no current context; name one with --context"
    if missing:
        return f"it has no {missing['kind']} `{missing['name']}`"
    is_explained = isinstance(problem, ConfigException | OSError) or type(problem).__module__.startswith(
        "yaml"
    )
    return text if is_explained else "it is no kubeconfig"


def _exists(files: str) -> bool:
    return any(Path(file).expanduser().exists() for file in files.split(os.pathsep) if file)
