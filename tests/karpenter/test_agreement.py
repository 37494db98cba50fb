"""Whatever stands in a field, our models and the real CRD say the same of it."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.karpenter import crds
from tests.karpenter.examples import FULL, MODELS, changed

NUMBERS = [
    *(
        -(2**63) - 1,
        -(2**63),
        -(2**31) - 1,
        -(2**31),
        -1,
        0,
        1,
        2,
        29,
        30,
        50,
        51,
        59,
        60,
        61,
        64,
        65,
        99,
        100,
        101,
    ),
    *(180, 181, 300, 301, 10000, 10001, 432000, 432001, 2**31 - 1, 2**31, 2**63 - 1, 2**63),
]
TEXTS = [
    *(
        "",
        " ",
        "\n",
        "0",
        "1",
        "100",
        "a",
        "A-b_c.d",
        "é",
        "\u0661",
        "x" * 63,
        "x" * 64,
        "x/y",
        "X/y",
        "x" * 317,
    ),
    *(
        "1s",
        "1h\n",
        "12h30m",
        "0h",
        "1d",
        "\u0661h",
        "Never",
        "never",
        "10%",
        "101%",
        "@daily",
        "@reboot",
        "0 9 * * *",
    ),
    *(
        "1Gi",
        "17Ti",
        "18Ti",
        "58Ti",
        "59Ti",
        "64T",
        "65T",
        "1K",
        "-5m",
        "1e3",
        "5.5%",
        "100.00%",
        "+10%",
        "-100%",
        "1.25",
    ),
    *(
        "ami-1",
        "subnet-1",
        "sg-1",
        "cr-1",
        "pg-1",
        "x-sg-1",
        "123456789012",
        "karpenter.k8s.aws",
        "a/b/c",
        "a b",
    ),
    *(
        "In",
        "Gte",
        "gt",
        "NoSchedule",
        "Balanced",
        "Empty",
        "AL2023",
        "gp3",
        "open",
        "RAID0",
        "enabled",
        "required",
    ),
]
OTHERS = [
    True,
    False,
    1.5,
    -0.5,
    {},
    [],
    {"a": "b"},
    {"": ""},
    {"a": 1},
    ["a"],
    ["Empty", "Empty"],
    [1],
    [[]],
    [{}],
]
LONG = [[{"id": "x-1"}] * 31, [{}] * 51, [{}] * 101, [{}] * 151, {str(key): "1" for key in range(101)}]

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


def refuses(whole: dict[str, Any]) -> bool:
    try:
        MODELS[whole["kind"]].model_validate(whole)
    except ValidationError:
        return True
    return False


CASES = [(whole, place) for whole in FULL.values() for place in places(whole)]


@pytest.mark.parametrize(("whole", "place"), CASES, ids=lambda part: part if isinstance(part, str) else "")
def test_agreement(whole: dict[str, Any], place: str) -> None:
    validator = crds.validator_at(whole["kind"], place)
    values = [*NUMBERS, *TEXTS, *OTHERS, *LONG]

    theirs = [not validator.is_valid(value) for value in values]
    ours = [refuses(changed(whole, place, value)) for value in values]

    assert True in theirs
    assert [str(value)[:70] for value, a, b in zip(values, theirs, ours, strict=True) if a != b] == []


def test_the_places_reach_deep() -> None:
    found = places(FULL["EC2NodeClass"])

    assert "spec blockDeviceMappings 0 ebs volumeSize" in found
    assert "spec kubelet evictionHard" not in found
    assert len(found) > 50
