"""Proxies and servers that give no proper answer, and quote what they were sent: its secrets stay hidden."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest

from tests.rig.faults import Instead
from tests.rig.forwarding import Answered
from tests.server.applying.scenes import CHANGE, FIRST, KEEP, ONE_BY_ONE, Pools

if TYPE_CHECKING:
    from tests.rig.forwarding import Exchange
    from tests.server.applying.scenes import Scene

SCRIPT: Final = """\
#!/bin/bash
export LICENSE=Xk29-ffp1-0z7q-TTr4
export KEY=a"1b"2c"3d"4e"5f"6
"""
SECRETS: Final[Pools] = KEEP | {"new": {"accelerator": "l40s", "nodeClass": {"userData": SCRIPT}}}
PART: Final = "Xk29-ffp1-0z7q"
DENIED: Final = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid"}


@dataclass(frozen=True)
class Quoting:
    """Answers with a part of what it was sent."""

    code: int
    is_json: bool
    as_field: bool = False
    quoted: str = PART

    def strike(self, exchange: Exchange) -> None:
        assert PART in exchange.asked.body.decode()
        cause = {
            "field": f"spec.userData: {self.quoted}" if self.as_field else "spec.userData",
            "message": f"no: {self.quoted}",
        }
        details = {"causes": [cause]}
        body = json.dumps({**DENIED, "code": self.code, "message": f"no: {self.quoted}", "details": details})
        text = body if self.is_json else f"<html>no: {self.quoted}</html>"
        kind = "application/json" if self.is_json else "text/html"
        exchange.send(Answered(self.code, (("Content-Type", kind),), text.encode()))


ANSWERS: Final = {
    "a page of a proxy": Quoting(200, is_json=False),
    "a page of a proxy that fails": Quoting(502, is_json=False),
    "a webhook that fails": Quoting(503, is_json=True),
    "a webhook that denies": Quoting(422, is_json=True),
    "a webhook that denies a field of its own": Quoting(422, is_json=True, as_field=True),
    "a server that is not Kubernetes": Quoting(418, is_json=True),
    "a webhook that quotes as JSON does": Quoting(422, is_json=True, quoted=json.dumps(SCRIPT)[1:-1]),
    "a webhook that quotes base64": Quoting(
        422, is_json=True, quoted=base64.b64encode(SCRIPT.encode()).decode()
    ),
}


@pytest.mark.parametrize("words", ["dry EC2NodeClass/new", "PATCH EC2NodeClass/new"])
@pytest.mark.parametrize("answer", ANSWERS)
def test_what_it_quotes_is_hidden(first: Scene, answer: str, words: str) -> None:
    first.strike(words, ANSWERS[answer], times=None)
    files = [
        word
        for name in ("text", "json", "markdown", "github")
        for word in ("-o", f"{name}={first.folder}/out.{name}")
    ]

    said = first.run("apply", FIRST | SECRETS, *ONE_BY_ONE, *files)

    assert said.code in {1, 7}, said
    shown = [said.out, said.err, *(each.read_text("utf-8") for each in first.folder.glob("out.*"))]
    quoted = ANSWERS[answer].quoted
    parts = {quoted[at : at + 8] for at in range(len(quoted) - 7)}
    assert [each for each in shown if any(part in each for part in parts)] == []
    assert any("(sensitive)" in each for each in shown)


ELSEWHERE: Final = ("dry NodePool/new", "PATCH NodePool/new", "DELETE NodePool/gone", "PATCH configmaps")


@pytest.mark.parametrize("words", ELSEWHERE)
def test_what_it_quotes_of_another_object_is_hidden(first: Scene, words: str) -> None:
    """A webhook sees the whole cluster; what it says of one object may be a secret of another."""
    body = json.dumps({**DENIED, "code": 422, "message": f"no: {PART}"}).encode()
    rule = first.strike(words, Instead(Answered(422, (("Content-Type", "application/json"),), body)))

    said = first.run("apply", CHANGE | SECRETS, *ONE_BY_ONE)

    assert (rule.struck, said.code in {1, 7}) == (1, True), said
    assert PART[:8] not in said.out + said.err
    assert "no: (sensitive)" in said.out + said.err
