"""The way on which things go wrong: each fault as a plain client meets it, in front of the real server."""

import gc
import json
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.client import HTTPConnection, HTTPException, IncompleteRead
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from gpupool.cluster.client import Request
from gpupool.cluster.deadline import Deadline
from gpupool.cluster.kube import connect
from gpupool.cluster.kubeconfig import ClusterAccess
from tests.rig.fault_proxy import (
    FaultProxy,
    Rule,
    Seen,
    dry_runs,
    everything,
    fault_proxy,
    reads,
    real_writes,
)
from tests.rig.faults import (
    Cut,
    Fault,
    Instead,
    Late,
    Reset,
    Trickle,
    bad_gateway,
    conflict,
    failing_webhook,
    gateway_timeout,
    never,
    too_many_requests,
    typed_patch,
    unauthorized,
    unavailable,
)
from tests.rig.forwarding import Answered, Forwarding
from tests.rig.server import CHECKOUT, ApiServer

COLLECTION = "/api/v1/namespaces/default/configmaps"
MAP = "rig-faults"
PATH = f"{COLLECTION}/{MAP}"
APPLY = f"{PATH}?fieldManager=rig"
DRY_RUN = f"{APPLY}&dryRun=All"
BROKEN = (HTTPException, OSError)


@pytest.fixture(autouse=True)
def nothing_left(api_server: ApiServer) -> Iterator[None]:
    yield
    api_server.request("DELETE", PATH)


@pytest.fixture
def client(faulty: FaultProxy) -> Iterator[HTTPConnection]:
    connection = faulty.access.connection()
    yield connection
    connection.close()


def ask(client: HTTPConnection, token: str, method: str, path: str) -> tuple[int, dict[str, Any]]:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/apply-patch+yaml"}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": MAP}, "data": {"a": "1" * 100}}
    client.request(method, path, json.dumps(body) if method == "PATCH" else None, headers)
    answer = client.getresponse()
    raw = answer.read()
    return answer.status, json.loads(raw) if raw.startswith(b"{") else {"message": raw.decode()}


def is_stored(api_server: ApiServer) -> bool:
    return api_server.request("GET", PATH).status == 200


def test_what_passes_is_the_same_as_without_it(
    faulty: FaultProxy, client: HTTPConnection, api_server: ApiServer
) -> None:
    token = faulty.access.token

    created = ask(client, token, "PATCH", APPLY)
    read = ask(client, token, "GET", PATH)

    assert (created[0], read[0]) == (201, 200)
    assert created[1] == read[1] == api_server.request("GET", PATH).body


def test_it_remembers_what_came(faulty: FaultProxy, client: HTTPConnection) -> None:
    token = faulty.access.token
    before = time.monotonic()

    for method, path in (("GET", PATH), ("PATCH", DRY_RUN), ("PATCH", APPLY), ("DELETE", PATH)):
        ask(client, token, method, path)

    assert [(each.method, each.path, each.query, each.status) for each in faulty.seen] == [
        ("GET", PATH, {}, 404),
        ("PATCH", PATH, {"fieldManager": "rig", "dryRun": "All"}, 201),
        ("PATCH", PATH, {"fieldManager": "rig"}, 201),
        ("DELETE", PATH, {}, 200),
    ]
    assert [each.is_write for each in faulty.seen] == [False, False, True, True]
    assert [each.method for each in faulty.writes] == ["PATCH", "DELETE"]
    assert all(each.is_committed for each in faulty.writes)
    assert json.loads(faulty.seen[2].body)["metadata"] == {"name": MAP}
    assert before < faulty.seen[0].at < faulty.seen[3].at < time.monotonic()

    faulty.forget()

    assert faulty.seen == []


def test_users_are_who_they_are(faulty: FaultProxy, client: HTTPConnection, api_server: ApiServer) -> None:
    nobody = json.loads(api_server.kubeconfig_nobody.read_text())["users"][0]["user"]["token"]

    assert ask(client, nobody, "GET", PATH)[0] == 403
    assert ask(client, "unknown", "GET", PATH)[0] == 401
    assert ask(client, faulty.access.token, "GET", PATH)[0] == 404


