"""Context names in kubeconfig files, read without the kubernetes client."""

import os
from pathlib import Path

from gpupool.yamlio.located import find, items, text_at
from gpupool.yamlio.read import read

_MAX_BYTES = 4 << 20
"""A limit above the size of any kubeconfig."""


def context_names(kubeconfig: str | None = None) -> list[str]:
    """Return the contexts of a kubeconfig, of the files in $KUBECONFIG, or of ~/.kube/config.

    A file that does not exist, or that is not a kubeconfig, has no contexts.
    """
    files = kubeconfig or os.environ.get("KUBECONFIG") or str(Path("~", ".kube", "config"))
    names: dict[str, None] = {}
    for file in filter(None, files.split(os.pathsep)):
        names |= dict.fromkeys(_names_in(Path(file).expanduser()))
    return list(names)


def _names_in(file: Path) -> list[str]:
    if not file.is_file():
        return []
    with file.open("rb") as opened:
        node = read(opened.read(_MAX_BYTES), str(file)).node
    contexts = None if node is None else find(node, "contexts")
    return [name for context in items(contexts) if (name := text_at(context, "name"))]
