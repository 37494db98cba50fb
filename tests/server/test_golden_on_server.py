"""The real API server, kubeconform and the real chart take whatever the golden cases and the examples hold."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpupool import api
from tests.goldencases import FOLDER, Case, cases, files_in
from tests.goldensample import OBJECTS, sampled
from tests.rig.charts import DEVICE_PLUGIN, HelmTemplate
from tests.rig.client import Verdict
from tests.rig.conformance import Kubeconform
from tests.rig.server import ApiServer

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
OVER_A_BASE = (("base.yaml", "dev.yaml"), ("base.yaml", "prod.yaml"), ("base.yaml", "prod.yaml", "eu.yaml"))
RENDERED = [case for case in cases() if case.expected_files is not None]
VALUES = sorted(
    {path.read_text(encoding="utf-8") for case in RENDERED for path in case.folder.rglob("values/*.yaml")}
)
NODE_POOL = "nodepools/train.yaml"
DAMAGES = {
    "an unknown field": ("  limits:", "  limit:"),
    "a wrong type": ("    nvidia.com/gpu: 16", "    nvidia.com/gpu: true"),
    "a word of another version": ("operator: In", "operator: in"),
    "a missing part": ("        name: gpu", ""),
}


def _blueprints() -> list[list[str]]:
    single = [[str(path)] for path in sorted(EXAMPLES.rglob("*.yaml")) if path.parent.name != "ml-platform"]
    return [*single, *([str(EXAMPLES / "ml-platform" / name) for name in names] for names in OVER_A_BASE)]


@pytest.mark.parametrize("case", sampled(RENDERED), ids=lambda case: case.name)
def test_the_server_takes_golden_objects_as_they_are(api_server: ApiServer, case: Case) -> None:
    for path, text in _objects(case.expected_files or {}).items():
        _taken_as_it_is(api_server.dry_run(text.encode()), text, path)


@pytest.mark.parametrize(
    "paths", _blueprints(), ids=lambda paths: "+".join(Path(path).stem for path in paths)
)
def test_the_server_takes_what_each_example_renders_to(
    api_server: ApiServer, kubeconform: Kubeconform, paths: list[str], tmp_path: Path
) -> None:
    api.write_folder(api.render_files(paths), tmp_path)
    objects = _objects(files_in(tmp_path))
    assert objects
    for path, text in objects.items():
        _taken_as_it_is(api_server.dry_run(text.encode()), text, path)
    assert [each for each in kubeconform([tmp_path / path for path in objects]) if not each.valid] == []


def test_kubeconform_takes_each_golden_object(kubeconform: Kubeconform) -> None:
    files = [case.folder / FOLDER / path for case in RENDERED for path in _objects(case.expected_files or {})]
    found = kubeconform(files)
    assert len(found) == len(files)
    assert [each for each in found if not each.valid] == []


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_golden_object_is_refused(
    api_server: ApiServer, kubeconform: Kubeconform, damage: str, tmp_path: Path
) -> None:
    whole = next(case for case in RENDERED if case.name == "node-class-shared").expected_files or {}
    old, new = DAMAGES[damage]
    assert old in whole[NODE_POOL]
    damaged = tmp_path / "damaged.yaml"
    damaged.write_text(whole[NODE_POOL].replace(old, new), encoding="utf-8")
    assert not api_server.dry_run(damaged.read_bytes()).accepted
    assert [each.valid for each in kubeconform([damaged])] == [False]


def test_a_rule_that_only_the_server_knows_is_asked_too(
    api_server: ApiServer, kubeconform: Kubeconform, tmp_path: Path
) -> None:
    whole = next(case for case in RENDERED if case.name == "node-class-shared").expected_files or {}
    damaged = tmp_path / "damaged.yaml"
    damaged.write_text(whole[NODE_POOL].replace('- "0"', '- "-1"'), encoding="utf-8")
    verdict = api_server.dry_run(damaged.read_bytes())
    assert not verdict.accepted
    assert "spec.template.spec.requirements" in verdict.message
    assert [each.valid for each in kubeconform([damaged])] == [True]


@pytest.mark.parametrize("values", VALUES, ids=lambda values: f"values-{VALUES.index(values)}")
def test_the_chart_places_the_plugin_where_golden_values_say(
    helm_template: HelmTemplate, values: str
) -> None:
    said = yaml.safe_load(values)
    plugin = next(
        each
        for each in helm_template(DEVICE_PLUGIN, values)
        if each["kind"] == "DaemonSet" and "mps" not in each["metadata"]["name"]
    )
    pod = plugin["spec"]["template"]["spec"]
    assert pod["affinity"] == said["affinity"]
    assert pod["tolerations"] == said["tolerations"]


def _objects(files: dict[str, str]) -> dict[str, str]:
    """Return the Kubernetes objects among rendered files by path."""
    return {path: text for path, text in files.items() if path.startswith(OBJECTS)}


def _taken_as_it_is(verdict: Verdict, text: str, path: str) -> None:
    assert verdict.accepted, f"{path}: {verdict.message}"
    assert verdict.warnings == (), path
    assert _lost(yaml.safe_load(text), verdict.stored) == [], path


def _lost(sent: Any, stored: Any, path: str = "") -> list[str]:  # noqa: ANN401 - any part of an object
    """Return the paths of what was sent and is not stored as it was sent."""
    if isinstance(sent, dict) and isinstance(stored, dict):
        return [lost for key in sent for lost in _lost(sent[key], stored.get(key), f"{path}.{key}")]
    if isinstance(sent, list) and isinstance(stored, list) and len(sent) == len(stored):
        return [
            lost for index, item in enumerate(sent) for lost in _lost(item, stored[index], f"{path}[{index}]")
        ]
    return [] if sent == stored else [path]
