"""The verdict of `gpupool validate` on a file is that of the API server on the same bytes."""

from pathlib import Path

from gpupool import api
from gpupool.codes import Layer, layer
from gpupool.findings import Severity
from tests.differential.written import manifests
from tests.rig.server import ApiServer
from tests.tiers import volume

SEED = 20_261_121
TEXTS = volume(2_500)
SERVERS = {Layer.STRUCTURAL, Layer.CEL}


def test_on_the_same_bytes(api_server: ApiServer, tmp_path: Path) -> None:
    file = tmp_path / "manifest.yaml"
    differences, refused = [], 0
    for kind, text in manifests(TEXTS, SEED):
        file.write_bytes(text)
        report = api.validate([str(file)])
        ours = [f"{each.at.line}: {each.code} {each.message}" for each in report.findings
                if each.severity is Severity.ERROR and layer(each.code) in SERVERS]  # fmt: skip
        theirs = api_server.post_dry_run(text, kind)
        refused += not theirs.accepted
        if theirs.accepted == bool(ours):
            differences.append(
                f"{text.decode()}\nserver: {theirs.message or 'accepted'}\ngpupool: {ours or 'accepted'}"
            )

    assert not differences, f"seed {SEED}: {len(differences)} differ\n" + "\n---\n".join(differences[:10])
    assert TEXTS // 5 < refused < TEXTS * 4 // 5
