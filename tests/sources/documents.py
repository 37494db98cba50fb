"""Find the source documents and cut the YAML out of their text."""

import re
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "seeds"
"""Beside the repository, not in it: the documents are other people's texts."""

_NUMBERED = re.compile(r"^(\d+)(.*)$")
_OBJECT_LINE = re.compile(r"^(kind:|metadata:|spec:|#|\s|$)")
_FLAT_LINE = re.compile(r"^(- )?([\w./-]+:( .*)?|[\w.-]+( +#.*)?)$")
_MAP_HEAD = re.compile(r"^[a-z][a-z-]*:$")


def document(number: str) -> str:
    """Return the text of the document whose file name begins with `number`."""
    (path,) = FOLDER.glob(f"{number}_*.txt")
    return path.read_text(encoding="utf-8")


def without_line_numbers(text: str) -> str:
    """Take away line numbers that are glued to the front of lines and count up from 1."""
    lines, expected = [], 1
    for line in text.splitlines():
        match = _NUMBERED.match(line)
        if match and int(match[1]) in (1, expected):
            lines.append(match[2])
            expected = int(match[1]) + 1
        else:
            lines.append(line)
            expected = 1
    return "\n".join(lines)


def object_texts(text: str) -> Iterator[str]:
    """Yield each Kubernetes object: from a line `apiVersion:` as far as lines can belong to it."""
    current: list[str] = []
    for line in [*text.splitlines(), "---"]:
        if current and _OBJECT_LINE.match(line):
            current.append(line)
            continue
        if current:
            yield "\n".join(current)
        current = [line] if line.startswith("apiVersion:") else []


def flat_text(text: str) -> str:
    """Return the lines of the one object that has lost its indentation, from `apiVersion:` on."""
    lines = text[text.index("apiVersion:") :].splitlines()
    end = next(index for index, line in enumerate(lines) if not _FLAT_LINE.match(line))
    return "\n".join(lines[:end])


def map_texts(text: str, name: str) -> Iterator[str]:
    """Yield each map that stands under `name:` at the left edge, with its indented lines."""
    current: list[str] = []
    for line in [*text.splitlines(), "end"]:
        if current and line.startswith(" "):
            current.append(line)
            continue
        if len(current) > 1:
            yield "\n".join(current)
        current = [line] if _MAP_HEAD.match(line) and line == f"{name}:" else []
