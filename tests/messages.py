"""Every message that a finding has, with an example of each: made from the mistakes that the tests make anyway.

The page is read whole before a release; `python -m tests.pages` writes it anew.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gpupool import api
from gpupool.codes import Code, Layer, layer
from gpupool.karpenter.validation.check import check
from gpupool.reports.escaping import one_line
from gpupool.scheduling.explained import explain
from gpupool.scheduling.traps.find import find_traps
from tests import goldencases, test_bad_input
from tests.cli import test_mistakes
from tests.differential.trees import node
from tests.expansion import test_checks
from tests.karpenter import later, matrix
from tests.karpenter.examples import changed
from tests.raised import CLASSES, is_current, pieces, raised
from tests.recording import recorded
from tests.yamlio import test_bad_input as bad_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpupool.findings import Finding
    from gpupool.scheduling.traps.trap import Trap

_VALUES: Final = re.compile(
    r"!\S*(?=[ ;]|$)|\*\w+|`[^`]*`|'[^']*'|\"[^\"]*\"|\b[a-z]+\.[\w.\[\]/-]+|\(.*?\)|[\w./+-]*\d[\w./%,+-]*|: .{0,400}$"
)
"""What is another one in each message of a kind: quoted values, paths, numbers, what stands in brackets, lists."""

_TITLES: Final = {Layer.CEL: "CEL"}
_LONGEST: Final = 400
GENERATORS: Final = Path(__file__).parents[1] / ".ci"
_ERRORS: Final = """\
## Errors

Each is printed once, as `error: message`, and ends the command with its exit code; `…` is any value.
"""
HEAD: Final = """\
# Messages

The text of each [finding](findings.md), with an example: `severity code message`, and the fix below it. Values in backticks
are from the user's files. At the end are the [errors](#errors) that end a command.
"""


def page() -> str:
    """Return every message once, by layer and code."""
    found: dict[tuple[str, str], str] = {}
    lines_of = [*made()]
    easy = {code for code, _ in lines_of}
    lines_of += [each for each in _recorded_findings() if each[0] not in easy]
    for each in sorted(lines_of, key=lambda line: (line[0], len(line[1]), line)):
        code, text = each
        found.setdefault((code, form(text)), text)
    missing = sorted({str(code) for code in Code} - {code for code, _ in found})
    lines = [HEAD]
    for one in Layer:
        lines.append(f"## {_TITLES.get(one, str(one).capitalize())}\n\n```text")
        lines += [text for (code, _), text in sorted(found.items()) if layer(code) is one]
        lines.append("```\n")
    if missing:
        lines.append(f"No example here: {', '.join(missing)}.\n")
    lines += _errors()
    return "\n".join(lines)


def _recorded_findings() -> Iterator[tuple[str, str]]:
    """Read examples of the findings that need more than a file: those of a whole test run that are current."""
    current = pieces()
    for each in recorded():
        if each.name in set(Code) and is_current(each.text, current):
            yield each.name, _entry(each.severity, each.name, each.text, each.fix)


def _errors() -> Iterator[str]:
    """List the errors by exit code and class: an example of each, or its text with `…` for values."""
    yield f"{_ERRORS}"
    current, examples, known = pieces(), recorded(), raised()
    for name, kind in CLASSES.items():
        mine = [each.text for each in examples if each.name == name]
        texts = {}
        for each in (one for one in known if one.name == name):
            fitting = [text for text in mine if each.matches(text)]
            texts[form(min(fitting, key=len) if fitting else each.text)] = min(
                fitting, key=len, default=each.text
            )
        for text in mine:
            if not any(one.matches(text) for one in known if one.name == name) and is_current(text, current):
                texts.setdefault(form(text), text)
        if texts:
            doc = (kind.__doc__ or "").partition("\n")[0]
            yield f"### {name} (exit code {kind.exit_code})\n\n{doc}\n\n```text"
            yield from (f"error: {one_line(text)}" for text in sorted(texts.values()))
            yield "```\n"


def form(text: str) -> str:
    """Return what is the same in all messages of a kind."""
    return _VALUES.sub("…", text.partition("\n")[0])


def made() -> Iterator[tuple[str, str]]:
    """Return the code and the text of each finding that files alone make."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name, "gpupool.yaml")
        for text in _blueprints():
            file.write_bytes(text.encode() if isinstance(text, str) else text)
            for finding in api.validate([], [str(file)]).findings:
                yield finding.code, _shown(finding, name)
    for finding in (*_objects(), *_rendered()):
        yield finding.code, _shown(finding, "")
    for trap in _traps():
        yield trap.code, _entry(str(trap.severity), trap.code, trap.message, trap.fix)


def _shown(finding: Finding, folder: str) -> str:
    shown = _entry(str(finding.severity), finding.code, finding.message, finding.fix)
    return shown.replace(f"{folder}/", "") if folder else shown


def _entry(severity: str, code: str, message: str, fix: str) -> str:
    head = f"{severity} {code} {one_line(message)[:_LONGEST]}"
    return f"{head}\n    fix: {one_line(fix)}" if fix else head


def _blueprints() -> Iterator[str | bytes]:
    good = test_mistakes.GOOD
    yield from (good.replace(each.right, each.wrong) for each in test_mistakes.MISTAKES)
    for pools, *_ in test_checks.ROWS.values():
        yield _blueprint(pools, "")
    for words, _ in test_checks.STATIC_ROWS.values():
        yield _blueprint(f"a: {{accelerator: l4, replicas: 2, {words}}}", test_checks.STATIC)
    for words, _, before in test_checks.NEW.values():
        yield _blueprint(f"a: {{{test_checks.GPU}, {words}}}", f', karpenter: "{before}"')
    yield _blueprint(f"a: {{{test_checks.GPU}}}", ', karpenter: "1.8"')
    yield from (text for text, *_ in test_bad_input.CASES.values())
    yield from (text for text, *_ in bad_yaml.INPUTS)


def _blueprint(pools: str, cluster: str) -> str:
    lines = "".join(f"  {line}\n" for line in pools.splitlines())
    return f"{test_checks.HEAD}{test_checks.CLUSTER % cluster}{test_checks.AMI}pools:\n{lines}"


def _objects() -> Iterator[Finding]:
    for row in matrix.rows():
        if not row.accepted:
            yield from check(row.kind, node(row.body))
    for whole, path, value, *_ in later.BROKEN:
        yield from check(whole["kind"], node(changed(whole, path, value)))


def _rendered() -> Iterable[Finding]:
    for case in goldencases.cases():
        files = [str(case.folder / name) for name in case.blueprints]
        yield from api.validate([], files).findings


def _traps() -> Iterator[Trap]:
    # Their worlds are made by the generators of the catalogue, which pytest finds by itself.
    sys.path.append(str(GENERATORS))
    from tests.scheduling import test_traps
    from tests.scheduling.classes import CLASSES
    from tests.scheduling.worlds import market

    where = market(CLASSES["al2023"])
    for bite in test_traps.BITES.values():
        yield from find_traps(bite.pool, explain(bite.pool, where))
