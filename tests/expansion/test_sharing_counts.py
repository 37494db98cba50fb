"""Which GPU counts a pool that shares its GPUs gets overlays for: those of the machines that it admits."""

from pathlib import Path

import pytest

from gpupool.api import render_files
from tests.expansion.test_limits_in_usd import HEAD, VIRGINIA

COUNTS = {
    "L4 comes in ones, fours and eights": ("accelerator: l4", [1, 4, 8]),
    "RTX in twos as well": ("accelerator: rtx-pro-server-6000", [1, 2, 4, 8]),
    "the pool's own bounds": ("accelerator: l4, instances: {gpus: {min: 2}}", [4, 8]),
    "sizes": ("accelerator: l4, instances: {sizes: [xlarge, 12xlarge]}", [1, 4]),
    "fractions are none": ("instances: {families: [g6f, g6], sizes: [xlarge]}, limits: {gpus: 8}", [1]),
    "nothing that is retired, as p2 with sixteen": ("accelerator: nvidia", [1, 2, 4, 8]),
    "a GPU that is not known yet": ("accelerator: h300", [1, 2, 4, 8]),
    "one that is not known yet, within bounds": ("accelerator: h300, instances: {gpus: {min: 4}}", [4, 8]),
}


@pytest.mark.parametrize(("words", "expected"), COUNTS.values(), ids=COUNTS)
def test_an_overlay_for_each_count(words: str, expected: list[int], tmp_path: Path) -> None:
    file = tmp_path / "gpupool.yaml"
    file.write_text(
        f"{HEAD}cluster: {{{VIRGINIA}}}\npools:\n  a: {{{words}, sharing: {{timeSlicing: 4}}}}\n", "utf-8"
    )

    names = [each.ref.name for each in render_files([str(file)]).manifests if each.ref.kind == "NodeOverlay"]

    assert names == [f"a-gpus-{count}" for count in expected]
