"""The API server as a test sees it, and how a test run starts and ends it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.rig.access import ADMIN, Access
from tests.rig.audit import Audit
from tests.rig.client import Client
from tests.rig.errors import RigError
from tests.rig.processes import let_end

CHECKOUT = Path(__file__).parents[2]


class ApiServer(Client):
    """A running kube-apiserver with Karpenter's CRDs; asks as a user who may do everything."""

    def __init__(self, access: Access, kubeconfig: Path, kubeconfig_nobody: Path, audit_log: Path) -> None:
        super().__init__(access)
        self.access = access
        self.url = access.url
        self.kubeconfig = kubeconfig
        self.kubeconfig_nobody = kubeconfig_nobody
        """For a user who is known to the server and has no rights."""

        self.audit = Audit(audit_log)


@contextmanager
def api_server() -> Iterator[ApiServer]:
    """Run a server of its own while the block runs.

    Raises:
        RigError: It can't be built or does not start.
    """
    command = [sys.executable, "-m", "tests.rig.serve"]
    with subprocess.Popen(
        command,
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as keeper:
        try:
            with _opened(keeper) as server:
                yield server
        finally:
            let_end(keeper)


def _opened(keeper: subprocess.Popen[str]) -> ApiServer:
    line = keeper.stdout.readline() if keeper.stdout else ""
    found = json.loads(line or '{"error": "the API server ended before it was ready"}')
    if "error" in found:
        raise RigError(found["error"])
    access = Access(found["url"], Path(found["authority"]), ADMIN, found["token"])
    paths = (Path(found[name]) for name in ("kubeconfig", "kubeconfig_nobody", "audit"))
    return ApiServer(access, *paths)
