"""What a stream can show: its width, and colour on a terminal, unless $NO_COLOR or $TERM forbids it."""

import os
from typing import TextIO


def find_columns(stream: TextIO) -> int | None:
    """Return the width of a terminal; None for a pipe or a file, and for a terminal of unknown width."""
    try:
        return (os.get_terminal_size(stream.fileno()).columns or None) if stream.isatty() else None
    except (OSError, ValueError):
        return None


def has_colour(stream: TextIO) -> bool:
    """Return whether text on a stream is coloured; see no-color.org for the variable."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
