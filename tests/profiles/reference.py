"""The reference page of the profiles: `python -m tests.profiles.reference` writes it anew."""

from pathlib import Path

from gpupool.profiles.shown import show_all
from gpupool.reports.profiles import render_reference

PAGE = Path(__file__).parents[2] / "docs/reference/profiles.md"


def text() -> str:
    """Return the page as it has to be."""
    return render_reference(show_all())


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text(), encoding="utf-8")
