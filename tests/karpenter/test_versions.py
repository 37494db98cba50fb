import pytest

from gpupool.karpenter.v1.ec2nodeclass import EC2NodeClassSpec
from gpupool.karpenter.v1.nodepool import Disruption, NodePoolSpec, NodeSelectorRequirementWithMinValues
from gpupool.karpenter.v1alpha1.nodeoverlay import NodeOverlay
from gpupool.karpenter.versions import LATEST, TARGETS, VALUES_SINCE, is_supported, parse_minor
from gpupool.shapes.annotations import Since
from gpupool.shapes.base import Shape


@pytest.mark.parametrize("text", ["1.14", "v1.14", "1.14.1", "v1.14.1", "1.14.0-rc.1", "1.14.1+build"])
def test_a_minor_is_read(text: str) -> None:
    assert str(parse_minor(text)) == "1.14"


@pytest.mark.parametrize("text", ["", "1", "1.x", "1.14.", "1.14.1.2", " 1.14", "latest", "1.14\n"])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a Karpenter version"):
        parse_minor(text)


def test_minors_order_by_number() -> None:
    assert [str(minor) for minor in sorted(parse_minor(target) for target in TARGETS)] == list(TARGETS)
    assert parse_minor("1.9") < parse_minor("1.10")
    assert LATEST == "1.14"


@pytest.mark.parametrize(
    ("target", "since", "known"), [("1.9", "1.11", False), ("1.11", "1.11", True), ("1.14", "1.9", True)]
)
def test_what_a_target_knows(target: str, since: str, known: bool) -> None:
    assert is_supported(target, Since(since)) is known


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (
            EC2NodeClassSpec,
            {
                "capacityReservationSelectorTerms": Since("1.3", gate="ReservedCapacity"),
                "networkInterfaces": Since("1.11"),
                "placementGroupSelector": Since("1.11"),
                "connectionTracking": Since("1.13"),
                "cpuOptions": Since("1.13"),
            },
        ),
        (NodePoolSpec, {"replicas": Since("1.8", gate="StaticCapacity")}),
        (NodeOverlay, {"apiVersion": Since("1.7", gate="NodeOverlay")}),
    ],
)
def test_the_fields_that_came_later(model: type[Shape], fields: dict[str, Since]) -> None:
    found = {
        field.alias or name: mark
        for name, field in model.model_fields.items()
        for mark in field.metadata
        if isinstance(mark, Since)
    }

    assert found == fields


def test_the_values_that_came_later_are_values_of_their_field() -> None:
    policies = Disruption.model_json_schema()["properties"]["consolidationPolicy"]["anyOf"][0]["enum"]
    operators = NodeSelectorRequirementWithMinValues.model_json_schema()["properties"]["operator"]["enum"]
    known = {"consolidationPolicy": policies, "operator": operators}

    assert all(value in known[field] for field, value in VALUES_SINCE)
    assert VALUES_SINCE["consolidationPolicy", "Balanced"] == Since("1.14")