def test_gpupool_finds_the_way(faulty: FaultProxy, tmp_path: Path) -> None:
    admin = connect(ClusterAccess(str(faulty.kubeconfig(tmp_path))), Deadline(60))
    unknown = connect(ClusterAccess(str(faulty.kubeconfig(tmp_path, token="unknown"))), Deadline(60))  # noqa: S106

    assert admin.server == faulty.url
    assert admin.ask(Request("GET", PATH), 10).status == 404
    assert unknown.ask(Request("GET", PATH), 10).status == 401


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (too_many_requests(), (429, None, "Too many requests")),
        (too_many_requests(2), (429, "2", "Too many requests")),
        (unavailable(), (503, None, "shutting down")),
        (unavailable(retry_after=1), (503, "1", "shutting down")),
        (gateway_timeout(), (504, None, "allotted timeout")),
        (bad_gateway(), (502, None, "<h1>502")),
        (failing_webhook(), (500, None, "failed calling webhook")),
        (typed_patch(), (500, None, "failed to create typed patch object")),
        (conflict(), (409, None, "has been modified")),
        (unauthorized(), (401, None, "Unauthorized")),
        (Instead(Answered(418, (("X-Rig", "tea"),), b'{"message": "teapot"}')), (418, None, "teapot")),
    ],
    ids=lambda value: str(value[0]) if isinstance(value, tuple) else "",
)
def test_an_answer_without_asking(
    faulty: FaultProxy,
    client: HTTPConnection,
    api_server: ApiServer,
    fault: Fault,
    said: tuple[int, str | None, str],
) -> None:
    rule = Rule(real_writes, fault)
    faulty.rules.append(rule)

    client.request("PATCH", APPLY, b"{}", {"Authorization": f"Bearer {faulty.access.token}"})
    answer = client.getresponse()

    assert (answer.status, answer.headers.get("Retry-After")) == said[:2]
    assert said[2] in answer.read().decode()
    assert (rule.struck, faulty.seen[0].status, faulty.seen[0].answered) == (1, said[0], 0)
    assert not faulty.seen[0].is_committed
    assert not is_stored(api_server)
    assert ask(client, faulty.access.token, "PATCH", APPLY)[0] == 201


def test_a_conflict_names_no_causes(faulty: FaultProxy, client: HTTPConnection) -> None:
    faulty.rules.append(Rule(everything, conflict()))

    body = ask(client, faulty.access.token, "PATCH", APPLY)[1]

    assert (body["kind"], body["reason"], body["code"]) == ("Status", "Conflict", 409)
    assert "details" not in body


def test_a_client_that_resets_before_the_handshake_leaves_nothing_open(faulty: FaultProxy) -> None:
    """A socket that is left open ends this test with a warning."""
    at = urlsplit(faulty.url)
    for _ in range(20):
        with socket.create_connection((str(at.hostname), int(at.port or 0))) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    faulty.end()
    gc.collect()


@pytest.mark.parametrize(
    ("fault", "stored"),
    [
        (Reset(), False),
        (Reset(after_answer=True), True),
        (Cut(), True),
        (Cut(chunked=True), True),
    ],
    ids=str,
)
def test_a_broken_connection(
    faulty: FaultProxy, client: HTTPConnection, api_server: ApiServer, fault: Fault, stored: bool
) -> None:
    faulty.rules.append(Rule(real_writes, fault))

    with pytest.raises(BROKEN):
        ask(client, faulty.access.token, "PATCH", APPLY)

    assert is_stored(api_server) is stored
    client.close()
    assert ask(client, faulty.access.token, "PATCH", APPLY)[0] == (200 if stored else 201)
    assert [each.is_committed for each in faulty.seen] == [stored, True]
    assert faulty.seen[0].answered == (201 if stored else 0)


def test_a_reset_is_one(faulty: FaultProxy, client: HTTPConnection) -> None:
    faulty.rules.append(Rule(everything, Reset()))

    with pytest.raises(ConnectionResetError):
        ask(client, faulty.access.token, "GET", PATH)


@pytest.mark.parametrize("fault", [Cut(), Cut(chunked=True)], ids=str)
def test_half_an_answer_is_told_from_a_whole_one(
    faulty: FaultProxy, client: HTTPConnection, fault: Fault
) -> None:
    faulty.rules.append(Rule(everything, fault))

    with pytest.raises(IncompleteRead):
        ask(client, faulty.access.token, "PATCH", APPLY)

    assert faulty.seen[0].status == 201


