"""Where a value came from, as text and as JSON."""

import pytest

from gpupool.blueprint.load import load
from gpupool.expansion.expand import expand
from gpupool.findings import Location
from gpupool.provenance.trace import trace
from gpupool.provenance.values import LayerOutcome, LayerValue, Origin, Provenance
from gpupool.rendering.render import build_manifests
from gpupool.reports.explain.provenance import render_text, to_json
from tests.test_examples import EXAMPLES

LIMITS = """\
pools.chat.limits.gpus = 40
  pool  ml-platform/base.yaml:21:20  40  (wins)
  → NodePool chat-spot spec.limits[nvidia.com/gpu]: 40

pools.chat.tiers.ondemand.limits = 25%
  pool                                ml-platform/base.yaml:21:5    {gpus: 40}
  profile spot-tiered, tier ondemand  profiles/spot-tiered.yaml:21  25%         (wins)
  → NodePool chat-ondemand spec.limits[nvidia.com/gpu]: 10

pools.chat.tiers.reserved.limits.gpus = 16
  pool           ml-platform/base.yaml:21:20  40
  tier reserved  ml-platform/prod.yaml:19:24  16  (wins)
  → NodePool chat-reserved spec.limits[nvidia.com/gpu]: 16
"""


def asked(question: str) -> Provenance:
    loaded = load(["ml-platform/base.yaml", "ml-platform/prod.yaml"])
    return trace(loaded, build_manifests(expand(loaded)), question)


@pytest.fixture(autouse=True)
def _in_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)


def test_every_layer_has_a_line() -> None:
    assert render_text(asked("chat.limits")) == LIMITS


def test_what_several_objects_have_alike_is_said_once() -> None:
    assert render_text(asked("chat.expireAfter")).splitlines()[-1] == (
        "  → NodePool chat-spot, chat-ondemand, chat-reserved spec.template.spec.expireAfter: 336h"
    )


def test_another_word_is_named() -> None:
    said = LayerValue("profile a", ("instances", "gpus"), Location("a.yaml", 3, 4), 8, LayerOutcome.REPLACED)
    wins = LayerValue("pool", ("requirements", "x/y"), Location("b.yaml", 1, 2), 4, LayerOutcome.WINS)
    found = Provenance("a.x", (Origin(("pools", "a", "requirements", "x/y"), 4, (said, wins)),))
    assert render_text(found) == (
        "pools.a.requirements[x/y] = 4\n  profile a  a.yaml:3:4  instances.gpus: 8\n  pool       b.yaml:1:2  4                  (wins)\n"
    )


def test_nothing_said_is_said() -> None:
    assert render_text(Provenance("a.weight", ())) == "a.weight: not set, and not rendered\n"
    removed = LayerValue("pool", ("taints",), Location("a.yaml", 1, 1), None, LayerOutcome.REMOVES)
    found = render_text(Provenance("a.taints", (Origin(("pools", "a", "taints"), None, (removed,)),)))
    assert found == "pools.a.taints: not set\n  pool  a.yaml:1:1  null  (removes it)\n"


def test_what_a_file_says_can_not_steer_the_terminal() -> None:
    odd = LayerValue(
        "pool\x1b", ("x\x1b",), Location("a\x1b.yaml", 1, 1), "\x1b[31m" + "x" * 5000, LayerOutcome.WINS
    )
    shown = render_text(Provenance("a\x1b", (Origin(("pools", "\x1b"), "\x1b", (odd,)),)))
    assert "\x1b" not in shown
    assert max(map(len, shown.splitlines())) < 300


def test_the_json_has_the_same() -> None:
    found = to_json(asked("chat.tiers.reserved.limits.gpus"))
    assert found == {
        "field": "chat.tiers.reserved.limits.gpus",
        "values": [
            {
                "path": "pools.chat.tiers.reserved.limits.gpus",
                "value": 16,
                "chain": [
                    {"layer": "pool", "word": "limits.gpus", "file": "ml-platform/base.yaml", "line": 21, "column": 20, "value": 40, "outcome": "replaced"},
                    {"layer": "tier reserved", "word": "limits.gpus", "file": "ml-platform/prod.yaml", "line": 19, "column": 24, "value": 16, "outcome": "wins"},
                ],
                "rendered": [{"object": "NodePool/chat-reserved", "path": "spec.limits[nvidia.com/gpu]", "value": 16}],
            }
        ],
    }  # fmt: skip
