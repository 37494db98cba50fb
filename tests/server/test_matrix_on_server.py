"""The acceptance matrix of section 15, as the real API server judges it."""

import json

import pytest

from tests.karpenter.matrix import Row, rows
from tests.rig.server import ApiServer


@pytest.mark.parametrize("row", list(rows()), ids=lambda row: f"{row.kind} {row.name}")
def test_verdict(row: Row, api_server: ApiServer) -> None:
    verdict = api_server.post_dry_run(json.dumps(row.body).encode(), row.kind)

    assert verdict.accepted is row.accepted, verdict.message
