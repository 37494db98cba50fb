"""gpupool's arithmetic of budgets against Karpenter's own, minute by minute."""

import json
import random
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from gpupool.karpenter.budgets import (
    REASONS,
    UNBOUNDED,
    DisruptionBudget,
    count_allowed,
    find_active_minutes,
    is_for_reason,
    is_unreadable,
)
from tests.budgets.schedules import readable, schedule
from tests.rig import programs
from tests.tiers import volume

pytestmark = pytest.mark.server

SEED = 20_261_121
QUESTIONS = volume(4_000)
MINUTES = 90
NODES = ("0", "1", "3", "17", "0%", "1%", "5%", "10%", "33%", "50%", "99%", "100%", "007", "3000000000", "4294967297", "9" * 30)  # fmt: skip
DURATIONS = ("0m", "1m", "15m", "59m", "1h", "1h30m", "8h", "24h", "100h", "1000h", "9000h", "8h0s", "30m0s")
NEVER = ("0 0 30 2 *", "0 0 31 4,6 *", ", 0 * * *", "0 0 29 2 *")
SIZES = (0, 1, 2, 7, 10, 19, 20, 99, 100, 101, 1000)


class Question(NamedTuple):
    budgets: tuple[DisruptionBudget, ...]
    reason: str
    nodes: int
    begin: datetime

    def instants(self) -> list[datetime]:
        return [self.begin + timedelta(minutes=minute) for minute in range(MINUTES)]


@pytest.fixture(scope="module")
def oracle() -> Path:
    return programs.build(programs.BUDGETS).path


def budget(chance: random.Random) -> DisruptionBudget:
    reasons = None if chance.random() < 0.5 else tuple(chance.sample(REASONS, chance.randrange(4)))
    nodes = chance.choices(NODES, [10] * 12 + [1] * 4)[0]
    if chance.random() < 0.2:
        return DisruptionBudget(nodes, reasons)
    said = chance.choices([readable(chance), schedule(chance), chance.choice(NEVER)], [80, 4, 2])[0]
    return DisruptionBudget(
        nodes, reasons, said, chance.choices(DURATIONS, [1, 4, 4, 4, 4, 4, 2, 1, 1, 1, 1, 2, 4])[0]
    )


def questions() -> Iterator[Question]:
    chance = random.Random(SEED)  # noqa: S311 - a fixed sequence is what we want
    for _ in range(QUESTIONS):
        begin = datetime(chance.choice([2026, 2027, 2028, 2095, 2099]), 1, 1, tzinfo=UTC)
        begin += timedelta(minutes=chance.choice([0, 365 * 24 * 60 - 45, chance.randrange(365 * 24 * 60)]))
        budgets = tuple(budget(chance) for _ in range(chance.choice([0, 1, 1, 2, 2, 3, 5])))
        yield Question(budgets, chance.choice(REASONS), chance.choice(SIZES), begin)


def asked(question: Question) -> str:
    """Return the question as the program reads it; what is absent is left out, as the API server stores it."""
    budgets = [
        {key: value for key, value in each._asdict().items() if value is not None}
        for each in question.budgets
    ]
    at = [int(instant.timestamp()) for instant in question.instants()]
    said = {"budgets": budgets, "reason": question.reason, "nodes": question.nodes, "at": at}
    return f"{json.dumps(said)}\n"


def test_as_many_nodes_may_go_as_karpenter_says(oracle: Path) -> None:
    found = list(questions())
    lines = "".join(map(asked, found))
    done = subprocess.run([oracle], input=lines, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == QUESTIONS

    changing = refused = 0
    for question, answer in zip(found, answers, strict=True):
        budgets, reason, nodes, begin = question
        ours = [count_allowed(budgets, reason, instant, nodes) for instant in question.instants()]
        assert ours == answer, f"seed {SEED}: {question}"
        changing += len(set(answer)) > 1
        refused += any(map(is_unreadable, budgets))
        for each in budgets:
            if not is_unreadable(each) and is_for_reason(each, reason):
                one = [
                    count_allowed([each], reason, instant, nodes) != UNBOUNDED
                    for instant in question.instants()
                ]
                bits = find_active_minutes(each, begin, MINUTES)
                assert [bool(bits >> minute & 1) for minute in range(MINUTES)] == one, f"seed {SEED}: {each}"
    unbounded = sum(UNBOUNDED in answer for answer in answers)
    assert changing > QUESTIONS * 3 / 40, changing
    assert volume(50, at_least=4) < refused < QUESTIONS * 3 / 8, refused
    assert unbounded > QUESTIONS / 8, unbounded
