"""What a table of rules is made of: a rule with the changes that keep it and those that break it."""

from typing import NamedTuple

from tests.differential.trees import Body, Path, changed

Changes = dict[str, object]
"""What to put where, by a path such as `template.metadata.labels` below the spec."""


class Rule(NamedTuple):
    """A rule, by its path and message, with changes to a seed that keep it and that break it."""

    seed: Body
    path: str
    message: str
    kept: tuple[Changes, ...]
    broken: tuple[Changes, ...]


def applied(seed: Body, changes: Changes) -> Body:
    """Return the seed with all of the changes."""
    whole = seed
    for path, value in changes.items():
        whole = changed(whole, _path(path), value)
    return whole


def _path(text: str) -> Path:
    return (
        ("spec", *(int(step) if step.isdigit() else step for step in text.split("."))) if text else ("spec",)
    )


def put(path: str, *values: object) -> tuple[Changes, ...]:
    """Return one change for each value at a path."""
    return tuple({path: value} for value in values)


def term(path: str, *terms: Body) -> tuple[Changes, ...]:
    """Return one change for each term that stands alone in a list."""
    return tuple({path: [term]} for term in terms)
