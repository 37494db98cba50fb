"""Whatever stands in a field, our models and the real CRD say the same of it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.karpenter import crds
from tests.karpenter.examples import FULL, STATIC, changed
from tests.karpenter.test_accepted import MODELS

PIECES = [
    *(
        "",
        " ",
        "\n",
        "0",
        "1",
        "10",
        "63",
        "100",
        "65536",
        "a",
        "Z",
        "-",
        "_",
        ".",
        "/",
        "%",
        "+",
        "e",
        "x" * 64,
    ),
    *(
        "s",
        "m",
        "h",
        "d",
        "Gi",
        "G",
        "Ti",
        "T",
        "Mi",
        "k",
        "Never",
        "@daily",
        "*",
        "ami-",
        "sg-",
        "cr-",
        "pg-",
        "subnet-",
    ),
    *(
        "karpenter.sh",
        "example.com",
        "In",
        "Gt",
        "Empty",
        "Drifted",
        "NoSchedule",
        "enabled",
        "gp3",
        "\u0661",
        "é",
    ),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
NUMBERS = st.sampled_from(
    [-(2**63) - 1, -(2**31) - 1, -1, 0, 1, 29, 30, 50, 51, 60, 64, 65, 99, 100, 101, 180, 300]
)
BIG = st.sampled_from([301, 10000, 10001, 432000, 432001, 2**31 - 1, 2**63 - 1])
OTHERS = st.sampled_from([True, False, 1.5, -0.5])
SCALARS = TEXTS | NUMBERS | BIG | OTHERS
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(TEXTS, SCALARS, max_size=2)

OURS_ALONE = (
    "apiVersion",  # the API server's part
    "kind",
    "metadata",
    "timeAdded",  # jsonschema does not look at formats
    "evictionHard",  # which keys, the CRD says in CEL
    "evictionSoft",
    "evictionSoftGracePeriod",
    "kubeReserved",
    "systemReserved",
    "replicas",  # 64 bits in the schema, 32 in the scale subresource
)


def places(value: object, path: str = "") -> list[str]:
    """Each place below a value, as a path to change it by."""
    children: dict[str, Any] = {}
    if isinstance(value, dict):
        children = value
    if isinstance(value, list):
        children = {str(index): item for index, item in enumerate(value)}
    below = [
        place
        for key, child in children.items()
        if key not in OURS_ALONE
        for place in places(child, f"{path} {key}")
    ]
    return [path.strip(), *below] if path else below


@pytest.mark.parametrize("whole", [*FULL.values(), STATIC], ids=lambda whole: whole["metadata"]["name"])
@settings(derandomize=True, max_examples=600, deadline=None, database=None)
@given(data=st.data())
def test_agreement(whole: dict[str, Any], data: st.DataObject) -> None:
    place = data.draw(st.sampled_from(places(whole)))
    case = changed(whole, place, data.draw(VALUES))

    refused = crds.refusals(whole["kind"], case)

    if refused:
        with pytest.raises(ValidationError):
            MODELS[whole["kind"]].model_validate(case)
    else:
        MODELS[whole["kind"]].model_validate(case)


def test_the_places_reach_deep() -> None:
    found = places(FULL["EC2NodeClass"])

    assert "spec blockDeviceMappings 0 ebs volumeSize" in found
    assert "spec kubelet evictionHard" not in found
    assert len(found) > 50
