"""`python -m tests.rig.serve`: an API server with Karpenter's CRDs that lives until its standard input ends.

The end of standard input is the one sign that also comes when the program that started this one is killed,
so the server and its folder never outlive a test run.
"""

import json
import signal
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType
from typing import NoReturn

import yaml

from tests.rig import sources
from tests.rig.access import ADMIN, NOBODY, Access
from tests.rig.client import Client
from tests.rig.control_plane import PAUSE_SECONDS, audit_log, control_plane
from tests.rig.errors import RigError

CRD_SECONDS = 60.0


def main() -> int:
    """Serve; print one line of JSON with the ways in (or with the error); give the exit code."""
    signal.signal(signal.SIGTERM, _leave)
    with tempfile.TemporaryDirectory(prefix="gpupool-rig-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        try:
            with control_plane(folder) as ways_in:
                _install_crds(ways_in[ADMIN])
                _print(_opened(ways_in, folder))
                sys.stdin.read()
        except RigError as error:
            _print({"error": str(error)})
            return 1
    return 0


def _opened(ways_in: dict[str, Access], folder: Path) -> dict[str, str]:
    admin, nobody = ways_in[ADMIN], ways_in[NOBODY]
    return {
        "url": admin.url,
        "authority": str(admin.authority),
        "token": admin.token,
        "audit": str(audit_log(folder)),
        "kubeconfig": str(admin.write_kubeconfig(folder / "kubeconfig")),
        "kubeconfig_nobody": str(nobody.write_kubeconfig(folder / "kubeconfig-nobody")),
    }


def _install_crds(access: Access) -> None:
    with Client(access) as client:
        paths = [_install(client, file) for file in sorted(sources.crd_folder().glob("*.yaml"))]
        deadline = time.monotonic() + CRD_SECONDS
        while not all(client.request("GET", path).status == 200 for path in paths):
            if time.monotonic() > deadline:
                message = f"not all CRDs are served after {CRD_SECONDS:.0f} s"
                raise RigError(message)
            time.sleep(PAUSE_SECONDS)


def _install(client: Client, file: Path) -> str:
    """Install one CRD and give the path where its objects will be."""
    text = file.read_bytes()
    verdict = client.apply(text)
    if not verdict.accepted:
        message = f"the server refused {file.name}: {verdict.message}"
        raise RigError(message)
    spec = yaml.load(text, Loader=yaml.CSafeLoader)["spec"]
    return f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}?limit=1"


def _print(found: dict[str, str]) -> None:
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


def _leave(_signal: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(143)


if __name__ == "__main__":
    sys.exit(main())
