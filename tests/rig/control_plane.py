"""etcd and kube-apiserver on loopback, with a fresh data folder, for as long as a block runs."""

import base64
import json
import secrets
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

from tests.rig import audit, programs
from tests.rig.access import ADMIN, NOBODY, Access
from tests.rig.client import Client
from tests.rig.errors import RigError
from tests.rig.processes import ensure_alive, free_ports, running

START_SECONDS = 90.0
PAUSE_SECONDS = 0.05
FIXED_FLAGS = (
    "--bind-address=127.0.0.1",
    "--service-account-issuer=https://rig.invalid",
    "--authorization-mode=RBAC",
    "--service-cluster-ip-range=10.0.0.0/24",
    # As every cluster that runs device plugins allows it.
    "--allow-privileged=true",
    # There is no controller-manager that would make the service account every Pod wants.
    "--disable-admission-plugins=ServiceAccount",
)


@contextmanager
def control_plane(folder: Path) -> Iterator[dict[str, Access]]:
    """Run the control plane in `folder`; give the way in for each user, once the server is ready."""
    etcd_port, etcd_peer_port, port = free_ports(3)
    etcd_log, server_log = folder / "etcd.log", folder / "kube-apiserver.log"
    ways_in = _ways_in(folder, port)
    program = str(programs.build(programs.API_SERVER).path)
    # There is memory enough for an hour; what the server saves at collecting garbage the tests have.
    server_command = ["env", "GOGC=400", program, *_server_flags(folder, etcd_port, port)]
    with running(_etcd_command(folder, etcd_port, etcd_peer_port), etcd_log) as etcd:
        _wait(lambda: _etcd_healthy(etcd_port), etcd, etcd_log)
        with running(server_command, server_log) as server:
            _wait(ways_in[ADMIN].authority.exists, server, server_log)
            with Client(ways_in[ADMIN]) as client:
                _wait(lambda: client.request("GET", "/readyz").status == 200, server, server_log)
            yield ways_in


def _ways_in(folder: Path, port: int) -> dict[str, Access]:
    authority = folder / "certificates" / "apiserver.crt"
    url = f"https://127.0.0.1:{port}"
    found = {user: Access(url, authority, user, secrets.token_hex(16)) for user in (ADMIN, NOBODY)}
    groups = {ADMIN: "system:masters", NOBODY: "nobodies"}
    lines = [f'{way.token},{user},{user},"{groups[user]}"\n' for user, way in found.items()]
    (folder / "tokens.csv").write_text("".join(lines))
    return found


def _etcd_command(folder: Path, port: int, peer_port: int) -> list[str]:
    client, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    return [
        str(programs.etcd()),
        "--unsafe-no-fsync",
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
    ]


def _server_flags(folder: Path, etcd_port: int, port: int) -> list[str]:
    key, policy = folder / "service-accounts.pem", folder / "audit-policy.json"
    _make_key(key)
    policy.write_text(json.dumps(audit.POLICY))
    return [
        *FIXED_FLAGS,
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        f"--secure-port={port}",
        f"--cert-dir={folder / 'certificates'}",
        f"--token-auth-file={folder / 'tokens.csv'}",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        f"--audit-policy-file={policy}",
        f"--audit-log-path={audit_log(folder)}",
        # In batches, what a test reads could lack the end.
        "--audit-log-mode=blocking",
        # The default begins a new file at 100 MB: a mark would then stand for nothing.
        "--audit-log-maxsize=0",
    ]


def audit_log(folder: Path) -> Path:
    """Return the file in which the server says what was asked of it."""
    return folder / "audit.log"


def _make_key(file: Path) -> None:
    # RFC 5915: version 1, the number (top bit clear, so it is in range), the curve P-256.
    number = bytes([secrets.randbelow(0x80)]) + secrets.token_bytes(31)
    der = bytes.fromhex("303102010104 20") + number + bytes.fromhex("a00a06082a8648ce3d030107")
    body = base64.b64encode(der).decode()
    file.write_text(f"-----BEGIN EC PRIVATE KEY-----\n{body}\n-----END EC PRIVATE KEY-----\n")


def _etcd_healthy(port: int) -> bool:
    with urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
        return bool(answer.status == 200)


def _wait(ready: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not _answers(ready):
        ensure_alive(process, log)
        if time.monotonic() > deadline:
            message = f"{log.stem} is not ready after {START_SECONDS:.0f} s:\n{log.read_text()[-2000:]}"
            raise RigError(message)
        time.sleep(PAUSE_SECONDS)


def _answers(ready: Callable[[], bool]) -> bool:
    try:
        return ready()
    except (OSError, HTTPException):
        return False
