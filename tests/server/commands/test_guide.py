"""The guide to applying is what gpupool really prints, on a real cluster in which somebody plays Karpenter.

What is another one in each run stands in the guide as an example, and is compared by its form alone: the uid of a
cluster, the address of its server, a moment, and the id of a plan.
"""

import os
import re
from itertools import product
from pathlib import Path
from typing import Final

import pytest

from tests.rig import programs
from tests.server.commands.karpenter import CONDITION, READY, karpenter
from tests.server.commands.scene import Scene
from tests.test_readme import as_pattern, run, steps

DOCS: Final = Path(__file__).parents[3] / "docs"
GUIDE: Final = (DOCS / "how-to" / "apply-to-a-cluster.md").read_text("utf-8")
VOLATILE: Final = {
    "UID": r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b",
    "https://SERVER": r"https://127\.0\.0\.1:\d+",
    "MOMENT": r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
    "Plan       ID": r"^Plan       [0-9a-f]{12}\b",
}
"""What stands for a thing in the comparison, and its form."""


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def steady(text: str) -> str:
    """Return a text without what is another one in each run."""
    for name, form in VOLATILE.items():
        text = re.sub(form, name, text, flags=re.MULTILINE)
    return text


def test_the_guide_shows_what_is_printed(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kubectl = programs.build(programs.KUBECTL).path
    monkeypatch.setenv("PATH", f"{kubectl.parent}{os.pathsep}{os.environ['PATH']}")
    for text in blocks(GUIDE, "yaml"):
        (tmp_path / text.removeprefix("# ").partition("\n")[0]).write_text(text, "utf-8")
    tour = [step for session in blocks(GUIDE, "console") for step in steps(session)]
    assert len(tour) >= 20

    with karpenter(
        scene.server, {f"{kind}/{name}": READY for kind, name in product(CONDITION, ("chat", "batch"))}
    ):
        for command, shown in tour:
            printed = steady(run(command, tmp_path).rstrip("\n"))
            assert re.fullmatch(as_pattern(steady(shown)), printed, re.DOTALL), f"$ {command}\n{printed}"


def test_the_python_example_runs(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    guide = (DOCS / "how-to" / "call-gpupool-from-python.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(scene.server.kubeconfig))
    (blueprint,) = blocks(guide, "yaml")
    Path("gpupool.yaml").write_text(blueprint, "utf-8")

    for text in blocks(guide, "python"):
        exec(compile(text, "example", "exec"), {})  # noqa: S102 - our own page

    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["EC2NodeClass chat", "NodePool chat", "1 NodePool"]
    assert "+ create NodePool/chat  gpupool.yaml:9" in lines
    assert lines[-1] == "ml-platform False"


def test_what_is_compared_by_its_form_alone() -> None:
    line = "Cluster    rig, https://127.0.0.1:6443, uid 0d3bafa9-2c5e-4b5c-9a53-5f6d8a1c7e21"

    assert steady(line) == "Cluster    rig, https://SERVER, uid UID"
    assert (
        steady("Plan       3f9c2a7be014, good until 2026-11-22T10:00:00Z")
        == "Plan       ID, good until MOMENT"
    )
    assert steady("spec.limits: 8 -> 16 on 127.0.0.1") == "spec.limits: 8 -> 16 on 127.0.0.1"


def test_the_readme_shows_what_the_guide_does() -> None:
    readme = (DOCS.parent / "README.md").read_text("utf-8")
    section = readme.partition("## In the cluster\n")[2].partition("\n## ")[0]
    shown = [line for text in blocks(section, "text") for line in text.splitlines() if line != "..."]

    assert len(shown) > 5
    assert [line for line in shown if line not in GUIDE.splitlines()] == []
