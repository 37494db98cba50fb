"""The cron evaluator of the simulation against the Go library that Karpenter uses."""

import random
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.budgets.cron import parse
from tests.rig.toolchain import go

pytestmark = pytest.mark.server

ODD = (
    "L",
    "15W",
    "5#2",
    "*/0",
    "1//2",
    "1-2-3",
    "6-0",
    "sat-sun",
    "mon",
    "SUN-tue",
    "jan",
    "dec-jan",
    ",",
    "+3",
    "-3",
    "*-7",
    "x",
    "07",
)
DESCRIPTORS = ("@daily", "@weekly", "@monthly", "@yearly", "@hourly", "@Daily", "@reboot")


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("oracle") / "cron"
    go().run("cron", "build", "-o", str(program), ".")
    return program


def field(chance: random.Random, low: int, high: int) -> str:
    """Give one field, now and then beside the bounds or outside the grammar."""
    one, other = sorted(chance.randint(low, high) for _ in range(2))
    kinds = {
        "*": 40, "?": 3, str(one): 25, f"{one}-{other}": 12, f"{one},{other}": 8, f"*/{other + 1}": 5, f"{one}/{other + 1}": 5,
        f"{one}-{other}/2": 5, f"{other},{one}-{other}": 3, str(high + 1): 1, f"{low}-{high + 1}": 1, chance.choice(ODD): 3,
    }  # fmt: skip
    return chance.choices(list(kinds), list(kinds.values()))[0]


def schedule(chance: random.Random) -> str:
    if chance.random() < 0.03:
        return chance.choice(DESCRIPTORS)
    fields = [field(chance, *bounds) for bounds in ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))]
    return " ".join(fields[: chance.choices([5, 4], [50, 1])[0]])


def ours(text: str, begin: datetime, end: datetime) -> str:
    try:
        return " ".join(str(int(hit.timestamp())) for hit in parse(text).hits(begin, end))
    except ValueError:
        return "error"


def test_every_schedule_is_read_and_hits_as_in_go(oracle: Path) -> None:
    chance = random.Random(20280229)  # noqa: S311 - a fixed sequence is what we want
    asked: list[tuple[str, datetime, datetime]] = []
    for _ in range(3000):
        begin = datetime(2028, 1, 1, chance.randrange(24), tzinfo=UTC) + timedelta(days=chance.randrange(366))
        asked.append((schedule(chance), begin, begin + timedelta(days=12)))
    lines = "".join(f"{begin.timestamp():.0f}\t{end.timestamp():.0f}\t{text}\n" for text, begin, end in asked)
    answers = subprocess.run(
        [oracle], input=lines, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(answers) == len(asked)
    for question, answer in zip(asked, answers, strict=True):
        assert ours(*question) == answer, question
    assert 100 < answers.count("error") < 1000
    assert sum(bool(answer) and answer != "error" for answer in answers) > 500
