"""Every NodePool that examples, profiles and golden cases render, with its node class."""

from collections.abc import Iterator

import yaml

from tests.goldencases import cases
from tests.rig.scheduling import Body
from tests.scheduling.classes import node_class

AL2023 = node_class("absent")
"""What a class counts as that is kept elsewhere."""


def pools_with_classes() -> Iterator[tuple[Body, Body]]:
    """Yield each NodePool of the golden cases with the EC2NodeClass that it refers to."""
    for case in cases():
        objects = [yaml.safe_load(text) for text in (case.expected_files or {}).values()]
        classes = {each["metadata"]["name"]: each for each in objects if each.get("kind") == "EC2NodeClass"}
        for each in objects:
            if each.get("kind") == "NodePool":
                reference = each["spec"]["template"]["spec"]["nodeClassRef"]["name"]
                yield each, classes.get(reference, AL2023)
