"""The generated pages: `python -m tests.pages` writes them anew."""

from pathlib import Path

from tests import goldencases
from tests.reference_pages import blueprint_page, findings_page


def messages_page() -> str:
    """Return the page of all messages; the mistakes that it is made of are imported for it alone."""
    from tests import messages

    return messages.page()


ROOT = Path(__file__).parents[1]
PAGES = {
    "docs/reference/blueprint.md": blueprint_page,
    "docs/reference/findings.md": findings_page,
    "docs/reference/messages.md": messages_page,
    "tests/golden/README.md": goldencases.page,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (ROOT / name).write_text(page(), encoding="utf-8")
