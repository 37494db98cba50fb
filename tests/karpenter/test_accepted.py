"""What is taken and what is refused; the real CRD is asked about each case as well."""

from typing import Any

import pytest
from pydantic import ValidationError

from gpupool.shapes.base import Shape
from tests.karpenter import crds
from tests.karpenter.cases import ACCEPTED, NULLS, REFUSED, STRICTER
from tests.karpenter.examples import ALL, FULL, GONE, MODELS, changed


def name(case: object) -> str:
    return str(case)[:60] if isinstance(case, str) else ""


def read(whole: dict[str, Any]) -> Shape:
    return MODELS[whole["kind"]].model_validate(whole)


@pytest.mark.parametrize("whole", ALL, ids=lambda whole: whole["metadata"]["name"])
def test_reading_and_writing_gives_the_same(whole: dict[str, Any]) -> None:
    assert crds.refusals(whole["kind"], whole) == []
    assert read(whole).model_dump(by_alias=True, exclude_none=True) == whole


@pytest.mark.parametrize("kind", FULL)
def test_the_examples_use_every_field(kind: str) -> None:
    documents = [whole for whole in ALL if whole["kind"] == kind]

    assert set(crds.leaves(kind)) - {path for whole in documents for path in crds.paths(whole)} == set()


@pytest.mark.parametrize(("whole", "path", "value"), ACCEPTED, ids=name)
def test_accepted(whole: dict[str, Any], path: str, value: object) -> None:
    case = changed(whole, path, value)

    assert crds.refusals(whole["kind"], case) == []
    assert read(case).model_dump(by_alias=True, exclude_none=True) == case


@pytest.mark.parametrize(("whole", "path", "value"), REFUSED, ids=name)
def test_refused_with_one_error_at_the_place(whole: dict[str, Any], path: str, value: object) -> None:
    case = changed(whole, path, value)

    assert crds.refusals(whole["kind"], case) != []
    assert_one_error(case, path)


@pytest.mark.parametrize(("whole", "path", "value"), STRICTER, ids=name)
def test_refused_though_the_schema_would_take_it(whole: dict[str, Any], path: str, value: object) -> None:
    case = changed(whole, path, value)

    assert [text for text in crds.refusals(whole["kind"], case) if not text.startswith("None is not")] == []
    assert_one_error(case, path)


@pytest.mark.parametrize(("whole", "path", "value"), NULLS, ids=name)
def test_null_is_the_same_as_nothing(whole: dict[str, Any], path: str, value: object) -> None:
    written = read(changed(whole, path, value)).model_dump(exclude_none=True)

    assert written == read(changed(changed(whole, path, value), path, GONE)).model_dump(exclude_none=True)


def assert_one_error(case: dict[str, Any], path: str) -> None:
    with pytest.raises(ValidationError) as caught:
        read(case)

    (error,) = caught.value.errors()
    place = " ".join(str(part) for part in error["loc"])
    assert place.startswith(path)
