"""Width and colour support of a terminal."""

import os
from typing import TextIO


def find_columns(stream: TextIO) -> int | None:
    """Return the width of a terminal; None for a pipe, a file, or a terminal of unknown width."""
    try:
        return (os.get_terminal_size(stream.fileno()).columns or None) if stream.isatty() else None
    except (OSError, ValueError):
        return None


def has_colour(stream: TextIO) -> bool:
    """Return whether text on a stream is coloured; $NO_COLOR is as on no-color.org."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
