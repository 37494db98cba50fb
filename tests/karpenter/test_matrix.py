"""The acceptance matrix of section 15, as gpupool judges it; `tests/server` puts the same rows to the server."""

import pytest

from gpupool.codes import Layer, layer
from gpupool.findings import Severity
from gpupool.karpenter.validation.check import check
from tests.differential.trees import node
from tests.karpenter.matrix import Row, rows

SERVERS = {Layer.STRUCTURAL, Layer.CEL}


@pytest.mark.parametrize("row", list(rows()), ids=lambda row: f"{row.kind} {row.name}")
def test_verdict(row: Row) -> None:
    found = [each for each in check(row.kind, node(row.body)) if each.severity is Severity.ERROR]

    refused = [f"{each.path}: {each.message}" for each in found if layer(each.code) in SERVERS]
    assert bool(refused) is not row.accepted, refused


def test_the_matrix_has_both_sides_of_both_kinds() -> None:
    sizes: dict[tuple[str, bool], int] = {}
    for row in rows():
        sizes[row.kind, row.accepted] = sizes.get((row.kind, row.accepted), 0) + 1

    assert sizes == {
        ("NodePool", True): 38,
        ("NodePool", False): 78,
        ("EC2NodeClass", True): 36,
        ("EC2NodeClass", False): 88,
    }
