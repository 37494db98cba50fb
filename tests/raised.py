"""The texts of the errors that end a command, read from the code that raises them."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import gpupool
from gpupool import errors
from gpupool.rollout.planning.verify import StalePlanError

if TYPE_CHECKING:
    from collections.abc import Iterator

_PACKAGE: Final = Path(gpupool.__file__).parent
CLASSES: Final = {
    each.__name__: each
    for each in (*vars(errors).values(), StalePlanError)
    if isinstance(each, type) and issubclass(each, errors.GpupoolError) and each is not errors.InputError
}
"""Every error but the one that carries findings, which have pages of their own."""

_ANY: Final = "\0"
_VALUE: Final = re.compile(r"`[^`]*`|'[^']*'|[\w./-]*\d[\w./-]*|: ")
"""What may be a value in a text: what is quoted, numbers, and what follows a colon."""

_LEAST: Final = 12
"""Letters of a text's own: with fewer it is all values."""


class Raised(NamedTuple):
    """A text that is raised, with `…` for each value in it."""

    name: str
    text: str
    pattern: str

    def matches(self, text: str) -> bool:
        """Return whether a text that was recorded is this one with values."""
        return re.fullmatch(self.pattern, text, re.DOTALL) is not None


def raised() -> list[Raised]:
    """Return each text once, by the class of its error."""
    found = {each for file in sorted(_PACKAGE.rglob("*.py")) for each in _of_file(file)}
    return sorted(found, key=lambda each: (list(CLASSES).index(each.name), each.text))


def is_current(text: str, pieces: set[str]) -> bool:
    """Return whether the longest piece of a text without values is one of the code's own pieces."""
    longest = max(_VALUE.split(text), key=len).strip(" :;,.")
    return any(longest in piece for piece in pieces)


def pieces() -> set[str]:
    """Return each part of a text in the code that is not a value."""
    found: set[str] = set()
    for file in _PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) >= _LEAST:
                found.update(_VALUE.split(node.value))
    return found


def _of_file(file: Path) -> Iterator[Raised]:
    tree = ast.parse(file.read_text("utf-8"))
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.args:
                    text = _template(_argument(function, call))
                    if text and call.func.id in CLASSES:
                        yield _raised(call.func.id, text)


def _argument(function: ast.FunctionDef, call: ast.Call) -> ast.expr:
    """Return the first argument of a call, or what was assigned to that name last."""
    argument = call.args[0]
    assigned = [
        node
        for node in ast.walk(function)
        if isinstance(argument, ast.Name)
        and isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == argument.id
        and node.lineno < call.lineno
    ]
    return max(assigned, key=lambda node: node.lineno).value if assigned else argument


def _template(node: ast.expr) -> str:
    """Return a text with a mark for each value, or nothing where it has hardly a word of its own."""
    if isinstance(node, ast.Constant):
        text = node.value if isinstance(node.value, str) else ""
    elif isinstance(node, ast.JoinedStr):
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else _ANY for part in node.values)
    else:
        text = ""
    return text if len(text.replace(_ANY, "")) >= _LEAST else ""


def _raised(name: str, text: str) -> Raised:
    pattern = ".*".join(map(re.escape, text.split(_ANY)))
    return Raised(name, text.replace(_ANY, "…"), pattern)
