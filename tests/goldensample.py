"""A fixed sample of the golden cases, for checks that ask a real server about each."""

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import yaml

from tests.goldencases import Case
from tests.tiers import is_thorough

Trait: TypeAlias = tuple[str, ...]
"""Something that tells one kind of object from another: a field with the form of its value, a profile."""

OBJECTS = ("ec2nodeclasses/", "nodeoverlays/", "nodepools/")
_FREE_KEYS = frozenset({"labels", "annotations", "tags"})
"""Maps whose keys are the user's own."""

_API_WORD = re.compile(r"[A-Z][A-Za-z0-9]*|([a-z]+\.)*(karpenter\.sh|k8s\.aws|kubernetes\.io)/[a-z-]+")
"""An operator, an effect, a policy, a reason; a label of Karpenter's or Kubernetes' in a requirement."""


def sampled(cases: Sequence[Case]) -> list[Case]:
    """Return the cases of this tier: all with `--thorough`, otherwise those that add a trait.

    In name order, a case stays when its objects have a field, or a form of a field's value, that those of no case
    before it have, or when it shows a profile, has several layers, or refers to a class that nobody declares. So
    every trait of all cases is in the sample, and the sample changes only with the cases themselves.
    """
    return list(cases) if is_thorough() else adding(cases)


def adding(cases: Sequence[Case]) -> list[Case]:
    """Return the cases that have a trait which no case before them has."""
    found: list[Case] = []
    known: set[Trait] = set()
    for case in cases:
        new = traits(case) - known
        if new:
            found.append(case)
            known |= new
    return found


def traits(case: Case) -> frozenset[Trait]:
    """Return what tells a case's objects from those of other cases."""
    files = case.expected_files or {}
    objects = [yaml.load(text, yaml.CSafeLoader) for path, text in files.items() if path.startswith(OBJECTS)]
    classes = {each["metadata"]["name"] for each in objects if each["kind"] == "EC2NodeClass"}
    references = [
        each["spec"]["template"]["spec"]["nodeClassRef"] for each in objects if each["kind"] == "NodePool"
    ]
    outside = {("outside", each["kind"]) for each in references if each["name"] not in classes}
    whole = {("profile", case.profile), ("layers", str(len(case.blueprints))), *outside}
    return frozenset(whole | {(each["kind"], *field) for each in objects for field in _fields(each["spec"])})


def _fields(value: object, path: Trait = ()) -> Iterator[Trait]:
    """Yield each leaf's path with the form of its value; an empty map or list is a leaf too."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _fields(item, (*path, "*" if path and path[-1] in _FREE_KEYS else str(key)))
    elif isinstance(value, list) and value:
        for item in value:
            yield from _fields(item, (*path, "[]"))
    else:
        yield (*path, _form(value))


def _form(value: object) -> str:
    """Return how a value is written, as in `0h` or `0Gi`; of text only words of an API, as in `In` or `WhenEmpty`."""
    if not isinstance(value, str):
        return type(value).__name__
    if re.match(r"[0-9]", value):
        return re.sub(r"[0-9]+", "0", value)
    return value if _API_WORD.fullmatch(value) else "text"