def test_a_trickling_body_arrives_whole_for_who_waits(faulty: FaultProxy, client: HTTPConnection) -> None:
    faulty.rules.append(Rule(everything, Trickle(step=50, seconds=0.01)))

    status, body = ask(client, faulty.access.token, "PATCH", APPLY)

    assert (status, body["data"]) == (201, {"a": "1" * 100})


def test_a_trickling_body_comes_bit_by_bit(faulty: FaultProxy, client: HTTPConnection) -> None:
    faulty.rules.append(Rule(everything, Trickle(seconds=0.1)))
    client.request("GET", PATH, headers={"Authorization": f"Bearer {faulty.access.token}"})
    answer = client.getresponse()

    assert answer.status == 404
    assert len(answer.read1(1000)) < 20


@pytest.mark.parametrize("after_answer", [False, True])
def test_an_answer_that_never_comes(faulty: FaultProxy, api_server: ApiServer, after_answer: bool) -> None:
    assert api_server.apply(
        f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {MAP}}}}}".encode()
    ).accepted
    faulty.rules.append(Rule(everything, never(after_answer=after_answer)))
    client = faulty.access.connection()
    client.request("DELETE", PATH, headers={"Authorization": f"Bearer {faulty.access.token}"})
    while not faulty.seen or (after_answer and not faulty.seen[0].answered):
        time.sleep(0.01)
    client.sock.settimeout(0.3)

    with pytest.raises(TimeoutError):
        client.getresponse()

    client.close()
    assert is_stored(api_server) is not after_answer
    assert [(each.status, each.is_committed) for each in faulty.seen] == [(0, after_answer)]


def test_a_late_answer(faulty: FaultProxy, client: HTTPConnection) -> None:
    faulty.rules += [Rule(dry_runs, Late(0.2)), Rule(real_writes, Late(0.2, after_answer=False))]
    started = time.monotonic()

    assert ask(client, faulty.access.token, "PATCH", DRY_RUN)[0] == 201
    assert ask(client, faulty.access.token, "PATCH", APPLY)[0] == 201
    assert time.monotonic() - started > 0.4


def test_a_rule_counts(faulty: FaultProxy, client: HTTPConnection) -> None:
    def third(_method: str, _path: str, _query: object, nth: int) -> bool:
        return nth == 3

    faulty.rules += [
        Rule(third, gateway_timeout()),
        Rule(reads, unavailable(), times=2, skip=1),
        Rule(dry_runs, too_many_requests(), times=None),
        Rule(everything, unauthorized(), times=None, token="old"),  # noqa: S106
    ]
    token = faulty.access.token

    assert [ask(client, token, "GET", PATH)[0] for _ in range(6)] == [404, 503, 504, 503, 404, 404]
    assert [ask(client, token, "PATCH", DRY_RUN)[0] for _ in range(3)] == [429] * 3
    assert ask(client, "old", "GET", PATH)[1]["reason"] == "Unauthorized"
    assert [rule.struck for rule in faulty.rules] == [1, 2, 3, 1]


def test_a_watch_is_passed_on_as_it_happens(
    faulty: FaultProxy, client: HTTPConnection, api_server: ApiServer
) -> None:
    token = faulty.access.token
    version = ask(client, token, "GET", COLLECTION)[1]["metadata"]["resourceVersion"]
    path = f"{COLLECTION}?watch=true&resourceVersion={version}"
    client.request("GET", path, headers={"Authorization": f"Bearer {token}"})
    answer = client.getresponse()

    text = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": MAP}})
    assert api_server.apply(text.encode()).accepted

    event = json.loads(answer.readline())
    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", MAP)


def test_hooks_hear_of_each_committed_write(faulty: FaultProxy, api_server: ApiServer) -> None:
    heard: list[tuple[str, int, str, int, int]] = []

    def committed(nth: int, seen: Seen, answered: Answered) -> None:
        heard.append(("committed", nth, seen.method, seen.status, answered.status))
        assert is_stored(api_server) is (seen.method == "PATCH")

    def delivered(nth: int, seen: Seen, answered: Answered) -> None:
        heard.append(("delivered", nth, seen.method, seen.status, answered.status))

    faulty.committed, faulty.delivered = committed, delivered
    client, token = faulty.access.connection(), faulty.access.token
    for method, path in (
        ("GET", PATH),
        ("PATCH", DRY_RUN),
        ("PATCH", APPLY),
        ("DELETE", PATH),
        ("DELETE", PATH),
    ):
        ask(client, token, method, path)
    client.close()
    faulty.end()

    assert heard == [
        ("committed", 1, "PATCH", 0, 201),
        ("delivered", 1, "PATCH", 201, 201),
        ("committed", 2, "DELETE", 0, 200),
        ("delivered", 2, "DELETE", 200, 200),
    ]


