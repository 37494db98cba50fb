"""The words that `gpupool` does not use where people read: in messages, in help and in docs. A net, not a style."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import pytest

from tests.pages import PAGES, ROOT

if TYPE_CHECKING:
    from pathlib import Path

WORST: Final = re.compile(
    r"\b(nobody|somebody|unless said|passed over|passes over|held back|holds (it|them) back|speaks against"
    r"|in other words|is content with|can't be had|what there is|poison|reckon|stumbles?|takes? no other"
    r"|(is|are) not there|says something else|would refuse|asks for (a|one|two) )\b",
    re.IGNORECASE,
)
"""Riddles, persons that are none, and gpupool's own words where the field has one."""

MESSAGES: Final = "docs/reference/messages.md"
HELP: Final = sorted((ROOT / "tests/cli/help").glob("*.txt"))
DOCS: Final = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])


def found(text: str) -> list[str]:
    return [line for line in text.splitlines() if WORST.search(line)]


def test_the_net_catches_them() -> None:
    assert found("nobody says so\nfine\nit was Held Back by a guard") == [
        "nobody says so",
        "it was Held Back by a guard",
    ]


def test_messages() -> None:
    assert found(PAGES[MESSAGES]()) == []


@pytest.mark.parametrize("file", [*HELP, *DOCS], ids=lambda file: file.relative_to(ROOT).as_posix())
def test_help_and_docs(file: Path) -> None:
    assert found(file.read_text("utf-8")) == []
