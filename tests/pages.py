"""The generated reference pages: `python -m tests.pages` writes them anew."""

from pathlib import Path

from gpupool.reports.pages import blueprint_page, findings_page

FOLDER = Path(__file__).parents[1] / "docs/reference"
PAGES = {"blueprint.md": blueprint_page, "findings.md": findings_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
