"""Loading of blueprint files: read and check each file, and merge them."""

import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pydantic_core import ValidationError

from gpupool.blueprint import merge_schema
from gpupool.blueprint.merge import MergeKind, find_conflicts, merge_all
from gpupool.blueprint.migration_hints import add_hint
from gpupool.blueprint.model import Blueprint
from gpupool.blueprint.names import API_VERSION, BLUEPRINT
from gpupool.blueprint.window_checks import check_blueprint_windows
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
"""Errors after which the rest of the blueprint can still be checked."""

NAMED_SECTIONS = ("pools", "nodeClasses", "nodeOverlays")


class LoadedBlueprint(NamedTuple):
    """A blueprint after its files were merged."""

    node: Located
    """The merged blueprint, each value with its location; explicit `null`s are kept."""

    files: tuple[str, ...]
    """The files, lowest layer first."""

    findings: tuple[Finding, ...]
    """Findings about the files. An error here concerns a pool that `node` omits, or a value that can still be
    read, so `node` can be checked further."""

    documents: tuple[Located, ...] = ()
    """The content of each file, in the same order, before the merge."""

    @property
    def blueprint(self) -> Blueprint:
        """Return the merged blueprint by its fields."""
        return Blueprint(self.node)


def load(paths: Sequence[str]) -> LoadedBlueprint:
    """Read blueprint files, later ones over earlier ones.

    Raises:
        InputError: with all findings in file order, where an error concerns more than one pool.
    """
    findings: list[Finding] = []
    nodes = [node for path in paths if (node := _load_file(path, findings)) is not None]
    if not has_errors(findings):
        findings += _compare_files(nodes)
    ordered = in_file_order(findings, paths)
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    invalid_pools = [_pool_name(finding) for finding in errors if finding.code not in _READABLE]
    if None in invalid_pools or len(nodes) < len(paths):
        raise InputError(ordered)
    merged = merge_all(nodes, merge_schema.BLUEPRINT)
    return LoadedBlueprint(_without_pools(merged, invalid_pools), tuple(paths), ordered, tuple(nodes))


def _pool_name(finding: Finding) -> str | None:
    """Return the name of the pool that a finding is about, or None where it is not about a single pool."""
    section, _, rest = finding.path.partition(".")
    return rest.partition(".")[0].partition("[")[0] or None if section == "pools" else None


def _without_pools(merged: Located, names: Collection[str | None]) -> Located:
    pools = find(merged, "pools")
    if not names or pools is None:
        return merged
    kept = {name: node for name, node in mapping(pools).items() if name not in names}
    return replace(merged, value={**mapping(merged), "pools": replace(pools, value=kept)})


def read_file(path: str, findings: list[Finding]) -> Located | None:
    """Read one YAML file; syntax errors are added to `findings`."""
    try:
        text = _read_bytes(path)
    except (OSError, ValueError) as problem:  # a ValueError is a name that no file can have
        reason = getattr(problem, "strerror", None) or str(problem)
        findings.append(Finding(Code.UNREADABLE, f"can't read the file: {reason}", Location(path)))
        return None
    if len(text) > MAX_BYTES:
        message = f"the file is larger than {MAX_BYTES // 1024 // 1024} MiB, the maximum"
        fix = "check that this is the right file, or split it"
        findings.append(Finding(Code.UNREADABLE, message, Location(path), fix))
        return None
    result = read(text, path)
    findings += result.findings
    return result.node


def _read_bytes(path: str) -> bytes:
    """Read a file; of one that is too large or endless, only enough bytes to reject it."""
    if path == STDIN:
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    with Path(path).open("rb") as file:
        return file.read(MAX_BYTES + 1)


def check(node: Located, model: Model, kind: str, findings: list[Finding]) -> None:
    """Check the kind of one file, its keys and the types of its values; errors are added to `findings`."""
    if error := _check_kind(node, kind):
        findings.append(error)
        return
    try:
        validate(model, plain(node))
    except ValidationError as problem:
        fields = error_messages.list_keys(model.load(), ())
        findings += (
            _lost_indentation(add_hint(finding), node, fields)
            for finding in error_messages.convert_errors(problem, node, model)
        )


def _lost_indentation(finding: Finding, node: Located, fields: Sequence[str]) -> Finding:
    """Return the finding of an unknown field, with a better fix if an empty field is right above it."""
    if finding.code != Code.UNKNOWN_KEY or finding.path not in mapping(node) or "mean" in finding.fix:
        return finding
    empty = ""
    for key, value in mapping(node).items():
        if key == finding.path:
            break
        empty = key if value.value is None else "" if key in fields else empty
    return finding._replace(fix=f"indent it, if it belongs to `{empty}`") if empty else finding


