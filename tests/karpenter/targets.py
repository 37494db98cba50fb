"""What came to Karpenter's API after 1.9, one row for each thing, and objects that do without all of it."""

import json
from typing import Any, NamedTuple

from tests.karpenter.examples import ALL, EC2NODECLASS, NODEPOOL, changed

_REQUIREMENTS = "spec template spec requirements"
_LABELS = "spec template metadata labels"
_AWS = "karpenter.k8s.aws"


class Later(NamedTuple):
    """One thing that a minor brought."""

    since: str
    whole: dict[str, Any]
    """An object that is good without it."""

    path: str
    """Where to put it, as in `spec limits cpu`."""

    value: Any
    word: str
    """What a finding has to name."""

    field: str
    """The path of the finding."""


LATER_FIELDS = {
    "networkInterfaces": "1.11",
    "placementGroupSelector": "1.11",
    "connectionTracking": "1.13",
    "cpuOptions": "1.13",
}
LATER_LABELS = {
    f"{_AWS}/capacity-reservation-interruptible": "1.10",
    f"{_AWS}/placement-group-id": "1.11",
    f"{_AWS}/placement-group-partition": "1.11",
}
RESERVATION = {"id": "cr-0a1b2c3d", "instanceType": "p5.48xlarge", "state": "active"}


def _old(whole: dict[str, Any]) -> dict[str, Any]:
    spec = {key: value for key, value in whole["spec"].items() if key not in LATER_FIELDS}
    if "Balanced" in json.dumps(spec):
        return changed({**whole, "spec": spec}, "spec disruption consolidationPolicy", "WhenEmpty")
    return {**whole, "spec": spec}


OLD = [_old(whole) for whole in ALL]
"""The examples without what is newer than 1.9."""

OLD_NODEPOOL, OLD_EC2NODECLASS = _old(NODEPOOL), _old(EC2NODECLASS)

LATER = (
    Later("1.14", OLD_NODEPOOL, "spec disruption consolidationPolicy", "Balanced", "Balanced", "spec.disruption.consolidationPolicy"),
    *(Later(since, OLD_EC2NODECLASS, f"spec {name}", EC2NODECLASS["spec"][name], name, f"spec.{name}") for name, since in LATER_FIELDS.items()),
    *(
        Later(since, OLD_NODEPOOL, f"{_REQUIREMENTS} 0", {"key": key, "operator": "Exists"}, key, "spec.template.spec.requirements[0].key")
        for key, since in LATER_LABELS.items()
    ),
    *(Later(since, OLD_NODEPOOL, f"{_LABELS} {key}", "1", key, "spec.template.metadata.labels") for key, since in LATER_LABELS.items()),
    Later("1.10", {**OLD_EC2NODECLASS, "status": {}}, "status capacityReservations", [{**RESERVATION, "interruptible": True}], "interruptible", "status.capacityReservations[0].interruptible"),
)  # fmt: skip

TWICE = changed(OLD_NODEPOOL, "spec disruption budgets 1 reasons", ["Empty", "Drifted", "Empty"])
"""What only 1.12 and older take."""
