"""Blueprint files to one typed, located blueprint: read, check each file by itself, merge."""

import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pydantic_core import ValidationError

from gpupool.blueprint import merge_schema
from gpupool.blueprint.merge import MergeKind, conflicts, merge_all
from gpupool.blueprint.migration_hints import foreign_word
from gpupool.blueprint.names import API_VERSION, BLUEPRINT
from gpupool.blueprint.window_checks import blueprint_windows
from gpupool.codes import Code
from gpupool.errors import InputError
from gpupool.findings import Finding, Location, Severity, has_errors, in_file_order
from gpupool.shapes import error_messages
from gpupool.shapes.compiled import Model, validate
from gpupool.yamlio.decoding import MAX_BYTES
from gpupool.yamlio.located import Located, find, mapping, plain
from gpupool.yamlio.read import read

STDIN = "-"
_READABLE = (Code.AMBIGUOUS_SCALAR, Code.KEY_TWICE, Code.TIMEZONE)
"""Mistakes beside which the rest can still be read, so that the search for others goes on."""

NAMED = ("pools", "nodeClasses", "nodeOverlays")


class Loaded(NamedTuple):
    """A blueprint after its files were merged."""

    node: Located
    """The merged file, every value with its place; a `null` still stands where somebody wrote it."""

    files: tuple[str, ...]
    """The files in the order in which they were given."""

    findings: tuple[Finding, ...]
    """What there is to say about the files. Errors in here do not keep `node` from being searched for more:
    they are about pools that it leaves out, or about values that can be read all the same."""

    parts: tuple[Located, ...] = ()
    """Each file by itself, in the same order: what `node` was merged from."""


def load(paths: Sequence[str]) -> Loaded:
    """Read blueprint files, later ones over earlier ones.

    Raises:
        InputError: with every mistake in every file, in file order, where one concerns more than a pool.
    """
    found: list[Finding] = []
    nodes = [node for path in paths if (node := _checked(path, found)) is not None]
    if not has_errors(found):
        found += _between_files(nodes)
    found_in_order = in_file_order(found, paths)
    errors = [finding for finding in found if finding.severity is Severity.ERROR]
    broken = [_pool_of(finding) for finding in errors if finding.code not in _READABLE]
    if None in broken or len(nodes) < len(paths):
        raise InputError(found_in_order)
    whole = merge_all(nodes, merge_schema.BLUEPRINT)
    return Loaded(_without_pools(whole, broken), tuple(paths), found_in_order, tuple(nodes))


def _pool_of(finding: Finding) -> str | None:
    """Return the pool that a finding is about; None where it is about more, or about none."""
    section, _, rest = finding.path.partition(".")
    return rest.partition(".")[0].partition("[")[0] or None if section == "pools" else None


def _without_pools(whole: Located, broken: Collection[str | None]) -> Located:
    pools = find(whole, "pools")
    if not broken or pools is None:
        return whole
    kept = {name: node for name, node in mapping(pools).items() if name not in broken}
    return replace(whole, value={**mapping(whole), "pools": replace(pools, value=kept)})


def read_file(path: str, found: list[Finding]) -> Located | None:
    """Read one YAML file; what is wrong with it as YAML goes to `found`."""
    try:
        text = _bytes(path)
    except (OSError, ValueError) as problem:  # a ValueError is a name that no file can have
        reason = getattr(problem, "strerror", None) or str(problem)
        found.append(Finding(Code.UNREADABLE, f"can't read the file: {reason}", Location(path)))
        return None
    if len(text) > MAX_BYTES:
        message = f"the file has more than {MAX_BYTES // 1024 // 1024} MiB, the maximum"
        fix = "check that this is the right file, or split it"
        found.append(Finding(Code.UNREADABLE, message, Location(path), fix))
        return None
    result = read(text, path)
    found += result.findings
    return result.node


def _bytes(path: str) -> bytes:
    """Return what a file holds; of one that is too large, or has no end, enough to refuse it."""
    if path == STDIN:
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    with Path(path).open("rb") as file:
        return file.read(MAX_BYTES + 1)


def check(node: Located, model: Model, kind: str, found: list[Finding]) -> None:
    """Check one file by itself: is it a `kind`, is every key known and every value of its type?"""
    if wrong := _not_the_kind(node, kind):
        found.append(wrong)
        return
    try:
        validate(model, plain(node))
    except ValidationError as problem:
        found += (foreign_word(finding) for finding in error_messages.convert_errors(problem, node, model))


