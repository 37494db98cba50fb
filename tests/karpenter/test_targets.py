"""A target that is older than Karpenter 1.14 takes less: exactly what came later is an error."""

from collections.abc import Iterator
from typing import Any, get_args

import pytest
import yaml

from gpupool.codes import Code
from gpupool.findings import Finding, Severity, has_errors
from gpupool.karpenter.labels import OVERLAY_REFUSED, WELL_KNOWN
from gpupool.karpenter.validation.check import check
from gpupool.karpenter.validation.types import TYPES
from gpupool.karpenter.versions import STATUS_SINCE, TARGETS, VALUES_SINCE, is_supported
from gpupool.manifests.read import read_manifests
from gpupool.shapes.annotations import Since
from gpupool.shapes.base import Shape
from tests.differential.trees import Body, node
from tests.karpenter import cases
from tests.karpenter.examples import NODEOVERLAY, changed
from tests.karpenter.targets import LATER, LATER_FIELDS, OLD, OLD_EC2NODECLASS, OLD_NODEPOOL, TWICE, Later

OLDEST = TARGETS[0]


def errors(body: Body, target: str) -> list[Finding]:
    """The errors in an object that is read from a file, with their lines."""
    (found,) = read_manifests(["-"], yaml.safe_dump(body, sort_keys=False).encode).objects
    return [each for each in check(found.kind, found.body, target) if each.severity is Severity.ERROR]


def refused_by(body: Body) -> list[str]:
    """The targets for which an object has errors."""
    return [target for target in TARGETS if has_errors(check(body["kind"], node(body), target))]


def later_id(value: object) -> str:
    return f"{value.word} at {value.field}" if isinstance(value, Later) else str(value)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("whole", OLD, ids=lambda whole: f"{whole['kind']}-{whole['metadata']['name']}")
def test_what_1_9_had_is_good_for_every_target(whole: Body, target: str) -> None:
    assert errors(whole, target) == []


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("row", LATER, ids=later_id)
def test_what_came_later_is_an_error_before(row: Later, target: str) -> None:
    found = errors(changed(row.whole, row.path, row.value), target)

    if is_supported(target, Since(row.since)):
        assert found == []
        return
    (error,) = found
    assert (error.code, error.path) == (Code.TOO_NEW, row.field)
    assert error.message.removeprefix("the label ") == (
        f"`{row.word}` requires Karpenter {row.since}, but the target is {target}"
    )
    assert error.fix == f"remove it, or upgrade Karpenter to {row.since}"


@pytest.mark.parametrize("row", LATER, ids=later_id)
def test_the_error_stands_in_the_line_of_its_word(row: Later) -> None:
    body = changed(row.whole, row.path, row.value)
    lines = yaml.safe_dump(body, sort_keys=False).splitlines()

    (error,) = errors(body, OLDEST)

    assert [number for number, line in enumerate(lines, 1) if row.word in line] == [error.at.line]


def test_a_reason_may_stand_twice_before_1_13() -> None:
    assert refused_by(TWICE) == ["1.13", "1.14"]
    (error,) = errors(TWICE, "1.13")
    assert (error.code, error.path) == (Code.FIELD_VALUE, "spec.disruption.budgets[1].reasons[2]")


@pytest.mark.parametrize("value", [None, {}, [], "x", [{"networkCardIndex": "first"}]])
@pytest.mark.parametrize("name", LATER_FIELDS)
def test_a_field_that_is_too_new_is_refused_by_its_name_alone(name: str, value: object) -> None:
    found = errors(changed(OLD_EC2NODECLASS, f"spec {name}", value), OLDEST)

    assert [each.path for each in found if each.code == Code.TOO_NEW] == [f"spec.{name}"]


@pytest.mark.parametrize("key", sorted(key for key in OVERLAY_REFUSED if WELL_KNOWN[key].since))
def test_an_overlay_is_not_sent_to_a_version_that_refuses_the_key_too(key: str) -> None:
    body = changed(NODEOVERLAY, "spec requirements 0", {"key": key, "operator": "Exists"})

    for target in TARGETS:
        (error,) = errors(body, target)
        assert (error.code, error.path) == (Code.RESTRICTED_DOMAIN, "spec.requirements[0].key")


def test_a_word_is_too_new_in_its_own_place_only() -> None:
    for path, value in (
        ("spec template metadata annotations", {"karpenter.k8s.aws/placement-group-id": "Balanced"}),
        ("spec template metadata labels", {"networkInterfaces": "Balanced"}),
        (
            "spec template spec requirements",
            [{"key": "cpuOptions", "operator": "In", "values": ["Balanced"]}],
        ),
    ):
        assert refused_by(changed(OLD_NODEPOOL, path, value)) == []


def test_a_later_target_takes_what_an_earlier_one_took() -> None:
    tables = (*cases.ACCEPTED, *cases.REFUSED, *cases.STRICTER, *cases.NULLS)
    bodies = [changed(*case) for case in tables if not case[1].startswith(("apiVersion", "kind"))]
    bodies += [*OLD, *(changed(row.whole, row.path, row.value) for row in LATER)]
    counts = set()

    for body in bodies:
        refused = refused_by(body)
        if refused != ["1.13", "1.14"]:
            assert tuple(refused) == TARGETS[: len(refused)], body
            counts.add(len(refused))
    # 1.12 brought nothing.
    assert counts == {0, 1, 2, 4, 5, 6}


def test_each_mark_in_the_code_has_its_row() -> None:
    fields = {(name, since) for model in TYPES.values() for name, since in marks(model.load())}
    values = {(value, since) for (_, value), since in VALUES_SINCE.items()}
    states = {(path.split()[-1], since) for (_, path), since in STATUS_SINCE.items()}
    keys = {(label.key, Since(label.since)) for label in WELL_KNOWN.values() if label.since}

    later = {
        (word, since.minor)
        for word, since in fields | values | states | keys
        if not is_supported(OLDEST, since)
    }
    assert {(row.word, row.since) for row in LATER} == later
    assert len(later) == 9


def test_each_label_key_has_a_row_for_both_its_places() -> None:
    rows = {(row.word, row.field) for row in LATER if row.word in WELL_KNOWN}

    places = ("spec.template.metadata.labels", "spec.template.spec.requirements[0].key")
    assert rows == {(key, place) for key, label in WELL_KNOWN.items() if label.since for place in places}


def marks(kind: Any, name: str = "") -> Iterator[tuple[str, Since]]:  # noqa: ANN401 - any type
    """Each mark under a type, however deep, with the name of its field."""
    if isinstance(kind, Since):
        yield name, kind
    elif isinstance(kind, type) and issubclass(kind, Shape):
        for own, field in kind.model_fields.items():
            for part in (field.annotation, *field.metadata):
                yield from marks(part, field.alias or own)
    else:
        for part in get_args(kind):
            yield from marks(part, name)
