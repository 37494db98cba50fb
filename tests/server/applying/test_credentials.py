"""Credentials that expire while an apply is under way: their program is asked once more."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.run import gpupool
from tests.rig.fault_proxy import Rule, everything
from tests.rig.faults import (
    unauthorized,
)
from tests.server.applying.ends import assert_said, ensure_converged, finish
from tests.server.applying.scenes import CREATE, INVENTORY, ONE_BY_ONE, READING, SECOND, TAKE, UPDATE, WRITING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.rig.forwarding import Exchange
    from tests.server.applying.scenes import Clean, Scene


PLUGIN = """\
import json, pathlib, sys
runs = pathlib.Path(sys.argv[1])
count = len(runs.read_text()) if runs.exists() else 0
runs.write_text("x" * (count + 1))
token = sys.argv[2:][min(count, len(sys.argv) - 3)]
if token == "none":
    sys.exit("the session has expired: log in again")
print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token}}))
"""


@dataclass(frozen=True)
class Plugin:
    """A program that makes tokens, one after the other; the last of them again and again."""

    scene: Scene

    @property
    def runs(self) -> int:
        return len(self._file.read_text("utf-8"))

    @property
    def _file(self) -> Path:
        return self.scene.folder / "runs"

    def words(self, *tokens: str) -> list[str]:
        """Return the words of an apply that uses them."""
        program = self.scene.folder / "plugin.py"
        program.write_text(PLUGIN, "utf-8")
        words = self.scene.words("apply", SECOND, *ONE_BY_ONE)
        kubeconfig = Path(words[words.index("--kubeconfig") + 1])
        config = json.loads(kubeconfig.read_text("utf-8"))
        config["users"][0]["user"] = {
            "exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": sys.executable,
                "args": [str(program), str(self._file), *tokens],
                "interactiveMode": "Never",
            }
        }
        kubeconfig.write_text(json.dumps(config), "utf-8")
        return words


@dataclass(frozen=True)
class Known:
    """The server knows the token, whatever it is."""

    token: str

    def strike(self, exchange: Exchange) -> None:
        headers = {**exchange.asked.headers, "Authorization": f"Bearer {self.token}"}
        exchange.asked = exchange.asked._replace(headers=headers)
        exchange.send(exchange.forward())


def lasts_until(scene: Scene, token: str, words: str) -> None:
    """Let a token be good until a request that begins with these words."""
    meant, over = scene.matching(words), []

    def is_good(method: str, path: str, query: Mapping[str, str], nth: int) -> bool:
        if meant(method, path, query, nth):
            over.append(nth)
        return not over

    scene.faulty.rules.append(Rule(is_good, Known(scene.server.access.token), times=None, token=token))
    scene.faulty.rules.append(Rule(everything, unauthorized(), times=None, token=token))


NEVER = "never"


@pytest.mark.parametrize("words", [*READING, *WRITING])
def test_a_token_that_expires(first: Scene, clean: Clean, words: str) -> None:
    """Wherever that is, its program runs once more."""
    specs, plugin = clean(SECOND), Plugin(first)
    lasts_until(first, "early", words)
    lasts_until(first, "late", NEVER)

    said = gpupool(first.capsys, *plugin.words("early", "late"))

    assert said.code == 0, said.err
    assert plugin.runs == 2
    assert next(first.short(each) for each in first.faulty.seen if each.status == 401).startswith(words)
    first.faulty.rules = []
    ensure_converged(first, SECOND, specs)


def test_a_token_that_expires_for_many_requests_at_once(first: Scene, clean: Clean) -> None:
    specs, plugin = clean(SECOND), Plugin(first)
    lasts_until(first, "early", "GET NodePool")
    lasts_until(first, "late", NEVER)

    said = gpupool(first.capsys, *plugin.words("early", "late"), "--concurrency", "8")

    assert said.code == 0, said.err
    assert plugin.runs == 2
    first.faulty.rules = []
    ensure_converged(first, SECOND, specs)


@pytest.mark.parametrize(
    ("words", "code"), [("GET NodePool", 1), ("dry", 1), (TAKE, 1), (INVENTORY, 1), (UPDATE, 7)]
)
def test_credentials_that_are_no_longer_good(first: Scene, clean: Clean, words: str, code: int) -> None:
    specs, plugin = clean(SECOND), Plugin(first)
    first.strike(words, unauthorized(), times=None)

    said = gpupool(first.capsys, *plugin.words(first.server.access.token))

    assert said.code == code
    assert_said(said, "401: Unauthorized")
    # Whether a second dry run is under way when the first is refused is a matter of chance.
    asked = Counter(short for each in first.faulty.seen if (short := first.short(each)).startswith(words))
    assert (max(asked.values()), plugin.runs) == (2, 2)
    assert len(asked) == 1 or words == "dry"
    finish(first, specs)


@pytest.mark.parametrize(("words", "code"), [("GET kube-system", 1), ("dry", 1), (UPDATE, 7)])
def test_a_program_that_gives_no_token_any_more(first: Scene, clean: Clean, words: str, code: int) -> None:
    specs, plugin = clean(SECOND), Plugin(first)
    lasts_until(first, "early", words)

    said = gpupool(first.capsys, *plugin.words("early", "none"))

    assert said.code == code
    assert_said(said, "the session has expired: log in again")
    assert first.written()[2:] == ([] if code == 1 else ["PATCH EC2NodeClass/change", CREATE])
    finish(first, specs)
