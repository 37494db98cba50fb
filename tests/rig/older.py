"""The CRDs of older Karpenter releases, and how a running server comes to have them in place of its own."""

import io
import json
import time
import zipfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.rig.client import Client
from tests.rig.errors import RigError
from tests.rig.toolchain import MODULES, go

MODULE = "older"
PROVIDER = "github.com/aws/karpenter-provider-aws"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
SECONDS_TO_SERVE = 60.0
PAUSE_SECONDS = 0.02


class Release(NamedTuple):
    """A release of Karpenter's core, or of its provider for AWS."""

    module: str
    version: str

    def __str__(self) -> str:
        """Return it as in `core v1.11.2`."""
        return f"{'aws' if self.is_for_aws else 'core'} {self.version}"

    @property
    def is_for_aws(self) -> bool:
        """Return whether its CRDs have what the provider adds: EC2NodeClass, and the rules over AWS label keys."""
        return self.module == PROVIDER

    @property
    def target(self) -> str:
        """Return its minor."""
        return self.version.removeprefix("v").rpartition(".")[0]

    @property
    def folder(self) -> str:
        """Return the folder with its CRDs, in the module's archive."""
        return f"{self.module}@{self.version}/pkg/apis/crds"


def releases() -> tuple[Release, ...]:
    """Return the releases that go.sum pins, oldest first; it alone names them."""
    lines = (MODULES / MODULE / "go.sum").read_text().splitlines()
    pins = (line.split()[:2] for line in lines)
    found = [Release(module, version) for module, version in pins if not version.endswith("/go.mod")]
    return tuple(sorted(found, key=lambda release: (int(release.target.split(".")[1]), str(release))))


@cache
def crds(release: Release) -> dict[str, dict[str, Any]]:
    """Return the CRDs of a release by kind.

    Raises:
        RigError: The module can't be had, or is not what go.sum says.
    """
    with zipfile.ZipFile(io.BytesIO(_archive(release).read_bytes())) as archive:
        texts = [archive.read(name) for name in archive.namelist() if name.startswith(f"{release.folder}/")]
    found = [yaml.load(text, Loader=yaml.CSafeLoader) for text in texts]
    return {crd["spec"]["names"]["kind"]: crd for crd in found}


def serve(client: Client, release: Release, kind: str) -> None:
    """Put a release's CRD in place of the server's own, and wait until objects are held against it.

    Raises:
        RigError: The server refuses it, or goes on with the old one.
    """
    crd = _marked(crds(release)[kind], str(release))
    verdict = client.apply(yaml.safe_dump(crd).encode())
    if not verdict.accepted:
        message = f"the server refused the CRD of {kind} {release}: {verdict.message}"
        raise RigError(message)
    deadline = time.monotonic() + SECONDS_TO_SERVE
    while str(release) not in _columns(client, kind):
        if time.monotonic() > deadline:
            message = f"the CRD of {kind} {release} is not served after {SECONDS_TO_SERVE:.0f} s"
            raise RigError(message)
        time.sleep(PAUSE_SECONDS)


def _archive(release: Release) -> Path:
    # A Go that is too old to build the module gives an error, but only once the archive is there and verified.
    done = go().attempt(MODULE, "mod", "download", "-json", f"{release.module}@{release.version}")
    told = json.loads(done.stdout or "{}")
    if "Zip" not in told:
        message = f"{release} can't be had: {told.get('Error') or done.stderr}"
        raise RigError(message)
    return Path(told["Zip"])


def _marked(crd: dict[str, Any], mark: str) -> dict[str, Any]:
    """Return the CRD one more column for `kubectl get`, which says nothing about objects and can be seen."""
    (version,) = crd["spec"]["versions"]
    columns = [
        *version.get("additionalPrinterColumns", ()),
        {"name": mark, "type": "string", "jsonPath": ".metadata.name"},
    ]
    return {**crd, "spec": {**crd["spec"], "versions": [{**version, "additionalPrinterColumns": columns}]}}


def _columns(client: Client, kind: str) -> list[str]:
    table = client.request("GET", f"{client.resource(kind).path('')}?limit=1", accept=TABLE).body
    return [column["name"] for column in table.get("columnDefinitions", ())]
