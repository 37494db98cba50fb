"""Blueprint and profile files to Nodes that know their places, with every mistake in the YAML itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from yaml import CSafeLoader, MarkedYAMLError

from gpupool.findings import Finding, in_file_order
from gpupool.yamlio.decoding import UnreadableError, decode
from gpupool.yamlio.syntax import Explainer
from gpupool.yamlio.tree import StopError, TreeBuilder

if TYPE_CHECKING:
    from gpupool.yamlio.located import Located


class ParsedFile(NamedTuple):
    """What one file says.

    `node` is None for a file with nothing in it, and for one that can't be read to its end. Otherwise
    it is there even with findings, for checks that go on: ambiguous scalars are read as YAML 1.2 does,
    keys that are numbers as they are spelled; of two equal keys the first is kept, and a null, a map
    or a list as a key is left out with its value.
    """

    node: Located | None
    findings: tuple[Finding, ...]
    """All errors, in file order."""


def read(text: bytes, file: str) -> ParsedFile:
    """Read one YAML 1.2 document; `file` is only the name for the places.

    An alias becomes a Node of its own with the place (and the inner Nodes) of what it stands for.
    """
    try:
        decoded = decode(text, file)
    except UnreadableError as problem:
        return ParsedFile(None, problem.findings)
    builder = TreeBuilder(file)
    try:
        builder.run(CSafeLoader(decoded).get_event)
    except StopError as problem:
        return ParsedFile(None, in_file_order([*builder.findings, problem.finding]))
    except MarkedYAMLError as problem:
        return ParsedFile(None, in_file_order([*builder.findings, Explainer(decoded, file).explain(problem)]))
    return ParsedFile(builder.root, in_file_order(builder.findings))
