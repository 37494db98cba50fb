"""Whole objects to begin with: the examples, the cases of other tests, and what gpupool renders."""

from functools import cache
from pathlib import Path

import yaml

from tests.differential.schemas import KINDS
from tests.differential.trees import Body
from tests.karpenter import cases, examples

TESTS = Path(__file__).parents[1]


@cache
def seeds() -> tuple[Body, ...]:
    """Return each seed once."""
    return (*examples.ALL, *rendered())


@cache
def rendered() -> tuple[Body, ...]:
    """Return the Karpenter objects among the golden files and the rendered examples."""
    files = sorted(path for folder in ("golden", "examples") for path in (TESTS / folder).rglob("*.yaml"))
    texts = dict.fromkeys(
        path.read_bytes()
        for path in files
        if path.parent.name in {"nodepools", "ec2nodeclasses", "nodeoverlays"}
    )
    found = [yaml.load(text, Loader=yaml.CSafeLoader) for text in texts]
    return tuple(body for body in found if isinstance(body, dict) and body.get("kind") in KINDS)


def told() -> tuple[Body, ...]:
    """Return the objects that the tests of the typed models name, good and bad ones."""
    tables = (*cases.ACCEPTED, *cases.REFUSED, *cases.STRICTER, *cases.NULLS)
    return tuple(examples.changed(*case) for case in tables if not case[1].startswith(("apiVersion", "kind")))
