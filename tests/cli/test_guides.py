"""The guide to CI is what gpupool really prints: each `$ command` is run, each line compared."""

import re
from pathlib import Path

import pytest

from gpupool.reports.formats.choice import FORMATS
from tests.test_readme import as_pattern, run, steps

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = (DOCS / "how-to" / "check-in-ci.md").read_text("utf-8")
REFERENCE = (DOCS / "reference" / "output.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the guide shows, each named in its first line."""
    made = tmp_path_factory.mktemp("guide")
    for text in blocks("yaml"):
        named = re.match(r"# (\S+\.yaml)\n", text)
        if named:
            (made / named[1]).write_text(text, "utf-8")
    return made


def test_the_guide_shows_what_is_printed(folder: Path) -> None:
    tour = [step for session in blocks("console") for step in steps(session)]
    assert len(tour) >= 8

    for command, shown in tour:
        printed = run(command, folder).rstrip("\n")
        assert re.fullmatch(as_pattern(shown), printed, re.DOTALL), f"$ {command}\n{printed}"


@pytest.mark.parametrize(("page", "part"), [(GUIDE, "how-to"), (REFERENCE, "reference")])
def test_every_linked_page_is_there(page: str, part: str) -> None:
    linked = re.findall(r"\]\(([^)#]+)\)", page)

    assert linked
    assert [link for link in linked if not (DOCS / part / link).exists()] == []


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
    ]