A_CLIENT = """
import sys
from gpupool.cluster.deadline import Deadline
from gpupool.cluster.kube import connect
from gpupool.cluster.kubeconfig import ClusterAccess
from gpupool.cluster.client import APPLY, Request
body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": sys.argv[2].rpartition("/")[2]}}
connection = connect(ClusterAccess(sys.argv[1]), Deadline(60))
for n in range(1, 5):
    connection.ask(Request("PATCH", sys.argv[2], {"fieldManager": "rig"}, {**body, "data": {"n": str(n)}}, APPLY), 10)
    print(n, flush=True)
"""


@pytest.mark.parametrize(("moment", "heard"), [("committed", [["1"]]), ("delivered", [["1"], ["1", "2"]])])
def test_a_client_is_killed_after_its_second_write(
    faulty: FaultProxy, api_server: ApiServer, tmp_path: Path, moment: str, heard: list[list[str]]
) -> None:
    command = [sys.executable, "-c", A_CLIENT, str(faulty.kubeconfig(tmp_path)), PATH]
    process = subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True)

    def kill(nth: int, _seen: Seen, _answered: Answered) -> None:
        if nth == 2:
            process.kill()
            process.wait()

    setattr(faulty, moment, kill)
    said, _ = process.communicate(timeout=60)

    assert process.returncode == -signal.SIGKILL
    assert api_server.request("GET", PATH).body["data"] == {"n": "2"}
    # Numbers, not text: an unbuffered client may be killed between a number and the end of its line.
    assert said.split() in heard


def test_many_at_once(faulty: FaultProxy) -> None:
    statuses: list[int] = []

    def one() -> None:
        client = faulty.access.connection()
        statuses.extend([ask(client, faulty.access.token, "PATCH", DRY_RUN)[0] for _ in range(20)])
        client.close()

    threads = [threading.Thread(target=one) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert statuses == [201] * 160
    assert [each.status for each in faulty.seen] == statuses


def test_it_ends_whatever_is_under_way(api_server: ApiServer) -> None:
    with fault_proxy(api_server.access) as found:
        found.rules.append(Rule(real_writes, never(), times=None))
        token, headers = found.access.token, {"Authorization": f"Bearer {found.access.token}"}
        clients = [found.access.connection() for _ in range(3)]
        clients[0].request("GET", f"{COLLECTION}?watch=true", headers=headers)
        assert clients[0].getresponse().status == 200
        clients[1].request("DELETE", PATH, headers=headers)
        assert ask(clients[2], token, "GET", PATH)[0] == 404
        before = threading.active_count()

    assert threading.active_count() < before
    for client in clients:
        client.close()
    with pytest.raises(ConnectionRefusedError):
        ask(found.access.connection(), token, "GET", PATH)


@pytest.mark.parametrize("where", ["match", "hook"])
def test_a_mistake_in_a_test_comes_to_light(api_server: ApiServer, where: str) -> None:
    def wrong(*_: object) -> bool:
        raise ValueError(where)

    found = FaultProxy(api_server.access)
    found.start()
    if where == "match":
        found.rules.append(Rule(wrong, unavailable()))
    else:
        found.committed = wrong  # type: ignore[assignment]
    client = replace(api_server.access, url=found.url).connection()
    if where == "match":
        with pytest.raises(BROKEN):
            ask(client, found.access.token, "PATCH", APPLY)
    else:
        assert ask(client, found.access.token, "PATCH", APPLY)[0] == 201
    client.close()

    with pytest.raises(ValueError, match=where):
        found.end()


def test_who_connects_at_the_end_is_not_reset(api_server: ApiServer) -> None:
    """A connection that was reset before it is secured is one that Python forgets to close."""
    forwarding = Forwarding(api_server.access, lambda exchange: exchange.send(exchange.forward()))
    forwarding.start()
    forwarding.shutdown()
    at = urlsplit(forwarding.url)

    with socket.create_connection((str(at.hostname), int(at.port or 0))) as client:
        forwarding.end()

        assert client.recv(1) == b""