def word_conflicts(node: Located, kind: MergeKind, path: str = "") -> Iterator[Finding]:
    """Yield each pair of words in one item that say the same thing, short beside long."""
    pairs: dict[tuple[tuple[str, ...], tuple[str, ...]], str] = {}
    for first, second, target in conflicts(node, kind.reach) if kind.reach else ():
        pairs.setdefault((first, second), target)
    for (first, second), target in pairs.items():
        later = find(node, *second) or find(node, second[0]) or node
        names = f"`{'.'.join(first)}` and `{'.'.join(second)}`"
        yield Finding(
            Code.SET_TWICE, f"{names} both set {target}", later.key or later.at,
            "remove one of the two", path=".".join(filter(None, (path, *second))),
        )  # fmt: skip
    for key, item in mapping(node).items():
        below = kind.below.get(key) or kind.each
        if below is not None:
            yield from word_conflicts(item, below, f"{path}.{key}" if path else key)


def _checked(path: str, found: list[Finding]) -> Located | None:
    before = len(found)
    node = read_file(path, found)
    if node is None:
        if len(found) == before:
            fix = (
                f"start it with `apiVersion: {API_VERSION}` and `kind: Blueprint`; `gpupool init` writes one"
            )
            found.append(Finding(Code.NOT_THE_KIND, "the file is empty", Location(path, 1, 1), fix))
        return None
    check(node, BLUEPRINT, "Blueprint", found)
    found += word_conflicts(node, merge_schema.BLUEPRINT)
    found += blueprint_windows(node)
    return node


def _not_the_kind(node: Located, kind: str) -> Finding | None:
    if not isinstance(node.value, dict):
        message = f"a {kind.lower()} must be a map, but this is {error_messages.describe_value(node)}"
        return Finding(Code.NOT_THE_KIND, message, node.at)
    head = {"apiVersion": API_VERSION, "kind": kind}
    if missing := [key for key in head if key not in node.value]:
        message = f"{' and '.join(f'`{key}`' for key in missing)} {'are' if missing[1:] else 'is'} missing"
        fix = f"add {' and '.join(f'`{key}: {head[key]}`' for key in missing)}"
        return Finding(Code.NOT_THE_KIND, message, node.at, fix)
    for key, wanted in head.items():
        said = node.value[key]
        if said.value != wanted:
            message = f"`{key}` is {error_messages.describe_value(said)}, not `{wanted}`"
            return Finding(Code.NOT_THE_KIND, message, said.at, f"set `{key}: {wanted}`", path=key)
    return None


def _between_files(nodes: Sequence[Located]) -> Iterator[Finding]:
    first, *later = nodes
    name = _name(first)
    if name is None:
        yield Finding(Code.MISSING, "`metadata.name` is missing", first.at, "set `metadata: {name: …}`")
    for node in later:
        said = _name(node)
        if name is not None and said is not None and said.value != name.value:
            message = f"`metadata.name` is `{said.value}`, but `{name.value}` in the first file"
            yield Finding(
                Code.OTHER_NAME,
                message,
                said.at,
                "remove `metadata.name` from later files",
                path="metadata.name",
            )
    for section in NAMED:
        yield from _new_names(section, nodes)


def _name(node: Located) -> Located | None:
    name = find(node, "metadata", "name")
    return None if name is None or name.value is None else name


def _new_names(section: str, nodes: Sequence[Located]) -> Iterator[Finding]:
    known = dict.fromkeys(mapping(find(nodes[0], section)))
    for node in nodes[1:]:
        said = mapping(find(node, section))
        for name, item in said.items():
            if name in known:
                continue
            near = next((old for old in known if _slip(old, name)), "")
            at, path = item.key or item.at, f"{section}.{name}"
            if item.value is None or near:
                fix = f"did you mean `{near}`?" if near else "remove the line"
                yield Finding(
                    Code.NEW_NAME, f"`{path}` does not exist in any earlier file", at, fix, path=path
                )
            else:
                yield Finding(Code.NEW_NAME, f"`{path}` is new in this file", at, "", Severity.INFO, path)
        known |= dict.fromkeys(said)


def _slip(one: str, other: str) -> bool:
    """Return whether two names differ by two swapped letters, or by one letter too many.

    Names that differ in one place (`team-a`, `team-b`) or by a digit are taken to be meant.
    """
    if len(one) == len(other):
        pairs = [(one[at], other[at]) for at in range(len(one)) if one[at] != other[at]]
        return pairs[1:] == [pairs[0][::-1]] if pairs else False
    short, long = sorted((one, other), key=len)
    return any(long[:at] + long[at + 1 :] == short and long[at].isalpha() for at in range(len(long)))
