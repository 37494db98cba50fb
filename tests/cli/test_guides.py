"""Guides are what gpupool really prints: each `$ command` is run, each line compared."""

import re
from pathlib import Path

import pytest

from gpupool.reports.validate.choice import FORMATS
from tests.test_readme import as_pattern, run, steps

DOCS = Path(__file__).parents[2] / "docs"
GUIDES = ["check-in-ci", "see-what-a-pool-launches"]
PAGES = sorted(DOCS.glob("*/*.md"))
REFERENCE = (DOCS / "reference" / "output.md").read_text("utf-8")


def blocks(guide: str, language: str) -> list[str]:
    text = (DOCS / "how-to" / f"{guide}.md").read_text("utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("guide", GUIDES)
def test_a_guide_shows_what_is_printed(guide: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for text in blocks(guide, "yaml"):
        named = re.match(r"# (\S+\.yaml)\n", text)
        if named:
            (tmp_path / named[1]).write_text(text, "utf-8")
    tour = [step for session in blocks(guide, "console") for step in steps(session)]
    assert len(tour) >= 8

    for command, shown in tour:
        printed = run(command, tmp_path).rstrip("\n")
        assert re.fullmatch(as_pattern(shown), printed, re.DOTALL), f"$ {command}\n{printed}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_linked_page_is_there(page: Path) -> None:
    linked = re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8"))
    here = [link for link in linked if "://" not in link]

    assert [link for link in here if not (page.parent / link).exists()] == []


def test_the_reference_has_every_format_and_every_key_of_json() -> None:
    keys = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", REFERENCE.partition("## json")[2], re.MULTILINE)

    assert re.findall(r"^## (\w+)$", REFERENCE, re.MULTILINE) == list(FORMATS)
    assert re.findall(r"\w+", " ".join(keys)) == [
        "rule",
        "layer",
        "severity",
        "message",
        "fix",
        "file",
        "line",
        "column",
        "path",
        "object",
        "also",
    ]
