"""The CRDs of older releases differ from those that gpupool was written after in what the table of targets says."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from gpupool.karpenter.versions import is_supported
from gpupool.shapes.annotations import Since
from tests.differential import schemas
from tests.karpenter.targets import LATER_FIELDS
from tests.rig import older
from tests.rig.older import Release

ATOMIC = "x-kubernetes-list-type"
CAME: dict[str, dict[str, str]] = {
    "NodePool": {
        "spec disruption consolidationPolicy enum": "1.14",
        f"spec disruption budgets [] reasons {ATOMIC}": "1.13",
        f"spec disruption budgets {ATOMIC}": "1.13",
        "spec template metadata annotations x-kubernetes-map-type": "1.13",
        "spec template metadata labels x-kubernetes-map-type": "1.13",
        f"spec template spec requirements {ATOMIC}": "1.13",
        f"spec template spec startupTaints {ATOMIC}": "1.13",
        f"spec template spec taints {ATOMIC}": "1.13",
        "status conditions x-kubernetes-list-map-keys": "1.13",
        f"status conditions {ATOMIC}": "1.13",
    },
    "NodeOverlay": {
        f"spec requirements {ATOMIC}": "1.13",
        "status conditions x-kubernetes-list-map-keys": "1.13",
        f"status conditions {ATOMIC}": "1.13",
    },
    "EC2NodeClass": {
        **{f"spec {name}": since for name, since in LATER_FIELDS.items()},
        "status capacityReservations [] interruptible type": "1.10",
    },
}
"""The first minor in which something stands as it does in the newest CRD; how lists and maps merge included."""

RULES = {
    "NodePool": {"spec template metadata labels", "spec template spec requirements [] key"},
    "NodeOverlay": {"spec requirements [] key"},
    "EC2NodeClass": set[str](),
}
"""Where the provider's CRDs have a rule over label keys of AWS."""


@pytest.mark.parametrize("release", older.releases(), ids=str)
def test_nothing_differs_but_what_the_table_says(release: Release) -> None:
    for kind in CAME.keys() & older.crds(release).keys():
        (version,) = older.crds(release)[kind]["spec"]["versions"]
        then = set(statements(version["schema"]["openAPIV3Schema"]))
        now = set(statements(schemas.schema(kind)))

        told = {at for at, since in CAME[kind].items() if not is_supported(release.target, Since(since))}
        assert {name(at) for at, _ in then ^ now} == told | rules(release, kind)
        # Nothing was ever taken away, only the lists of keys in the rules were written anew.
        assert {at for at, _ in then - now} <= rules(release, kind)


def rules(release: Release, kind: str) -> set[str]:
    """The places of rules that differ: core has none, and a NodeOverlay's has named the same keys ever since."""
    if release.is_for_aws and kind == "NodeOverlay":
        return set()
    return {f"{at} x-kubernetes-validations" for at in RULES[kind]}


def statements(part: dict[str, Any], at: str = "") -> Iterator[tuple[str, str]]:
    """Each thing that a schema says, by place and word; descriptions left out."""
    for word, said in part.items():
        if word == "properties":
            for field, child in said.items():
                yield from statements(child, f"{at} {field}".strip())
        elif word in {"items", "additionalProperties"} and isinstance(said, dict):
            yield from statements(said, f"{at} []")
        elif word != "description":
            every = said if isinstance(said, list) else [said]
            yield from ((f"{at} {word}", json.dumps(each)) for each in every)


def name(at: str) -> str:
    """The field that came as a whole, for what is said below it."""
    steps = at.split()
    return f"spec {steps[1]}" if steps[1] in LATER_FIELDS else at
