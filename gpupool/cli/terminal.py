"""What a stream can show: colour on a terminal, unless $NO_COLOR or $TERM speak against it."""

import os
from typing import TextIO


def has_colour(stream: TextIO) -> bool:
    """Return whether text on a stream is coloured; see no-color.org for the variable."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
