"""The documentation says what is true: generated pages are current, and every blueprint in a guide renders."""

import re
import tomllib
from pathlib import Path

import pytest

from gpupool.api import render_files
from gpupool.codes import Code
from gpupool.findings import Severity
from gpupool.karpenter.versions import LATEST, TARGETS
from tests.pages import PAGES, ROOT
from tests.rig import programs

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
WITHOUT_A_BLUEPRINT = {"install"}
GUIDES = [
    guide for guide in sorted((ROOT / "docs/how-to").glob("*.md")) if guide.stem not in WITHOUT_A_BLUEPRINT
]


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_current(name: str) -> None:
    assert (ROOT / name).read_text("utf-8") == PAGES[name](), "write it anew: python -m tests.pages"


def test_every_code_has_one_sentence_that_says_what_it_means() -> None:
    assert [code for code in Code if not re.fullmatch(r"[A-Z`].*\.", code.meaning)] == []


def test_every_linked_heading_of_the_blueprint_page_is_there() -> None:
    page = PAGES["docs/reference/blueprint.md"]()
    headings = {heading.lower() for heading in re.findall(r"^## (.*)$", page, re.MULTILINE)}

    assert len(headings) > 20
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= headings


def blueprints(guide: Path) -> list[str]:
    return [
        text
        for text in re.findall(r"```yaml\n(.*?)```", guide.read_text("utf-8"), re.DOTALL)
        if "kind: Blueprint" in text
    ]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_every_blueprint_in_a_guide_renders_without_a_warning(guide: Path, tmp_path: Path) -> None:
    found = blueprints(guide)
    assert found

    for index, text in enumerate(found):
        file = tmp_path / f"{index}.yaml"
        file.write_text(text, "utf-8")
        rendered = render_files([str(file)])
        assert rendered.manifests
        assert [finding for finding in rendered.findings if finding.severity is Severity.WARNING] == []


class TestChangelog:
    """What users of a release read first."""

    TEXT = (ROOT / "docs/changelog.md").read_text("utf-8")
    NEWEST = TEXT.split("\n## ", 2)[1]

    def test_the_newest_part_is_of_this_version(self) -> None:
        heading = self.NEWEST.partition("\n")[0]

        assert re.fullmatch(
            rf"Unreleased: {re.escape(VERSION)}|{re.escape(VERSION)}, \d{{4}}-\d\d-\d\d", heading
        )

    def test_it_states_what_the_tests_run_with(self) -> None:
        tested = re.search(
            r"^Tested with Karpenter (\S+) and Kubernetes (\S+)\.\s", self.NEWEST, re.MULTILINE
        )
        targets = re.search(r"for Karpenter (\S+) to (\S+);", self.NEWEST)

        assert tested
        assert (f"v{tested[1]}", f"v{tested[2]}") == (
            programs.version(programs.KARPENTER),
            programs.version(programs.API_SERVER),
        )
        assert targets
        assert targets.groups() == (TARGETS[0], LATEST)
