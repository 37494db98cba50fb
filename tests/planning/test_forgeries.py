"""A plan file that was forged and sealed anew is refused with findings, or is what it shows; never a traceback."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpupool.errors import InputError, OutdatedError
from gpupool.planning import file
from gpupool.planning.change_agreement import find_missing_values
from gpupool.planning.masking import show_sealed
from gpupool.planning.plan import Plan
from tests.planning.forgeries import blind, clever, deep
from tests.planning.plans import EXAMPLES
from tests.planning.test_file import sealed
from tests.tiers import examples, volume

PARTS = 4
SEED = 20261122


def read(text: str) -> Plan | None:
    """Return the plan that a file holds; None where it is refused as files are."""
    try:
        return file.parse_plan(text.encode("utf-8", "surrogatepass"), "plan.json")
    except OutdatedError:  # exit code 5
        return None
    except InputError as problem:
        found = problem.findings
    assert {str(each.code) for each in found} == {"GP0100"}
    assert all(each.message and each.fix for each in found)
    return None


@pytest.mark.parametrize("part", range(PARTS))
def test_a_forged_plan_is_refused_or_sends_what_it_shows(part: int) -> None:
    refused = kept = 0
    for seed in range(SEED + part, SEED + part + volume(20_000), PARTS):
        random = Random(seed)  # noqa: S311 - no secret
        name = random.choice(sorted(EXAMPLES))
        original = EXAMPLES[name]
        text = blind(random, original) if seed % 3 else file.render_plan(clever(random, original))
        plan = read(text)
        if plan is None:
            refused += 1
            continue
        kept += 1
        for change in plan.changes:
            if change.actions == ("delete",):
                assert (change.body, change.after) == (None, None), seed
                continue
            assert change.body["kind"] + "/" + change.body["metadata"]["name"] == change.address, seed
            if change.after is not None:
                assert [*find_missing_values(show_sealed(change.body), change.after)] == [], seed
    assert refused > kept > 10


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(derandomize=True, max_examples=examples(600))
@given(
    JSON,
    st.dictionaries(st.sampled_from(["changes", "consent", "summary", "expiresAt", "signature", "x"]), JSON),
)
def test_any_json_is_refused(document: object, parts: dict[str, object]) -> None:
    import json

    assert read(json.dumps(document)) is None
    assert read(sealed({"formatVersion": "1.3", "gpupool": "0.1.0", "any": document} | parts)) is None
    assert read(sealed(json.loads(file.render_plan(EXAMPLES["update"])) | {"any": document} | parts)) is None


@pytest.mark.parametrize("levels", [10, 100, 180, 198, 250, 1000, 100_000])
@pytest.mark.parametrize("key", ["warnings", "changes", "x"])
def test_deep_json(levels: int, key: str) -> None:
    raw = (
        file.render_plan(EXAMPLES["create"]).rstrip().removesuffix("}")
        + f', "{key}": '
        + "[" * levels
        + "]" * levels
        + "}"
    )

    assert read(raw) is None


@pytest.mark.parametrize("levels", [3, 60, 150, 185])
@pytest.mark.parametrize("place", ["body", "before", "after"])
def test_deep_objects(levels: int, place: str) -> None:
    import json

    document = json.loads(file.render_plan(EXAMPLES["update"]))
    document["changes"][1][place]["spec"]["limits"] = deep(levels)

    assert read(sealed(document)) is None


@pytest.mark.parametrize(
    "number", ["1e999", "-1e999", "NaN", "Infinity", "9" * 5000, "0." + "1" * 5000, "1E-400"]
)
@pytest.mark.parametrize("key", ["warnings", "changes", "x", "expiresAt"])
def test_numbers_out_of_range(number: str, key: str) -> None:
    raw = file.render_plan(EXAMPLES["create"]).rstrip().removesuffix("}") + f', "{key}": {number}}}'

    assert read(raw) is None
