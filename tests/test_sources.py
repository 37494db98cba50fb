"""The blueprints under docs/examples/sources say what the source documents say, mistakes included."""

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpupool.api import render_files
from tests.sources.documents import FOLDER, document, flat_text, without_line_numbers
from tests.sources.equality import amount, changed, leaf_paths, normal, without
from tests.sources.objects import CORRECTIONS, EXTERNAL, Key, expected, shown

BLUEPRINTS = Path(__file__).parents[1] / "docs" / "examples" / "sources"
OBJECTS = {
    "000": {
        "EC2NodeClass": ["gpu-node-class", "gpu-node-class-nvme"],
        "NodePool": ["gpu-training", "gpu-training-scaled", "gpu-inference"],
    },
    "001": {
        "EC2NodeClass": ["gpu-optimized", "gpu-training"],
        "NodePool": [
            "gpu-general",
            "gpu-inference",
            "gpu-training",
            "gpu-spot-inference",
            "multi-arch",
            "inferentia",
            "gpu-tier1-g5-spot",
            "gpu-tier2-g4dn-spot",
            "gpu-tier3-g5-ondemand",
            "gpu-training-protected",
        ],
    },
    "002": {"NodePool": ["gpu-inference-pool"]},
    "003": {"EC2NodeClass": ["gpu-nodes"], "NodePool": ["gpu"]},
}
KEYS = [
    Key(source, kind, name) for source, of in OBJECTS.items() for kind, names in of.items() for name in names
]

with_documents = pytest.mark.skipif(
    not FOLDER.is_dir(),
    reason="NOT COMPARED with the source documents: the folder ../shared/seeds beside the repository is not here",
)


@cache
def rendered(source: str) -> dict[Key, Any]:
    manifests = render_files([str(BLUEPRINTS / f"{source}.yaml")]).manifests
    bodies = {Key(source, *manifest.ref): manifest.data for manifest in manifests}
    return {key: body["spec"] for key, body in bodies.items() if isinstance(body, dict)}


@cache
def documented(source: str) -> dict[Key, dict[str, Any]]:
    return {key: expected(key, spec) for key, spec in shown(source).items()}


@pytest.mark.parametrize("source", OBJECTS)
def test_blueprint_renders_these_objects_and_no_others(source: str) -> None:
    assert set(rendered(source)) == {key for key in KEYS if key.source == source}


@with_documents
@pytest.mark.parametrize("source", OBJECTS)
def test_document_shows_these_objects_and_no_others(source: str) -> None:
    assert set(shown(source)) == {key for key in KEYS if key.source == source}


@with_documents
@pytest.mark.parametrize("source", ["001", "002", "003"])
def test_no_object_of_the_document_is_overlooked(source: str) -> None:
    lines = [line.strip() for line in without_line_numbers(document(source)).splitlines()]
    heads = [second for first, second in pairwise(lines) if first.startswith("apiVersion: karpenter")]

    assert sorted(heads) == sorted(f"kind: {key.kind}" for key in shown(source))


@with_documents
@pytest.mark.parametrize("key", KEYS, ids="/".join)
def test_object_says_what_the_document_says(key: Key) -> None:
    assert normal(rendered(key.source)[key]) == normal(documented(key.source)[key])


@with_documents
@pytest.mark.parametrize("key", KEYS, ids="/".join)
def test_any_other_or_missing_value_would_be_noticed(key: Key) -> None:
    spec = documented(key.source)[key]
    paths = list(leaf_paths(spec))

    assert len(paths) >= 5
    for path in paths:
        assert normal(rendered(key.source)[key]) != normal(changed(spec, path)), path
        assert normal(rendered(key.source)[key]) != normal(without(spec, path)), path


@with_documents
@pytest.mark.parametrize("key", CORRECTIONS, ids="/".join)
def test_each_correction_is_needed(key: Key) -> None:
    spec = shown(key.source)[key]

    for correction in CORRECTIONS[key]:
        assert normal(correction.applied(spec)) != normal(spec), correction.reason


@with_documents
def test_the_flat_document_can_not_be_read_as_it_is() -> None:
    with pytest.raises(yaml.YAMLError):
        yaml.safe_load(flat_text(document("002")))


@with_documents
@pytest.mark.parametrize("source", OBJECTS)
def test_only_classes_that_the_document_leaves_out_are_external(source: str) -> None:
    pools = [spec for key, spec in shown(source).items() if key.kind == "NodePool"]
    referred = {pool["template"]["spec"]["nodeClassRef"]["name"] for pool in pools}

    assert referred - {key.name for key in rendered(source) if key.kind == "EC2NodeClass"} == EXTERNAL[source]


@pytest.mark.parametrize(
    ("quantity", "same"),
    [("4000Gi", 4000 * 2**30), ("500", 500), (64, 64), ("1500m", "1.5"), ("2k", 2000), ("1Ti", "1024Gi")],
)
def test_quantities_are_equal_by_their_amount(quantity: str | int, same: str | int) -> None:
    assert amount(quantity) == amount(same)
    assert amount(quantity) != amount(same) + 1


def test_order_does_not_matter_in_lists_that_are_sets() -> None:
    one = {
        "taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "b", "effect": "NoExecute"}],
        "values": ["1", "2"],
    }
    other = {
        "values": ["2", "1"],
        "taints": [{"effect": "NoExecute", "key": "b"}, {"effect": "NoSchedule", "key": "a"}],
    }

    assert normal(one) == normal(other)
    assert normal(one) != normal(other | {"values": ["2", "1", "1"]})
