"""The committed reference page is what the profiles say."""

import re

import yaml

from gpupool.profiles.load import shipped_names
from tests.profiles.reference import PAGE, text


def test_the_reference_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == text(), "write it anew: python -m tests.profiles.reference"


def test_every_section_is_linked_and_its_settings_can_be_copied() -> None:
    page = text()
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == shipped_names()
    assert re.findall(r"^\| \[(.*)\]\(#\1\)", page, re.MULTILINE) == shipped_names()
    blocks = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert [set(yaml.safe_load(block)) for block in blocks] == [{"pool", "nodeClass"}] * len(shipped_names())
