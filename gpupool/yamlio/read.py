"""Reading of blueprint and profile files, with locations and every error in the YAML itself."""

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
    """The value in one file, and the errors in its YAML.

    `node` is None for an empty file, and for one that can't be read to its end. Otherwise it is set even
    with findings, so that other checks can continue: ambiguous scalars are read as YAML 1.2 does, and keys
    that are numbers as the text in the file; of two equal keys the first is kept, and a null, a map or a
    list as a key is dropped with its value.
    """

    node: Located | None
    findings: tuple[Finding, ...]
    """All errors, in file order."""


def read(text: bytes, file: str) -> ParsedFile:
    """Read one YAML 1.2 document; `file` is only the name in locations.

    An alias becomes a located value of its own, with the location and the inner values of its anchor.
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
