"""gpupool's reading of schedules against the Go library that Karpenter uses."""

import random
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.budgets.schedules import hits, schedule
from tests.rig import programs
from tests.tiers import volume

pytestmark = pytest.mark.server

SCHEDULES = volume(3_000)


@pytest.fixture(scope="module")
def oracle() -> Path:
    return programs.build(programs.CRON).path


def ours(text: str, begin: datetime, end: datetime) -> str:
    try:
        return " ".join(str(int(hit.timestamp())) for hit in hits(text, begin, end))
    except ValueError:
        return "error"


def test_every_schedule_is_read_and_hits_as_in_go(oracle: Path) -> None:
    chance = random.Random(20280229)  # noqa: S311 - a fixed sequence is what we want
    asked: list[tuple[str, datetime, datetime]] = []
    for _ in range(SCHEDULES):
        begin = datetime(2028, 1, 1, chance.randrange(24), tzinfo=UTC) + timedelta(days=chance.randrange(366))
        asked.append((schedule(chance), begin, begin + timedelta(days=12)))
    lines = "".join(f"{begin.timestamp():.0f}\t{end.timestamp():.0f}\t{text}\n" for text, begin, end in asked)
    answers = subprocess.run(
        [oracle], input=lines, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(answers) == len(asked)
    for question, answer in zip(asked, answers, strict=True):
        assert ours(*question) == answer, question
    assert SCHEDULES / 30 < answers.count("error") < SCHEDULES / 3
    assert sum(bool(answer) and answer != "error" for answer in answers) > SCHEDULES / 6