def find_conflicting_fields(node: Located, kind: MergeKind, path: str = "") -> Iterator[Finding]:
    """Yield an error for each pair of fields in one item that set the same thing."""
    pairs: dict[tuple[tuple[str, ...], tuple[str, ...]], str] = {}
    for first, second, target in find_conflicts(node, kind.find_targets) if kind.find_targets else ():
        pairs.setdefault((first, second), target)
    for (first, second), target in pairs.items():
        later = find(node, *second) or find(node, second[0]) or node
        names = f"`{'.'.join(first)}` and `{'.'.join(second)}`"
        yield Finding(
            Code.SET_TWICE, f"{names} both set {target}", later.key or later.at,
            "remove one of the two", path=".".join(filter(None, (path, *second))),
        )  # fmt: skip
    for key, item in mapping(node).items():
        item_kind = kind.fields.get(key) or kind.entries
        if item_kind is not None:
            yield from find_conflicting_fields(item, item_kind, f"{path}.{key}" if path else key)


def _load_file(path: str, findings: list[Finding]) -> Located | None:
    before = len(findings)
    node = read_file(path, findings)
    if node is None:
        if len(findings) == before:
            fix = (
                f"start it with `apiVersion: {API_VERSION}` and `kind: Blueprint`; `gpupool init` writes one"
            )
            findings.append(Finding(Code.NOT_THE_KIND, "the file is empty", Location(path, 1, 1), fix))
        return None
    check(node, BLUEPRINT, "Blueprint", findings)
    findings += find_conflicting_fields(node, merge_schema.BLUEPRINT)
    findings += check_blueprint_windows(Blueprint(node))
    return node


def _check_kind(node: Located, kind: str) -> Finding | None:
    if not isinstance(node.value, dict):
        message = f"a {kind.lower()} must be a map, but this is {error_messages.describe_value(node)}"
        return Finding(Code.NOT_THE_KIND, message, node.at)
    head = {"apiVersion": API_VERSION, "kind": kind}
    if missing := [key for key in head if key not in node.value]:
        message = f"{' and '.join(f'`{key}`' for key in missing)} {'are' if missing[1:] else 'is'} missing"
        fix = f"add {' and '.join(f'`{key}: {head[key]}`' for key in missing)}"
        return Finding(Code.NOT_THE_KIND, message, node.at, fix)
    for key, expected in head.items():
        actual = node.value[key]
        if actual.value != expected:
            message = f"`{key}` is {error_messages.describe_value(actual)}, not `{expected}`"
            return Finding(Code.NOT_THE_KIND, message, actual.at, f"set `{key}: {expected}`", path=key)
    return None


def _compare_files(nodes: Sequence[Located]) -> Iterator[Finding]:
    first, *later = nodes
    name = _metadata_name(first)
    if name is None:
        yield Finding(Code.MISSING, "`metadata.name` is missing", first.at, "set `metadata: {name: …}`")
    for node in later:
        other_name = _metadata_name(node)
        if name is not None and other_name is not None and other_name.value != name.value:
            message = f"`metadata.name` is `{other_name.value}`, but `{name.value}` in the first file"
            yield Finding(
                Code.OTHER_NAME,
                message,
                other_name.at,
                "remove `metadata.name` from later files",
                path="metadata.name",
            )
    for section in NAMED_SECTIONS:
        yield from _find_new_names(section, nodes)


def _metadata_name(node: Located) -> Located | None:
    name = find(node, "metadata", "name")
    return None if name is None or name.value is None else name


def _find_new_names(section: str, nodes: Sequence[Located]) -> Iterator[Finding]:
    earlier = dict.fromkeys(mapping(find(nodes[0], section)))
    for node in nodes[1:]:
        entries = mapping(find(node, section))
        for name, item in entries.items():
            if name in earlier:
                continue
            match = next((name_before for name_before in earlier if _is_typo(name_before, name)), "")
            at, path = item.key or item.at, f"{section}.{name}"
            if item.value is None or match:
                fix = f"did you mean `{match}`?" if match else "remove the line"
                yield Finding(
                    Code.NEW_NAME, f"`{path}` does not exist in any earlier file", at, fix, path=path
                )
            else:
                yield Finding(Code.NEW_NAME, f"`{path}` is new in this file", at, "", Severity.INFO, path)
        earlier |= dict.fromkeys(entries)


def _is_typo(first: str, second: str) -> bool:
    """Return whether two names differ by two swapped letters, or by one additional letter.

    Names that differ in one letter (`team-a`, `team-b`) or by a digit count as different names.
    """
    if len(first) == len(second):
        pairs = [(first[at], second[at]) for at in range(len(first)) if first[at] != second[at]]
        return pairs[1:] == [pairs[0][::-1]] if pairs else False
    short, long = sorted((first, second), key=len)
    return any(long[:at] + long[at + 1 :] == short and long[at].isalpha() for at in range(len(long)))
