"""Attacks in any order, drawn anew for each seed: nothing is lost, nothing of a checkout runs, no secret is shown.

`python -m tests.attack --seed N --runs M` runs others than CI does.
"""

from __future__ import annotations

import json
import os
import signal
import time
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Final

import pytest

from gpupool.planning import file as plans
from tests.planning.forgeries import blind, clever
from tests.rig.faults import Instead, Reset, Trickle, unavailable
from tests.rig.forwarding import Answered
from tests.server.applying.ends import ensure_converged
from tests.server.applying.scenes import (
    CREATE,
    DELETE,
    INVENTORY,
    ONE_BY_ONE,
    RELEASE,
    SECOND,
    TAKE,
    UPDATE,
    at_write,
    ended,
)
from tests.tiers import is_thorough

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from tests.server.applying.scenes import Clean, Pools, Scene

SEED: Final = int(os.environ.get("GPUPOOL_ATTACK_SEED", "20261122"))
RUNS: Final = int(os.environ.get("GPUPOOL_ATTACK_RUNS", "200" if is_thorough() else "4"))

SECRET: Final = "hunter2-of-the-registry-9f8e7d6c5b4a"  # noqa: S105 - what must not be shown
PART: Final = 8
"""So many characters of it in a row are too many."""

DATA: Final = f"#!/bin/sh\nexport REGISTRY='{SECRET}'\n"
TARGET: Final[Pools] = SECOND | {
    "new": {"accelerator": "l40s", "nodeClass": {"userData": DATA, "tags": {"api-token": SECRET}}}
}
CODES: Final = frozenset({0, 1, 3, 4, 5, 6, 7, 129, 130, 143, -signal.SIGKILL})
"""How a command may end: every code but that of a wrong command line, and of a bug."""


def chance(seed: int) -> Random:
    """Return what draws, always the same for a seed."""
    return Random(seed)  # noqa: S311 - no secret


def lay_repository(folder: Path) -> Path:
    """Lay a bare repository into the working folder, whose settings name a program; return the mark it would leave."""
    mark, program = folder / "ran", folder / "program"
    program.write_text(f"#!/bin/sh\ntouch '{mark}'\n", "utf-8")
    program.chmod(0o755)
    for name in ("objects", "refs"):
        (folder / name).mkdir()
    (folder / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    settings = (
        f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = {program}\n"
    )
    (folder / "config").write_text(settings, "utf-8")
    return mark


def is_told(text: str) -> bool:
    """Return whether a part of the secret stands in a text."""
    return any(SECRET[at : at + PART] in text for at in range(len(SECRET) - PART + 1))


class Attacks:
    """What can be done to one blueprint's applies; each returns what the commands said."""

    def __init__(self, scene: Scene, random: Random) -> None:
        self.scene = scene
        self.random = random

    def kill(self) -> str:
        """Kill an apply at one of its writes, before or after it knows."""
        return self._at_a_write(lambda child: child.kill())

    def stop(self) -> str:
        """Stop an apply for a while, and kill it or tell it to end."""
        last = self.random.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGHUP))

        def act(child: subprocess.Popen[str]) -> None:
            child.send_signal(signal.SIGSTOP)
            time.sleep(0.3)
            child.send_signal(last)
            child.send_signal(signal.SIGCONT)

        return self._at_a_write(act)

    def lose(self) -> str:
        """Lose answers, delay them, or let the server be away for a moment."""
        for words in self.random.sample(
            (TAKE, INVENTORY, CREATE, UPDATE, DELETE, RELEASE, "GET NodePool"), 3
        ):
            fault = self.random.choice((Reset(after_answer=True), Reset(), Trickle(400, 0.01), unavailable()))
            self.scene.strike(words, fault, times=self.random.randrange(1, 4), skip=self.random.randrange(2))
        return self._ran("apply", *ONE_BY_ONE)

    def quote(self) -> str:
        """Let the server, or who stands before it, quote secrets and steer terminals."""
        piece = self.random.randrange(len(SECRET) - PART)
        said = f"\x1b[2J\u202e denied: {json.dumps(DATA)} {SECRET[piece : piece + PART + 4]}\r\n::error::x"
        status = self.random.choice((400, 403, 409, 418, 422, 500, 503))
        body = {"kind": "Status", "status": "Failure", "message": said, "code": status}
        answer = Answered(status, (("Content-Type", "application/json"),), json.dumps(body).encode())
        words = self.random.choice(("dry EC2NodeClass/new", CREATE, "dry NodePool", DELETE, INVENTORY))
        self.scene.strike(words, Instead(answer), times=self.random.choice((1, 3, None)))
        text = self._ran("apply", *ONE_BY_ONE)
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\n::error::" not in text
        return text

    def forge(self) -> str:
        """Return a saved plan another content, and apply it."""
        path = self.scene.folder / "plan.json"
        text = self._ran("plan", "--prune", "-o", f"json={path}")
        if not path.exists():
            return text
        honest = plans.parse_plan(path.read_bytes(), str(path))
        forged = (
            blind(self.random, honest)
            if self.random.random() < 0.5
            else plans.render_plan(plans.seal(clever(self.random, honest)))
        )
        path.write_text(forged, "utf-8", errors="surrogatepass")
        words = [each for each in self.scene.words("apply", TARGET) if each not in {"--yes", "--prune"}]
        words.insert(1, str(path))
        child = self.scene.start_words(*words)
        said = ended(child)
        path.unlink()
        assert said.code in CODES, said.err
        return text + said.out + said.err

    def _at_a_write(self, act: Callable[[subprocess.Popen[str]], None]) -> str:
        child = self.scene.start("apply", TARGET, *ONE_BY_ONE)
        moment = self.random.choice(("committed", "delivered"))
        nth = len(self.scene.written()) + self.random.randrange(1, 11)
        setattr(self.scene.faulty, moment, at_write(nth, partial(act, child)))
        said = ended(child)
        self.scene.faulty.committed = self.scene.faulty.delivered = None
        assert said.code in CODES, said.err
        return said.out + said.err

    def _ran(self, command: str, *more: str) -> str:
        said = self.scene.run(command, TARGET, *more)
        self.scene.faulty.rules = []
        assert said.code in CODES, said.err
        assert "Traceback" not in said.err
        return said.out + said.err


@pytest.mark.parametrize("seed", range(SEED, SEED + RUNS))
def test_whatever_happens(first: Scene, clean: Clean, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    specs, random = clean(TARGET), chance(seed)
    mark = lay_repository(first.folder)
    monkeypatch.chdir(first.folder)
    attacks = Attacks(first, random)
    every = (attacks.kill, attacks.stop, attacks.lose, attacks.quote, attacks.forge)

    told = []
    for attack in random.choices(every, k=random.randrange(2, 5)):
        told.append(f"{attack.__name__}: {attack()}")
        first.unlock()

    said = first.run("apply", TARGET)
    assert said.code == 0, (seed, said.err, told)
    told.append(said.out + said.err)
    ensure_converged(first, TARGET, specs)
    assert [each for each in told if is_told(each)] == [], seed
    assert not mark.exists(), seed
