"""Karpenter's own Go code, asked about objects as the API server stores them."""

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tests.differential.trees import Body
from tests.rig import programs


class Opinion(NamedTuple):
    """What a controller makes of one object."""

    decode: str
    """Why its informer can't read the object; empty where it can."""

    runtime: tuple[str, ...]
    """What its own validation holds against the object."""


def build() -> Path:
    """Return the path of the program, built once for all runs."""
    return programs.build(programs.VALIDATION).path


def opinions(program: Path, bodies: Iterable[Body]) -> list[Opinion]:
    """Ask about each object."""
    lines = "".join(f"{json.dumps(body)}\n" for body in bodies)
    done = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    answers = map(json.loads, done.stdout.splitlines())
    return [Opinion(answer["decode"], tuple(answer["runtime"])) for answer in answers]


def stalls(program: Path, body: Body, seconds: float) -> bool:
    """Return whether the decoder is still at work on an object after so many seconds."""
    try:
        subprocess.run(
            [program], input=json.dumps(body), capture_output=True, text=True, check=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return True
    return False


def alias(program: Path, body: Body) -> str:
    """Ask for an EC2NodeClass' AMI family and alias; gives `fatal` where that ends the process."""
    done = subprocess.run(
        [program, "alias"], input=json.dumps(body), capture_output=True, text=True, check=False
    )
    return done.stdout if not done.returncode else "fatal"
