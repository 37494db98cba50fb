"""Each value of the blueprint that a rendered leaf is calculated from is named by the leaf."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupool.rendering.render import render_files
from gpupool.yamlio.located import Located, leaves

_BLUEPRINT = """\
apiVersion: gpupool.dev/v1alpha1
kind: Blueprint
metadata:
  name: ml
cluster:
  name: prod
  region: us-east-1
  timezone: Europe/Berlin
  karpenter: "1.14"
  features:
    - NodeOverlay
defaults:
  nodeClass:
    ami: al2023@v20260812
pools:
  shared:
    profile: inference
    accelerator: l4
    instances:
      gpus:
        max: 4
    zones:
      - a
    limits:
      gpus: 8
    sharing:
      timeSlicing: 4
    weight: 40
    tiers:
      spot:
        capacity: spot
      ondemand:
        capacity: on-demand
        limits: 25%
  priced:
    profile: training
    accelerator: a100
    capacity: on-demand
    limits:
      usdPerHour: 500
    nodeClass:
      ami: al2023@v20260810
      disk:
        size: 300Gi
    disruption:
      consolidateAfter: 1h
      budgets:
        - nodes: 20%
          reasons:
            - Drifted
            - Empty
      maintenance:
        - days:
            - sat
          hours: 22:00-04:00
          nodes: 1
          reasons:
            - Drifted
        - days: sun
          hours: 20:00-23:00
          timezone: America/New_York
      protect:
        days: mon-fri
        hours: 08:00-20:00
"""

_CHANGES = {
    "the default time zone": ("  timezone: Europe/Berlin\n", "  timezone: Europe/Lisbon\n"),
    "the region of a zone's letter": ("us-east-1", "us-west-2"),
    "the slices of limits and overlays": ("timeSlicing: 4", "timeSlicing: 8"),
    "the selection of overlays": ("max: 4", "max: 1"),
    "the limit of which a tier has a share": ("gpus: 8", "gpus: 16"),
    "the share": ("25%", "50%"),
    "the weight of the tiers": ("weight: 40", "weight: 30"),
    "a limit in US dollars": ("usdPerHour: 500", "usdPerHour: 600"),
    "the accelerator of a price": ("accelerator: a100", "accelerator: h100"),
    "the image of a disk and a label": ("al2023@v20260810", "bottlerocket@v1.50.0"),
    "the number of a budget": ("nodes: 20%", "nodes: 30%"),
    "a window's day in a list": ("            - sat\n", "            - mon\n"),
    "a window's day": ("days: sun", "days: tue"),
    "a window's hours": ("22:00-04:00", "23:00-05:00"),
    "another window's hours": ("20:00-23:00", "20:00-22:00"),
    "a window's nodes": ("nodes: 1\n", "nodes: 2\n"),
    "a window's reasons": ("          reasons:\n            - Drifted\n        -", "          reasons:\n            - Empty\n        -"),
    "a window's time zone": ("America/New_York", "America/Chicago"),
    "a protected window's hours": ("08:00-20:00", "09:00-20:00"),
}  # fmt: skip


def render_leaves(text: str, file: Path) -> dict[str, Located]:
    """Render a blueprint; the leaves of a budget are keyed by its content, because its index moves."""
    file.write_text(text, "utf-8")
    rendered: dict[str, Located] = {}
    for manifest in render_files([str(file)]).manifests:
        for path, node in leaves(manifest.body):
            keys = list(path)
            if keys[:3] == ["spec", "disruption", "budgets"]:
                keys[3] = str(manifest.data["spec"]["disruption"]["budgets"][path[3]])  # type: ignore[index,call-overload]
            rendered[f"{manifest.ref} {'.'.join(map(str, keys))}"] = node
    return rendered


def find_unexplained(before: dict[str, Located], after: dict[str, Located], line: int) -> Iterator[str]:
    """Yield each changed leaf that does not name the line; a changed budget has one that does."""
    changed = [path for path in after if path not in before or before[path].value != after[path].value]
    told = {path for path in changed if line in {cause.at.line for cause in (after[path], *after[path].also)}}
    budgets = {path.partition("}")[0] for path in told if "}" in path}
    yield from (path for path in changed if path not in told and path.partition("}")[0] not in budgets)


@pytest.mark.parametrize("change", _CHANGES)
def test_a_changed_leaf_names_the_line_that_changed(change: str, tmp_path: Path) -> None:
    old, new = _CHANGES[change]
    assert _BLUEPRINT.count(old) == 1, "the test's own blueprint"
    start = _BLUEPRINT.index(old)
    offset = next(index for index, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    line = _BLUEPRINT.count("\n", 0, start + offset) + 1
    before = render_leaves(_BLUEPRINT, tmp_path / "pools.yaml")
    after = render_leaves(_BLUEPRINT.replace(old, new), tmp_path / "pools.yaml")
    assert any(path not in before or before[path].value != node.value for path, node in after.items())
    assert list(find_unexplained(before, after, line)) == []


def test_a_compiled_budget_is_at_the_settings_of_its_window(tmp_path: Path) -> None:
    rendered = render_leaves(_BLUEPRINT, tmp_path / "pools.yaml")
    lines = _BLUEPRINT.splitlines()
    places = {
        (path.rpartition(".")[2], lines[node.at.line - 1].strip())
        for path, node in rendered.items()
        if path.startswith("NodePool/priced spec.disruption.budgets") and node.note
    }
    expected = {
        ("nodes", "nodes: 1"),
        ("nodes", "hours: 08:00-20:00"),
        ("schedule", "hours: 22:00-04:00"),
        ("duration", "hours: 22:00-04:00"),
        ("schedule", "hours: 20:00-23:00"),
        ("schedule", "hours: 08:00-20:00"),
    }
    assert expected <= places
